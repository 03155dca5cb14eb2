// Servers and instances over all jobs: who lives, who leads, who may not run what.
import { get } from "../api";
import { find, h, patch, type Child } from "../draw";
import { count, many } from "../format";
import { mayOperate } from "../me";
import { button } from "../operate";
import { page } from "../page";
import { badge, because, shown } from "../status";
import { refresh } from "../refresh";
import { serverOf } from "../timeline";
import type { InstanceRow, ServerRow } from "../types";

interface Both {
  servers: ServerRow[];
  instances: InstanceRow[];
  connected?: boolean;
  as_of?: string;
}

export function servers(): void {
  const operates = mayOperate("");
  const read = async (): Promise<Both> => {
    const [s, i] = await Promise.all([get<Both>(["servers"]), get<Both>(["instances"])]);
    return { ...s, instances: i.instances };
  };
  const again = refresh("#all-servers", read, (b) => draw(b), "#unread");
  const done = (): void => void again();

  const draw = ({ servers: all, instances }: Both): void => {
    patch(find("#all-servers tbody"), all.length === 0 && h("tr", null, h("td", { colspan: 5, class: "empty" }, "No server has a part in a job.")), all.map((s) => {
      const off = s.disabled_jobs ?? [];
      const lives = (s.instances ?? []).length > 0;
      return h("tr", { key: s.server },
        h("th", { scope: "row" }, s.server),
        h("td", null, badge(lives ? shown(s) : "CRASHED", because(s))),
        h("td", { class: "num" }, count((s.instances ?? []).length), h("span", { class: "unit" }, (s.instances ?? []).length === 1 ? " instance" : " instances")),
        h("td", { class: "all" }, jobList(s.jobs, off)),
        operates && h("td", { class: "act" },
          off.length > 0 && button("Enable", () => ({ title: `Enable ${s.server}`, button: "Enable", does: `The server may run again in ${many(off.length, "job")}.`, url: page.api("servers", s.server, "enable"), done }), { class: "small", "aria-label": `Enable ${s.server}` }),
          off.length < s.jobs.length && button("Disable", () => ({ title: `Disable ${s.server}`, button: "Disable", danger: true, does: `The items of ${many(s.jobs.length, "job")} move from this server to others. What runs there ends by itself.`, url: page.api("servers", s.server, "disable"), done }), { class: "small danger", danger: true, "aria-label": `Disable ${s.server}` })));
    }));
    patch(find("#all-instances tbody"), instances.length === 0 && h("tr", null, h("td", { colspan: 6, class: "empty" }, "No instance lives.")), instances.map((i) => h("tr", { key: i.instance },
      h("th", { scope: "row", title: i.instance }, serverOf(i.instance), h("small", null, i.instance.slice(serverOf(i.instance).length + 3), i.java && " · Java")),
      h("td", null, badge(shown(i), because(i))),
      h("td", { class: "num" }, count(i.items), h("span", { class: "unit" }, i.items === 1 ? " item" : " items"), h("span", { class: "muted" }, i.running_items > 0 ? `, ${i.running_items} run` : "")),
      h("td", { class: "num" }, (i.leads ?? []).length > 0 ? [h("span", { class: "star", "aria-hidden": "true" }, "★ "), count((i.leads ?? []).length)] : "–", h("span", { class: "unit" }, " led")),
      h("td", { class: "all" }, jobList(i.jobs, [])),
      operates && h("td", { class: "act" }, i.jobs.length > 0 && button("Shut down", () => ({ title: `Shut down ${i.instance}`, button: "Shut down", danger: true, does: `The instance leaves ${many(i.jobs.length, "job")}. What runs there ends by itself. It joins again when its process starts anew.`, url: page.api("instances", i.instance, "shutdown"), done }), { class: "small danger", danger: true, "aria-label": `Shut down ${i.instance}` })))));
  };
}

const FEW = 3;

function jobList(all: string[], off: string[]): Child {
  const some = all.slice(0, FEW);
  return h("span", { class: "jobs" }, some.map((j, i) => [i > 0 && ", ", h("a", { href: page.link("jobs", j) }, j), off.includes(j) && h("small", null, " (disabled)")]), all.length > FEW && h("span", { class: "muted", title: all.slice(FEW, 60).join(", ") }, ` and ${count(all.length - FEW)} more`));
}
