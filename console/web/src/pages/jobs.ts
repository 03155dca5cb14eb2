// The list of jobs, ten thousand as well as ten: filtered and sorted by the server, live where it is looked at.
import { get, why } from "../api";
import { pattern } from "../chrome";
import { find, h, mark, patch, type Child } from "../draw";
import { ago, count, many, moment } from "../format";
import { mayAdminister, mayOperate, mayOperateSome } from "../me";
import { operate, type Deed } from "../operate";
import { page } from "../page";
import { ordered } from "../refresh";
import { badge, because, shown, wordOf } from "../status";
import { follow, known, look } from "../stream";
import type { JobRow, JobsFrame } from "../types";
import { strip } from "../strip";
import { Virtual } from "../virtual";
import { createJob } from "./create";

const PAGE = 100;
/** The order is the server's, and is asked for again so often. */
const AGAIN = 15_000;
const TYPING = 200;

/** Moment is the state of which something is told. */
interface Moment {
  revision: number;
  as_of: string;
}
/** Heard is what was told of a job; one without a row is gone. */
interface Heard extends Moment {
  row?: JobRow;
}

const later = (a: Moment | undefined, b: Moment): boolean => !!a && (a.revision - b.revision || Date.parse(a.as_of) - Date.parse(b.as_of)) > 0;

