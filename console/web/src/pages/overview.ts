// The overview begins with what needs a person.
import { find, h, mark, patch, type Child } from "../draw";
import { ago, clock, count, many } from "../format";
import { page } from "../page";
import { badge, lookOf, wordOf } from "../status";
import { follow, known } from "../stream";
import { serverOf } from "../timeline";
import type { Overview } from "../types";

export function overview(): void {
  let seen: Overview | null = null;
  const draw = (): void => {
    if (!seen) return;
    patch(find("#needs"), needs(seen));
    patch(find("#counts"), counts(seen));
    patch(find("#runs"), runs(seen));
    patch(find("#upcoming"), upcoming(seen));
    patch(find("#leaders"), leaders(seen));
    patch(find("#outside"), outside(seen));
    document.querySelectorAll("[aria-busy]").forEach((e) => e.removeAttribute("aria-busy"));
  };
  follow(["overview"], (_, frame) => {
    seen = frame as Overview;
    draw();
  });
  setInterval(draw, 1_000);
}

function needs(o: Overview): Child {
  const all = o.needs.length + (o.needs_more ?? 0);
  if (all === 0) {
    const off = o.counts.DISABLED ?? 0;
    const on = o.jobs - off;
    return h("p", { class: "calm" }, mark("ok"), h("span", null, h("strong", null, "Nothing needs you."),
      o.jobs === 0 ? " There are no jobs yet." : [on > 0 && ` ${many(on, "job runs as it should", "jobs run as they should")}.`, off > 0 && ` ${many(off, "job is", "jobs are")} disabled.`]));
  }
  return [
    h("h2", { class: "big" }, mark("warn"), many(all, "job needs you", "jobs need you")),
    h("ul", { class: "needs" }, o.needs.map((n) =>
      h("li", { key: n.job },
        h("a", { href: page.link("jobs", n.job) },
          badge(n.word),
          h("span", { class: "name" }, n.job),
          h("span", { class: "why" }, n.since && h("strong", null, `since ${ago(n.since, known()).replace(" ago", "")}. `), (n.failures ?? 0) > 0 && h("strong", null, `failed ${n.failures} times in a row. `), n.reasons[0]?.text ?? n.last?.error ?? ""),
          h("span", { class: "go", "aria-hidden": "true" }, "→"))))),
    (o.needs_more ?? 0) > 0 && h("p", null, h("a", { href: `${page.link("jobs")}?sort=status` }, `and ${count(o.needs_more ?? 0)} more`)),
  ];
}

/** ORDER is that of the counts; words that it does not name come behind it. */
const ORDER = ["OK", "OVERDUE", "WAITING", "CRASHED", "PAUSED", "SHARDING_FLAG", "DISABLED"];

function counts(o: Overview): Child {
  const words = [...ORDER.filter((w) => o.counts[w]), ...Object.keys(o.counts).filter((w) => !ORDER.includes(w) && o.counts[w])];
  return [
    h("a", { key: "all", class: "count", href: page.link("jobs") }, h("b", null, count(o.jobs)), h("span", null, o.jobs === 1 ? "job" : "jobs")),
    words.map((w) => h("a", { key: w, class: `count ${lookOf(w)}`, href: `${page.link("jobs")}?status=${w}` }, h("b", null, count(o.counts[w])), h("span", null, mark(lookOf(w)), wordOf(w)))),
    h("a", { key: "instances", class: "count", href: page.link("servers") }, h("b", null, count(o.instances)), h("span", null, o.instances === 1 ? "instance" : "instances")),
  ];
}

function runs(o: Overview): Child {
  const shown = o.runs.slice(-30);
  const last = shown[shown.length - 2] ?? shown[shown.length - 1];
  const failed = shown.reduce((n, m) => n + m.failed, 0);
  return [
    h("p", { class: "figure" }, h("b", null, last ? count(last.runs) : "0"), ` in the last full minute${last?.uncertain ? ", or more: nobody followed for a part of it" : ""}`, failed > 0 && h("span", { class: "bad" }, mark("bad"), `${count(failed)} failed, lost or interrupted in ${many(shown.length, "minute")}`)),
    columns(shown.map((m) => ({ n: m.runs, bad: m.failed, title: `${clock(m.minute, false)}: ${many(m.runs, "execution")}${m.uncertain ? " or more" : ""}, ${m.failed} not ok` })), 30, `Executions by the minute, ${clock(shown[0]?.minute, false)} to now`),
  ];
}

function upcoming(o: Overview): Child {
  const total = o.upcoming.reduce((n, x) => n + x, 0);
  const from = Date.parse(o.upcoming_from);
  return [
    h("p", { class: "figure" }, h("b", null, count(total)), ` ${total === 1 ? "fire" : "fires"} in the next 5 minutes`),
    columns(o.upcoming.map((n, i) => ({ n, bad: 0, title: `${clock(from + i * 10_000)}: ${many(n, "fire")}` })), 30, "Fires of the next five minutes, by ten seconds"),
  ];
}

/** columns draws small columns, the bad part of each hatched at its foot. */
function columns(all: { n: number; bad: number; title: string }[], room: number, label: string): Child {
  const most = Math.max(1, ...all.map((c) => c.n));
  const high = (n: number): number => (n === 0 ? 0 : Math.max(1.5, (n / most) * 40));
  return h("svg", { class: "columns", viewBox: `0 0 ${room * 6} 42`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    h("line", { class: "ground", x1: 0, y1: 41.5, x2: room * 6, y2: 41.5 }),
    all.map((c, i) => h("g", { key: i }, h("title", null, c.title),
      h("rect", { class: "all", x: (room - all.length + i) * 6 + 1, y: 41 - high(c.n), width: 4, height: high(c.n) }),
      c.bad > 0 && h("rect", { class: "part", x: (room - all.length + i) * 6, y: 41 - high(c.bad), width: 6, height: high(c.bad) }))));
}

function leaders(o: Overview): Child {
  const most = Math.max(1, ...o.leaders.map((l) => l.jobs));
  if (o.leaders.length === 0) return h("p", { class: "empty" }, "No instance leads a job.");
  return [
    o.leaderless > 0 && h("p", null, mark("warn"), ` ${many(o.leaderless, "job has", "jobs have")} instances and no leader.`),
    h("ul", { class: "meters" }, o.leaders.slice(0, 8).map((l) => h("li", { key: l.instance, title: l.instance }, h("span", { class: "name" }, serverOf(l.instance), h("small", null, l.instance.slice(serverOf(l.instance).length + 3))), h("span", { class: "meter", style: { "--share": String(l.jobs / most) } }), h("span", { class: "n" }, count(l.jobs))))),
    o.leaders.length > 8 && h("p", null, h("a", { href: page.link("servers") }, `and ${o.leaders.length - 8} more`)),
  ];
}

function outside(o: Overview): Child {
  if (o.outside.length === 0) return h("p", { class: "empty" }, "Nothing: all that was changed has an entry in the audit log.");
  return [
    h("ul", { class: "plain" }, o.outside.slice(0, 6).map((c) => h("li", { key: `${c.job}/${c.what}` }, mark("warn"), " ", h("a", { href: page.link("jobs", c.job) }, c.job), `: ${c.what}`))),
    h("p", null, h("a", { href: page.link("audit") }, o.outside.length > 6 ? `and ${count(o.outside.length - 6 + (o.outside_more ?? 0))} more, in the audit log` : "See the audit log")),
  ];
}
