// The history explorer: the filters are the address, so that what one has found can be sent to somebody.
import { get, why } from "../api";
import { failed } from "../chrome";
import { find, h, mark, patch, type Child } from "../draw";
import { ago, count, many, moment, span as lasting } from "../format";
import { page } from "../page";
import { asOf } from "../refresh";
import { badge, lookOf } from "../status";

export interface Past {
  id?: string;
  round?: string;
  job: string;
  ip?: string;
  hostname?: string;
  instance?: string;
  source: string;
  item: number;
  fire?: string;
  token?: number;
  start: string;
  complete?: string;
  success: boolean;
  running: boolean;
  end_unknown?: boolean; // nobody has heard of its end, and it may not run
  error?: string;
  output?: number; // bytes that it wrote, if they are kept
}
interface Found {
  executions: Past[];
  total: number;
  recorded: string;
  as_of?: string; // of what the registry keeps
  connected?: boolean;
}

const PER_PAGE = 50;
const TIMES = ["from", "until"];

export const outcomeOf = (e: Past): string => (e.running ? "running" : e.end_unknown ? "unknown" : e.success ? "success" : "failure");

export async function history(): Promise<void> {
  const params = new URLSearchParams(location.search);
  const form = find<HTMLFormElement>("#filter");
  const region = find("#found");
  for (const [name, value] of params) {
    const input = form.elements.namedItem(name) as HTMLInputElement | null;
    if (input) input.value = TIMES.includes(name) ? local(value) : value;
  }
  form.onsubmit = (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value !== "") query.set(name, TIMES.includes(name) ? new Date(String(value)).toISOString() : String(value));
    }
    location.assign(`${page.link("history")}?${query}`);
  };
  const number = Number(params.get("page")) || 1;
  const query: Record<string, string | number> = { page: number, "per-page": PER_PAGE };
  for (const name of ["job", "item", "ip", "instance", "source", "outcome", "success", "round", ...TIMES]) query[name] = params.get(name) ?? "";
  let found: Found;
  try {
    found = await get<Found>(["executions"], query);
  } catch (error) {
    return failed(region, error);
  }
  region.removeAttribute("aria-busy");
  asOf(found);
  const round = params.get("round");
  const longest = Math.max(1, ...found.executions.map(lasted));
  patch(region,
    found.recorded === "registry" && h("p", { class: "reason off" }, mark("off"), "The server keeps no history: these are the last two executions of each item, which the registry records."),
    round && roundHead(found, round),
    h("p", { class: "found", role: "status" }, found.total === 0 ? "No execution is so." : `${many(found.total, "execution")} found`),
    found.executions.length > 0 && h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Executions" }, h("table", { class: "past stacked" },
      h("thead", null, h("tr", null, ["Began", "Outcome", "Job", "Item", "Took", "Where", "Why", "Token", "Error, output"].map((c) => h("th", { scope: "col", class: c === "Item" || c === "Token" ? "num" : null }, c)))),
      h("tbody", null, found.executions.map((e, i) => h("tr", { key: e.id ?? i, class: lookOf(outcomeOf(e)) === "bad" ? "failed" : null },
        h("td", null, e.round ? h("a", { href: link({ round: e.round, job: e.job }), title: "all of this round" }, moment(e.start)) : moment(e.start)),
        h("td", null, badge(outcomeOf(e))),
        h("td", null, h("a", { href: page.link("jobs", e.job) }, e.job)),
        h("td", { class: "num" }, h("span", { class: "unit" }, "item "), h("a", { href: link({ job: e.job, item: String(e.item) }), title: "all executions of this item" }, e.item)),
        h("td", { class: "lasted" }, e.complete ? lasting(lasted(e)) : "–", h("span", { class: "meter", style: { "--share": String(lasted(e) / longest) } })),
        h("td", null, e.instance ? h("a", { href: link({ instance: e.instance }), title: `all executions on ${e.instance}` }, e.ip ?? e.instance) : (e.ip ?? "")),
        h("td", null, e.source, e.fire && h("small", null, ` fire ${moment(e.fire)}`)),
        h("td", { class: "num" }, e.token ? [h("span", { class: "unit" }, "token "), String(e.token)] : ""),
        h("td", { class: "error" }, e.error && h("details", null, h("summary", null, e.error.split("\n")[0]), h("pre", { tabindex: "0" }, e.error)), output(e))))))),
    pager(number, found, params));
}