export function jobs(): void {
  const params = new URLSearchParams(location.search);
  let match = params.get("match") ?? "";
  let status = params.get("status") ?? "";
  let sort = params.get("sort") ?? "name";
  let total = -1;
  let turn = 0;
  let chosen = 0; // how often all jobs, or none, were selected
  let trouble = "";
  const pages = new Map<number, JobRow[]>();
  const asks: Record<number, ReturnType<typeof ordered>> = {}; // by page
  const asked = new Set<number>();
  const heard = new Map<string, Heard>(); // what the stream has told since the list was read
  const selected = new Set<string>();
  const found = new Set<string>(); // the jobs of the filter of which the page knows
  const closed = new Set<string>(); // those among them that nobody here may operate
  const operates = mayOperateSome();

  const filter = find<HTMLInputElement>("#match");
  const choice = find<HTMLSelectElement>("#status");
  const order = find<HTMLSelectElement>("#sort");
  const virtual = new Virtual(find("#list"), () => draw());
  filter.value = match;
  choice.value = status;
  order.value = sort;

  const query = (): Record<string, string | number> => ({ match: pattern(match), status, sort });
  const meet = ({ job }: JobRow): void => {
    if (found.has(job)) return;
    found.add(job);
    if (!mayOperate(job)) closed.add(job);
  };
  let sought = "";
  const forget = (): void => {
    found.clear();
    closed.clear();
  };
  const load = async (n: number): Promise<void> => {
    if (asked.has(n)) return;
    asked.add(n);
    const mine = turn;
    const newest = (asks[n] ??= ordered())();
    try {
      const got = await get<{ jobs: JobRow[]; total: number } & Moment>(["jobs"], { ...query(), offset: n * PAGE, limit: PAGE });
      if (mine !== turn || !newest()) return;
      trouble = "";
      pages.set(n, got.jobs);
      if (got.total !== total) forget(); // others meet the filter now
      [...pages.values()].flat().forEach(meet);
      for (const { job } of got.jobs) if (!later(heard.get(job), got)) heard.delete(job);
      total = got.total;
    } catch (error) {
      if (mine !== turn || !newest()) return;
      trouble = why(error); // it is asked for again with the next refresh
      if (total < 0) total = 0;
    }
    find("#list").removeAttribute("aria-busy");
    draw();
  };
  const restart = (): void => {
    turn++;
    pages.clear();
    asked.clear();
    heard.clear();
    if (sought !== (sought = match + "\n" + status)) forget();
    const url = new URL(location.href);
    for (const [name, value] of Object.entries({ match, status, sort: sort === "name" ? "" : sort })) {
      if (value) url.searchParams.set(name, value);
      else url.searchParams.delete(name);
    }
    window.history.replaceState(null, "", url);
    virtual.top();
    void load(0);
  };
  const refresh = (): void => {
    const { from, to } = virtual.range(Math.max(total, 0));
    asked.clear();
    for (let n = Math.floor(from / PAGE); n <= Math.floor(Math.max(from, to - 1) / PAGE); n++) void load(n);
  };

  const at = (i: number): JobRow | undefined => {
    const row = pages.get(Math.floor(i / PAGE))?.[i % PAGE];
    return row && (heard.get(row.job)?.row ?? row);
  };
  const select = (name: string, on: boolean): void => {
    if (on) selected.add(name);
    else selected.delete(name);
    draw();
  };
  const selectAll = async (on: boolean): Promise<void> => {
    const [mine, choice] = [turn, ++chosen];
    selected.clear();
    draw();
    if (!on) return;
    try {
      for (let offset = 0; offset < total; offset += 500) {
        const got = await get<{ jobs: JobRow[] }>(["jobs"], { ...query(), offset, limit: 500 });
        if (mine !== turn || choice !== chosen) return;
        for (const r of got.jobs) {
          meet(r);
          if (!closed.has(r.job)) selected.add(r.job);
        }
      }
    } catch (error) {
      if (mine !== turn || choice !== chosen) return;
      trouble = why(error);
    }
    draw();
  };

  const bulk = (verb: string, button: string, does: string, danger = false): void => {
    const names = [...selected].sort();
    const zone = names.length === 1 ? [...pages.values()].flat().find((r) => r.job === names[0])?.time_zone : undefined;
    const deed: Deed = {
      title: names.length === 1 ? `${button} ${names[0]}` : `${button} ${count(names.length)} jobs`,
      button: names.length === 1 ? button : `${button} ${count(names.length)} jobs`,
      does, danger, zone, url: page.api("bulk"), body: { verb, jobs: names },
      done: (answer) => {
        selected.clear(); // but for those with which somebody may go on
        for (const { job, problem } of answer.jobs ?? []) if (problem && problem.cause !== "already so") selected.add(job);
        refresh();
        draw();
      },
    };
    operate(deed);
  };

  const draw = (): void => {
    const n = Math.max(total, 0);
    const { from, to } = virtual.range(n);
    const names: string[] = [];
    const rows: Child[] = [];
    for (let i = from; i < to; i++) {
      const row = at(i);
      if (row) names.push(row.job);
      else void load(Math.floor(i / PAGE));
      rows.push(row ? line(row, i, heard.has(row.job) && !heard.get(row.job)?.row) : h("tr", { key: `?${i}`, role: "row", class: "row", "aria-rowindex": i + 2 }, h("td", { role: "cell", class: "waiting" }, "…")));
    }
    look(names.slice(0, 200));
    const high = virtual.row;
    patch(find("#rows"),
      from > 0 && h("tr", { key: "above", "aria-hidden": "true", style: { height: `${from * high}px` } }),
      rows,
      to < n && h("tr", { key: "below", "aria-hidden": "true", style: { height: `${(n - to) * high}px` } }));
    find("#table").setAttribute("aria-rowcount", String(n + 1));
    patch(find("#total"), total < 0 ? "" : match || status ? `${many(n, "job")} found` : many(n, "job"));
    const empty = find("#empty");
    empty.hidden = total !== 0 && trouble === "";
    patch(empty, trouble ? h("span", { class: "bad", role: "alert" }, trouble) : match || status ? "No job is so." : "There are no jobs yet. A process that declares one makes it appear.");
    drawBar();
    document.querySelectorAll<HTMLElement>("#head th[data-sort]").forEach((th) => {
      const name = th.dataset.sort ?? "";
      th.setAttribute("aria-sort", sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none");
    });
  };

  const drawBar = (): void => {
    const all = document.querySelector<HTMLInputElement>("#all");
    let here = 0; // of the selected ones, how many the filter finds
    for (const name of selected) if (found.has(name)) here++;
    if (all) {
      all.hidden = !operates;
      all.checked = here > 0 && here >= total - closed.size;
      all.indeterminate = here > 0 && !all.checked;
    }
    const bar = find("#bulk");
    bar.hidden = selected.size === 0;
    if (bar.hidden) return;
    patch(bar,
      h("strong", { role: "status" }, `${count(selected.size)} selected${(match || status) && here < selected.size && found.size >= total ? `, ${count(selected.size - here)} not shown` : ""}`),
      h("button", { type: "button", onclick: () => bulk("enable", "Enable", "The jobs may run again, from their next fire on.") }, "Enable…"),
      h("button", { type: "button", onclick: () => bulk("trigger", "Trigger", "All items of the jobs run once, now, whatever their cron says.") }, "Trigger…"),
      h("button", { type: "button", onclick: () => bulk("reshard", "Reshard", "The leaders assign the items anew. What runs is not disturbed.") }, "Reshard…"),
      h("span", { class: "apart" }),
      h("button", { type: "button", class: "danger", onclick: () => bulk("disable", "Disable", "Nothing of the jobs begins any more, on any server, until somebody enables them. What runs goes on.", true) }, mark("warn"), "Disable…"),
      h("button", { type: "button", class: "quiet", onclick: () => void selectAll(false) }, "Clear"));
  };

  const line = (row: JobRow, i: number, isGone: boolean): Child => {
    const word = shown(row);
    const last = row.last;
    const cell = (name: string, ...kids: Child[]): Child => h("td", { role: "cell", class: name }, kids);
    return h("tr", { key: row.job, role: "row", class: `row${isGone ? " gone" : ""}`, "aria-rowindex": i + 2, "data-job": row.job },
      cell("pick", operates && !closed.has(row.job) && h("input", { type: "checkbox", "aria-label": `Select ${row.job}`, checked: selected.has(row.job), onchange: (e: Event) => select(row.job, (e.target as HTMLInputElement).checked) })),
      cell("name", h("a", { href: page.link("jobs", row.job) }, row.job), row.description && h("small", null, row.description)),
      cell("status", isGone ? badge("CRASHED", "removed") : badge(word, because(row))),
      cell("num items", count(row.items), h("span", { class: "unit" }, row.items === 1 ? " item" : " items")),
      cell("num run", row.recorded ? count(row.running_items) : h("span", { title: "executions are not recorded" }, "–"), h("span", { class: "unit" }, " run")),
      cell("num inst", count(row.instances), h("span", { class: "unit" }, " inst.")),
      cell("next", row.overdue_since ? h("span", { class: "late" }, `${ago(row.overdue_since, known()).replace(" ago", "")} late`) : row.next ? h("time", { datetime: row.next, title: moment(row.next) }, ago(row.next, known())) : "–"),
      cell("last", last ? [badge(last.outcome, [ago(last.end ?? last.begin, known()), last.error].filter(Boolean).join(": ")), h("span", { class: "when" }, ago(last.end ?? last.begin, known()))] : "–"),
      cell("runs", strip(row.runs ?? "")));
  };

  let typing: ReturnType<typeof setTimeout>;
  filter.oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      match = filter.value.trim();
      restart();
    }, TYPING);
  };
  find<HTMLFormElement>("#filter").onsubmit = (event) => event.preventDefault();
  choice.onchange = () => {
    status = choice.value;
    restart();
  };
  order.onchange = () => {
    sort = order.value;
    restart();
  };
  document.querySelectorAll<HTMLElement>("#head th[data-sort] button").forEach((button) => {
    button.onclick = () => {
      const name = button.closest("th")?.dataset.sort ?? "name";
      sort = sort === name ? `-${name}` : name;
      order.value = sort;
      restart();
    };
  });
  const all = document.querySelector<HTMLInputElement>("#all");
  if (all) all.onchange = () => void selectAll(all.checked);
  const create = find("#create");
  create.hidden = !mayAdminister("");
  create.onclick = () => createJob();
  for (const option of choice.options) if (option.value) option.text = wordOf(option.value);

  follow(["jobs"], (_, frame) => {
    const f = frame as JobsFrame;
    const of = { revision: f.revision, as_of: f.as_of };
    (f.rows ?? []).forEach((row) => heard.set(row.job, { row, ...of }));
    (f.gone ?? []).forEach((name) => heard.set(name, of));
    draw();
  });
  void load(0);
  setInterval(draw, 1_000);
  setInterval(() => !document.hidden && refresh(), AGAIN);
}
