// A job, alive: its timeline, and beside it who has which item, who takes part, and what happened.
import { get, Problem, why } from "../api";
import { goOn } from "../chrome";
import { find, h, patch, type Child } from "../draw";
import { acknowledge, drive, type Backfill } from "../follow";
import { ago, clock, count, many, moment, phrase, span as lasting, took } from "../format";
import type { Lanes, View } from "../lanes";
import { mayAdminister, mayOperate } from "../me";
import { button, operate, type Deed } from "../operate";
import { page } from "../page";
import { ordered } from "../refresh";
import { badge, because, lookOf, shown } from "../status";
import { follow, known, now, onState } from "../stream";
import { briefly, keyOf, serverOf } from "../timeline";
import type { Entry, Gap, InstanceRow, ItemRow, JobFrame, JobRow, Span } from "../types";

interface Detail {
  job: JobRow;
  words?: string;
  items: ItemRow[];
  instances: { instance: string; server: string; enabled: boolean; leader: boolean; leaving: boolean; java: boolean; items: number[] }[];
  servers: { server: string; disabled: boolean; instances?: string[] }[];
  next_fires: string[];
}

/** The tables show so many rows until somebody asks for all. */
const FEW = 100;
/** For so long it is to be seen that an item has changed hands. */
const JUST = 4_000;
/** The log keeps so many lines. */
const LINES = 200;
const HOUR = 3_600_000;