/** MUCH is of how many characters a page shows the end only, until it is asked for all. */
const MUCH = 100_000;

/** output is what an execution wrote, which is read when somebody opens it. */
function output(e: Past): Child {
  if (!e.output || !e.id) return null;
  const id = e.id;
  let asked = false;
  const read = async (into: Element): Promise<void> => {
    asked = true;
    patch(into, h("p", { class: "waiting" }, "Reading it…"));
    try {
      const text = (await get<{ text?: string }>(["jobs", e.job, "outputs", id])).text ?? "";
      const show = (all: boolean): void =>
        patch(into,
          !all && h("p", null, "Only the end is shown. ", h("button", { type: "button", class: "small", onclick: () => show(true) }, `Show all ${size(text.length)}`)),
          h("pre", { tabindex: "0", "aria-label": `Output of item ${e.item}` }, all ? text : text.slice(-MUCH)));
      show(text.length <= MUCH);
    } catch (error) {
      asked = false; // so that opening it once more asks once more
      patch(into, h("p", { class: "bad", role: "alert" }, why(error)));
    }
  };
  return h("details", { class: "output", ontoggle: (event: Event) => {
    const details = event.target as HTMLDetailsElement;
    if (details.open && !asked) void read(find("div", details));
  } }, h("summary", null, `Output, ${size(e.output)}`), h("div", null));
}

/** size writes a number of bytes. */
const size = (n: number): string => (n < 1024 ? many(n, "byte") : n < 1024 * 1024 ? `${count(Math.round(n / 1024))} KiB` : `${(n / 1024 / 1024).toFixed(1)} MiB`);

const lasted = (e: Past): number => (e.complete ? Date.parse(e.complete) - Date.parse(e.start) : 0);

/** roundHead tells of a round as a whole, and leads to those beside it. Of one that a page does not hold, it tells what is certain. */
function roundHead(found: Found, round: string): Child {
  const all = found.executions;
  const whole = all.length === found.total;
  const first = all[all.length - 1];
  if (!first) return null;
  const outcomes = all.map(outcomeOf);
  const bad = outcomes.filter((o) => o === "failure").length;
  const begin = Math.min(...all.map((e) => Date.parse(e.start)));
  const end = Math.max(...all.map((e) => Date.parse(e.complete ?? e.start)));
  return h("section", { class: "round" },
    h("h2", null, `Round of ${first.job}`),
    h("p", null, whole && badge(["failure", "running", "unknown"].find((o) => outcomes.includes(o)) ?? "success"), ` ${many(found.total, "item")}`,
      whole && [bad > 0 && `, ${count(bad)} failed`, `, ${moment(first.start)} (${ago(first.start)})`, all.every((e) => e.complete) && `, ${lasting(end - begin)} in all`], h("small", null, ` ${round}`)),
    h("p", { class: "deeds" },
      whole && h("a", { class: "button", href: link({ job: first.job, until: new Date(begin - 1).toISOString() }) }, "← Before"),
      h("a", { class: "button", href: link({ job: first.job, from: new Date(begin - 600_000).toISOString(), until: new Date(end + 600_000).toISOString() }) }, "Around"),
      h("a", { class: "button", href: page.link("jobs", first.job) }, "The job now")));
}

/** pager leads to the pages beside one. All of them end where the first one begins: what runs meanwhile would push rows from page
 * to page. */
function pager(at: number, found: Found, params: URLSearchParams): Child {
  const last = Math.max(1, Math.ceil(found.total / PER_PAGE));
  const newest = found.executions[0];
  if (last === 1) return null;
  const to = (n: number): string => {
    const query = new URLSearchParams(params);
    query.set("page", String(n));
    if (at === 1 && newest && !query.get("until")) query.set("until", newest.start);
    return `${page.link("history")}?${query}`;
  };
  return h("nav", { class: "pager", "aria-label": "Pages of the result" }, at > 1 && h("a", { class: "button", href: to(at - 1), rel: "prev" }, "← Newer"), h("span", null, `page ${count(at)} of ${count(last)}`), at < last && h("a", { class: "button", href: to(at + 1), rel: "next" }, "Older →"));
}

const link = (query: Record<string, string>): string => `${page.link("history")}?${new URLSearchParams(query)}`;

/** local writes a time as inputs of the kind datetime-local have it. */
function local(time: string): string {
  const d = new Date(time);
  return Number.isNaN(d.getTime()) ? "" : new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
