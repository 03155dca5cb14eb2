// Failovers and misfires of all jobs: what the cluster did so that nothing was lost, and what came late.
import { get } from "../api";
import { find, h, mark, patch, type Child } from "../draw";
import { ago, many, moment, span as lasting } from "../format";
import { page } from "../page";
import { refresh } from "../refresh";
import { badge } from "../status";
import { outcomeOf, type Past } from "./history";

const LINES = 200;

interface Found {
  executions: Past[];
  recorded: string;
  as_of?: string; // of what the registry keeps, as all that follows
  connected?: boolean;
}

export function log(): void {
  const job = new URLSearchParams(location.search).get("job") ?? "";
  const input = find<HTMLInputElement>("#filter input");
  input.value = job;
  refresh(
    "#found",
    async () => {
      const both = await Promise.all(["failover", "misfire"].map((source) => get<Found>(["executions"], { source, job, "per-page": LINES })));
      const { recorded, as_of, connected } = both[0];
      return { recorded, as_of, connected, all: both.flatMap((b) => b.executions).sort((a, b) => Date.parse(b.start) - Date.parse(a.start)).slice(0, LINES) };
    },
    ({ all, recorded }) => {
      const failovers = all.filter((e) => e.source === "failover").length;
      patch(find("#found"),
        recorded === "registry" && h("p", { class: "reason off" }, mark("off"), "The server keeps no history: these are of the last two executions of each item, which the registry records."),
        h("p", { class: "found", role: "status" }, all.length === 0 ? `No failover and no misfire is recorded${job ? ` of ${job}` : ""}.` : `${many(failovers, "failover")} and ${many(all.length - failovers, "misfire")}, the newest first`),
        h("ol", { class: "log" }, all.map((e) => h("li", { key: `${e.job}${e.item}${e.start}` }, h("time", { datetime: e.start, title: ago(e.start) }, moment(e.start)), badge(e.source), h("span", { class: "text" }, sentence(e)), badge(outcomeOf(e))))));
    },
  );
}

function sentence(e: Past): Child {
  const where = e.ip ?? e.instance ?? "";
  const late = e.fire ? Date.parse(e.start) - Date.parse(e.fire) : 0;
  return [
    h("a", { href: page.link("jobs", e.job) }, e.job), ` item ${e.item} `,
    e.source === "failover" ? ["ran again on ", h("b", null, where), e.fire ? `, for the fire of ${moment(e.fire)}` : ""] : [`ran ${late > 0 ? `${lasting(late)} late ` : "late "}on `, h("b", null, where), e.fire ? `, for the fire of ${moment(e.fire)}` : ""],
    e.error && h("span", { class: "error" }, ` ${e.error.split("\n")[0]}`),
  ];
}