export function job(): void {
  const name = page.job;
  let row: JobRow | null = null;
  let detail: Detail | null = null;
  let gone = false;
  let whole = false;
  let next: string[] = [];
  let gaps: Gap[] = [];
  let from = Date.now();
  let log: Entry[] = [];
  let instances: InstanceRow[] = [];
  let asked = "";
  let refused = false; // the job may not be read
  const items = new Map<number, ItemRow>();
  const spans = new Map<string, Span>();
  const moved = new Map<number, number>();
  const view: View = { stretch: 600_000, by: "item", paused: false };
  const lanes = find<Lanes>("job-lanes");
  const operates = mayOperate(name);
  const url = (...parts: (string | number)[]): string => page.api("jobs", name, ...parts);

  const asks = ordered();
  const reload = async (): Promise<void> => {
    const newest = asks();
    try {
      const got = await get<Detail>(["jobs", name]);
      if (!newest()) return;
      detail = got;
      row ??= detail.job;
      if (items.size === 0) detail.items.forEach((it) => items.set(it.item, it));
      if (next.length === 0) next = detail.next_fires;
    } catch (error) {
      if (!newest()) return;
      refused = error instanceof Problem && error.status === 403;
      gone ||= !row || refused;
      asked = why(error);
    }
    draw();
  };
  // The pages of a browser share a stream, which is refused as a whole if a topic of one of them is: at the beginning, or since.
  const look = (): void => void reload().then(() => refused && follow([], () => {}));
  let soon: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    soon ??= setTimeout(() => {
      soon = undefined; // once a second, however often it is asked for
      look();
    }, 1_000);
  };

  const take = (f: JobFrame): void => {
    gone = !!f.gone;
    asked = "";
    if (gone) return draw();
    if (f.full) {
      spans.clear();
      items.clear();
      log = [];
    }
    if (f.row) {
      if (row?.cron !== f.row.cron) later(); // what it means in words is not in the frame
      row = f.row;
    }
    (f.items ?? []).forEach((it) => {
      const before = items.get(it.item);
      if (before?.owner && it.owner && before.owner !== it.owner) {
        moved.set(it.item, Date.now());
        say(`Item ${it.item} went from ${before.owner} to ${it.owner}.`);
      }
      items.set(it.item, it);
    });
    for (const n of items.keys()) if (n >= f.total) items.delete(n);
    (f.spans ?? []).forEach((s) => spans.set(keyOf(s), s));
    const old = Math.max(Date.parse(f.from) || 0, now() - HOUR - 60_000);
    for (const [key, s] of spans) if (Date.parse(s.end ?? s.begin) < old && s.outcome !== "running") spans.delete(key);
    from = Date.parse(f.from) || from;
    if (f.gaps) gaps = f.gaps;
    if (f.next_fires) next = f.next_fires;
    if (f.instances) {
      instances = f.instances;
      later();
    }
    for (const e of f.log ?? []) { // a frame comes again if the stream was cut behind it
      if (!log.some((known) => known.at === e.at && known.kind === e.kind && known.item === e.item && known.text === e.text)) log.push(e);
    }
    log = log.slice(-LINES);
    draw();
  };

  let saying: ReturnType<typeof setTimeout> | undefined;
  const say = (text: string): void => {
    clearTimeout(saying);
    find("#said").textContent = text; // for those who cannot see a lane change hands
    saying = setTimeout(() => (find("#said").textContent = ""), 5_000);
  };

  const draw = (): void => {
    drawHead();
    if (gone || !row) return;
    const ids = instances.length > 0 ? instances.map((i) => i.instance) : (detail?.instances ?? []).map((i) => i.instance);
    const all = [...items.values()].sort((a, b) => a.item - b.item);
    for (const [item, when] of moved) if (Date.now() - when > JUST) moved.delete(item);
    lanes.show({ spans, items: all, instances: ids, leader: row.leader ?? "", gaps, log, next, from, moved }, view);
    patch(find("#items"), itemRows(all, ids));
    patch(find("#instances"), instanceRows(ids, all));
    patch(find("#log"), logLines());
    const unrecorded = find("#unrecorded");
    unrecorded.hidden = row.recorded;
    find("#timeline").hidden = !row.recorded;
    document.querySelectorAll("[aria-busy]").forEach((e) => e.removeAttribute("aria-busy"));
  };

  const drawHead = (): void => {
    const head = find("#state");
    if (gone) {
      find("#live-parts").hidden = true;
      find("#deeds").hidden = true;
      return patch(head, h("p", { class: "empty" }, asked || `There is no job ${name}.`, " ", h("a", { href: page.link("jobs") }, "All jobs")));
    }
    find("#live-parts").hidden = false;
    if (!row) return;
    const r = row;
    const word = shown(r);
    patch(head,
      h("p", { class: "facts" },
        h("span", { class: "state" }, badge(word, because(r))),
        h("span", null, detail?.words && detail.job.cron === r.cron ? h("span", { title: `${r.cron ?? ""} ${r.time_zone ?? "UTC"}` }, sentence(phrase(detail.words))) : h("code", null, r.cron ?? ""), (r.time_zone || !/^@(every|delay|triggered)/.test(r.cron ?? "")) && h("span", { class: "zone" }, `, ${r.time_zone || "UTC"}`)),
        r.next && h("span", { class: "soon" }, "next ", h("b", null, ago(r.next, known())), h("span", { class: "muted" }, ` at ${clock(r.next)}`)),
        h("span", null, h("b", null, count(r.running_items)), ` of ${many(r.items, "item")} running`),
        h("span", null, many(r.instances, "instance"))),
      r.description && h("p", { class: "muted" }, r.description),
      (r.reasons ?? []).map((reason) => h("p", { key: reason.word + reason.text, class: `reason ${lookOf(reason.word)}` }, badge(reason.word), h("span", null, reason.text))));
    patch(find("#deeds"), deeds(r));
    find("#deeds").hidden = false;
  };

  const done = look;
  const deeds = (r: JobRow): Child => {
    const off = r.disabled;
    return [
      operates && button("Trigger", () => trigger(r), { class: "primary" }),
      operates && off && button("Enable", () => ({ title: `Enable ${name}`, button: "Enable", does: "The job runs again, from its next fire on. Servers and items that were disabled one by one stay so.", url: url("enable"), done })),
      h("a", { class: "button", href: page.link("jobs", name, "settings") }, "Settings"),
      operates && [
        h("button", { type: "button", popovertarget: "more", "aria-label": "More operations" }, "More"),
        h("div", { id: "more", popover: true, class: "menu" },
          h("button", { type: "button", onclick: backfill }, "Run past fires…"),
          button("Reshard", () => ({ title: `Reshard ${name}`, button: "Reshard", does: "The leader assigns the items anew. What runs is not disturbed.", url: url("reshard"), done })),
          button("Tidy servers", () => ({ title: `Tidy servers of ${name}`, button: "Tidy", does: "What is stored of servers at which no instance of the job lives is deleted.", url: url("tidy"), body: {}, done })),
          h("a", { class: "button", href: `${page.link("history")}?job=${encodeURIComponent(name)}` }, "History"),
          h("a", { class: "button", href: `${page.link("audit")}?job=${encodeURIComponent(name)}` }, "Audit"),
          mayAdminister(name) && [h("hr"), button("Remove the job", () => ({
            title: `Remove ${name}`, button: "Remove it for good", danger: true, typed: name, url: url("remove"),
            does: "The job and all that is stored of it are deleted, and the console keeps no copy: export it first if its settings may be wanted again. A process that declares it in code creates it again at its next start.",
            done: (answer) => {
              if (answer.unconfirmed) return done();
              goOn(page.link("jobs"), `Done: Remove ${name}.`);
            },
          }), { danger: true })])],
      h("span", { class: "apart" }),
      operates && !off && button("Disable", () => ({ title: `Disable ${name}`, button: "Disable", danger: true, does: "Nothing of the job begins any more, on any server, until somebody enables it. What runs goes on.", url: url("disable"), done }), { danger: true }),
    ];
  };

  /** strip makes a line that tells how far something is: several may be under way. Told nothing, it goes. */
  const strip = (): ((text: Child) => void) => {
    const lines = find("#ack");
    const line = document.createElement("p");
    return (text) => {
      patch(line, text);
      if (!text) line.remove();
      else if (!line.isConnected) lines.append(line);
      lines.hidden = lines.childElementCount === 0;
    };
  };

  const trigger = (r: JobRow): Deed => {
    const body: Record<string, unknown> = {};
    return {
      title: `Trigger ${name}`, button: "Trigger", url: url("trigger"), body, zone: r.time_zone,
      does: "The items run once, now, whatever the cron says. One that runs already runs once more right after.",
      fields: (again) => h("fieldset", null,
        h("label", { class: "field" }, h("span", null, "Items ", h("small", null, `empty is all; such as 0, 3-5`)), h("input", { autocomplete: "off", inputmode: "numeric", oninput: (e: Event) => {
          const chosen = numbers((e.target as HTMLInputElement).value);
          (e.target as HTMLInputElement).setCustomValidity(chosen ? "" : "Write numbers of items, such as 0, 3-5.");
          if (chosen && chosen.length > 0) body.items = chosen;
          else delete body.items;
          again();
        } })),
        h("label", { class: "field" }, h("span", null, "Parameter ", h("small", null, "a text for the code")), h("input", { autocomplete: "off", maxlength: "2048", oninput: (e: Event) => {
          const text = (e.target as HTMLInputElement).value;
          if (text) body.parameter = text;
          else delete body.parameter;
          again();
        } })),
        h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (e: Event) => {
          if ((e.target as HTMLInputElement).checked) body.replace = true;
          else delete body.replace;
          again();
        } }), "Take the place of a trigger that goes on")),
      done: (answer) => {
        done();
        const says = strip();
        says("Triggered. Waiting for the items to answer…");
        if (answer.operation) void acknowledge(url("trigger"), body, answer.operation.id, (text, over) => says(over ? null : `Trigger: ${text}`));
      },
    };
  };

  const backfill = (): void => {
    const body: Record<string, unknown> = { fires: [] };
    let begin = "";
    let end = "";
    let found = "";
    let asks = 0;
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone; // in which the fields take times
    const find_ = async (again: () => void): Promise<void> => {
      const mine = ++asks;
      body.fires = [];
      if (begin && end) found = "Looking for the fires…";
      again();
      if (!begin || !end) return;
      try {
        const fires = (await get<{ fires: string[] }>(["jobs", name, "fires"], { from: new Date(begin).toISOString(), to: new Date(end).toISOString() })).fires;
        if (mine !== asks) return;
        body.fires = fires;
        found = fires.length === 0 ? "No fire lies between them." : `${many(fires.length, "fire")}, ${moment(fires[0])} to ${moment(fires[fires.length - 1])}.`;
      } catch (error) {
        if (mine !== asks) return;
        found = why(error);
      }
      again();
    };
    const field = (label: string, put: (v: string) => void, again: () => void): Child => h("label", { class: "field" }, h("span", null, label), h("input", { type: "datetime-local", step: "1", onchange: (e: Event) => { put((e.target as HTMLInputElement).value); void find_(again); } }));
    operate({
      title: `Run past fires of ${name}`, button: "Run them", url: url("backfill"), body, zone: here,
      lacks: () => (begin && end ? "" : "Choose from when to when."),
      does: "Each fire of the schedule between two times runs by hand, one after another. What the job knows of its last fire stays as it is.",
      fields: (again) => h("fieldset", { class: "two" }, field("From", (v) => (begin = v), again), field("To", (v) => (end = v), again), h("p", { class: "muted" }, found || `Times are those of ${here}.`)),
      quiet: true,
      done: (answer, sent, key) => {
        done();
        const says = strip();
        void drive(url("backfill"), sent as Record<string, unknown>, key, answer as unknown as Backfill, (text) => {
          says(text);
          if (!text) done();
        });
      },
    });
  };

  const itemRows = (all: ItemRow[], ids: string[]): Child => {
    const some = whole ? all : all.slice(0, FEW);
    return [
      some.map((it) => {
        const last = it.last;
        const word = shown(it);
        return h("tr", { key: it.item },
          h("th", { scope: "row" }, it.item),
          h("td", null, badge(word, because(it)), it.failover && badge("failover", "another instance took over a lost execution")),
          h("td", { class: "owner" }, it.owner ? h("span", { key: it.owner, class: moved.has(it.item) ? "took" : null, title: it.owner }, briefly(it.owner, ids)) : h("span", { class: "muted" }, "nobody")),
          h("td", { class: "wide" }, last ? [badge(last.outcome, last.error ?? ""), h("span", { class: "when" }, last.outcome === "running" ? ` for ${lasting(took(last, known()))}` : ` ${lasting(took(last))}, ${ago(last.end ?? last.begin, known())}`), last.error && last.outcome === "failure" && h("span", { class: "error", title: last.error }, last.error)] : h("span", { class: "muted" }, "never ran")),
          h("td", { class: "num wide", title: "succeeded / failed, interrupted and lost" }, count(it.counts.success), h("span", { class: it.counts.failure + it.counts.lost + it.counts.interrupted > 0 ? "bad" : "muted" }, ` / ${count(it.counts.failure + it.counts.interrupted + it.counts.lost)}`)),
          operates && h("td", { class: "act" }, itemDeeds(it)));
      }),
      all.length > some.length && h("tr", { key: "more" }, h("td", { colspan: 6 }, h("button", { type: "button", onclick: () => { whole = true; draw(); } }, `Show all ${count(all.length)} items`))),
    ];
  };
  const itemDeeds = (it: ItemRow): Child => {
    const label = (verb: string): Record<string, unknown> => ({ class: "small", "aria-label": `${verb} item ${it.item}` });
    const waits = it.reasons?.some((r) => r.word === "WAITING");
    return [
      waits && button("Give up", () => ({ title: `Give up item ${it.item}`, button: "Give up", danger: true, does: "The lost execution that waits to be run again is given up. The item's next fire runs as usual.", url: url("items", it.item, "give-up"), done }), { ...label("Give up"), class: "small danger", danger: true }),
      it.status === "DISABLED"
        ? button("Enable", () => ({ title: `Enable item ${it.item} of ${name}`, button: "Enable", does: "The item runs again, from its next fire on.", url: url("items", it.item, "enable"), done }), label("Enable"))
        : button("Disable", () => ({ title: `Disable item ${it.item} of ${name}`, button: "Disable", danger: true, does: "The item begins nothing any more until somebody enables it. The others run on, and a run of it that has begun ends by itself.", url: url("items", it.item, "disable"), done }), { ...label("Disable"), class: "small danger", danger: true }),
    ];
  };

  const instanceRows = (ids: string[], all: ItemRow[]): Child => {
    if (ids.length === 0) return h("tr", { key: "none" }, h("td", { colspan: 4, class: "empty" }, "No instance lives: nothing of the job runs."));
    return ids.map((id) => {
      const known = detail?.instances.find((i) => i.instance === id);
      const owned = all.filter((it) => it.owner === id);
      const running = owned.filter((it) => it.status === "RUNNING").length;
      const server = serverOf(id);
      const off = detail?.servers.find((s) => s.server === server)?.disabled ?? false;
      return h("tr", { key: id },
        h("th", { scope: "row", title: id }, server, row?.leader === id && h("span", { class: "star", title: "leads" }, " ★", h("span", { class: "unseen" }, " leader")), h("small", null, id.slice(server.length + 3), known?.java && " · Java")),
        h("td", null, known?.leaving ? badge("LEAVING") : off ? badge("DISABLED", "the server is disabled in this job") : badge("OK")),
        h("td", { class: "num" }, count(owned.length), h("span", { class: "unit" }, owned.length === 1 ? " item" : " items"), h("span", { class: "muted" }, running > 0 ? `, ${running} run` : "")),
        operates && h("td", { class: "act" },
          off
            ? button("Enable server", () => ({ title: `Enable ${server} for ${name}`, button: "Enable", does: "The server may have items of the job again.", url: query(page.api("servers", server, "enable")), done }), { class: "small", "aria-label": `Enable server ${server}` })
            : button("Disable server", () => ({ title: `Disable ${server} for ${name}`, button: "Disable", danger: true, does: "The items of the job move from this server to others. Other jobs there are not touched.", url: query(page.api("servers", server, "disable")), done }), { class: "small danger", danger: true, "aria-label": `Disable server ${server}` }),
          button("Shut down", () => ({ title: `Shut down ${briefly(id, ids)} for ${name}`, button: "Shut down", danger: true, does: `The instance ${id} leaves the job. What runs there ends by itself. It joins again when its process starts anew.`, url: query(page.api("instances", id, "shutdown")), done }), { class: "small danger", danger: true, "aria-label": `Shut down instance ${id}` })));
    });
  };
  const query = (address: string): string => `${address}?job=${encodeURIComponent(name)}`;

  const logLines = (): Child => {
    if (log.length === 0) return h("li", { class: "empty" }, "Nothing has happened since the server started.");
    return [...log].reverse().slice(0, 50).map((e, i) => h("li", { key: `${e.at}${e.kind}${e.item ?? ""}${log.length - i}`, class: e.kind }, h("time", { datetime: e.at, title: moment(e.at) }, clock(e.at)), badge(e.kind), h("span", { class: "text" }, e.text)));
  };

  const pause = find<HTMLButtonElement>("#pause");
  pause.onclick = () => {
    view.paused = !view.paused;
    pause.setAttribute("aria-pressed", String(view.paused));
    pause.textContent = view.paused ? "Paused: go on" : "Pause";
    draw();
  };
  document.querySelectorAll<HTMLInputElement>("input[name=stretch]").forEach((r) => (r.onchange = () => { view.stretch = Number(r.value) * 60_000; draw(); }));
  document.querySelectorAll<HTMLInputElement>("input[name=by]").forEach((r) => (r.onchange = () => { view.by = r.value as View["by"]; draw(); }));

  onState((state) => lanes.blindSince(state.live || !state.asOf ? 0 : Date.parse(state.asOf)));
  void reload().then(() => {
    if (refused) return;
    follow([`job/${name}`], (_, frame) => take(frame as JobFrame));
    let lived = false;
    let asking: ReturnType<typeof setInterval> | undefined;
    onState(({ live }) => {
      clearInterval(asking);
      if (!live && !refused) {
        if (lived) look();
        asking = setInterval(() => document.hidden || look(), 15_000); // a role may be taken away while nobody sees the page
      }
      lived = live;
    });
  });
  setInterval(draw, 1_000);
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** numbers reads "0, 3-5"; null is what cannot be read. */
function numbers(text: string): number[] | null {
  const all: number[] = [];
  for (const part of text.split(",").map((p) => p.trim()).filter(Boolean)) {
    const range = /^(\d+)(?:\s*-\s*(\d+))?$/.exec(part);
    if (!range) return null;
    const [a, b] = [Number(range[1]), Number(range[2] ?? range[1])];
    if (b < a || b - a > 10_000) return null;
    for (let n = a; n <= b; n++) all.push(n);
  }
  return all;
}
