// Who did what, and what was changed by other means; a change of settings can be taken back from here.
import { get } from "../api";
import { find, h, mark, patch, type Child } from "../draw";
import { ago, many, moment, parsed, pretty } from "../format";
import { mayAdminister } from "../me";
import { button } from "../operate";
import { page } from "../page";
import { refresh } from "../refresh";
import type { Operation, OutsideChange } from "../types";

interface Found {
  operations: Operation[];
  outside: OutsideChange[];
  unreadable?: string[];
}

/** Verbs that stop or delete something stand out in the list. */
const STOPS = /^(disable|shut down|remove|give up)/;

export function audit(): void {
  const job = new URLSearchParams(location.search).get("job") ?? "";
  find<HTMLInputElement>("#filter input").value = job;
  const again = refresh("#found", () => get<Found>(["operations"], { job, limit: 200 }), (found) => patch(find("#found"), list(found)));

  const list = (found: Found): Child => [
    found.outside.length > 0 && h("section", { class: "outside" },
      h("h2", null, mark("warn"), `${many(found.outside.length, "change")} from outside`),
      h("p", { class: "muted" }, "These were changed after the last operation of their job by other means, such as etcdctl or Java's console: there is no entry of who and why."),
      h("ul", { class: "plain" }, found.outside.map((c) => h("li", { key: `${c.job}/${c.what}` }, h("a", { href: page.link("jobs", c.job) }, c.job), `: ${c.what}, at revision ${c.revision}`)))),
    (found.unreadable ?? []).length > 0 && h("p", { class: "bad" }, mark("bad"), `What was done cannot be read of: ${(found.unreadable ?? []).join(", ")}`),
    h("p", { class: "found", role: "status" }, found.operations.length === 0 ? `No operation ${job ? `of ${job} ` : ""}is recorded.` : `The last ${many(found.operations.length, "operation")}, the newest first`),
    h("ol", { class: "log audit" }, found.operations.map((o) => h("li", { key: `${o.job}/${o.id}` },
      h("time", { datetime: o.when, title: ago(o.when) }, moment(o.when)),
      h("span", { class: "who" }, h("b", null, o.who), o.how && h("small", null, ` ${o.how}`)),
      h("span", { class: "text" },
        h("b", { class: STOPS.test(o.verb) ? "stops" : "" }, STOPS.test(o.verb) && mark("off"), o.verb), o.target && ` ${o.target}`, " · ", h("a", { href: page.link("jobs", o.job) }, o.job),
        o.changed && h("code", null, o.changed),
        o.reason && h("q", null, o.reason),
        o.before && h("details", null, h("summary", null, "Settings before"), h("pre", null, pretty(o.before)))),
      o.rollsBack && mayAdminister(o.job) && button("Roll back", () => ({
        title: `Roll back the settings of ${o.job}`, button: "Roll back", url: page.api("jobs", o.job, "rollback"), body: { to: o.id },
        does: `The settings become what they were before ${o.who} did "${o.verb}" on ${moment(o.when)}. Whether the job is disabled stays as it is.`,
        zone: parsed(o.before ?? "")?.timeZone as string | undefined,
        done: () => void again(),
      }), { class: "small", "aria-label": `Roll back ${o.verb} of ${o.job}` })))),
  ];
}
