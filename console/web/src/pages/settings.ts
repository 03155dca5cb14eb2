// The settings of a job: fields for what is changed often, the whole text for everything. Both change one object; the
// server says what it comes to, and stores it only if the revision is still the one that was shown.
import { ask, get, lost, why, type Problem } from "../api";
import { failed, note } from "../chrome";
import { find, h, mark, patch, type Child } from "../draw";
import { inZone, parsed, phrase, pretty, type Values } from "../format";
import { mayAdminister } from "../me";
import { changes, operate } from "../operate";
import { page } from "../page";
import type { Change } from "../types";

interface Config {
  text: string;
  config?: Record<string, unknown>;
  revision: number;
  hidden?: boolean;
  files?: string; // whose files own the settings
}
interface Cron {
  words: string;
  next_fires: string[];
  changes: { at: string; before: number; after: number }[];
}

const TYPING = 250;

/** FIELDS are those of the form, with the words for people. */
const FIELDS: { name: string; label: string; hint: string; kind: "text" | "number" | "flag" | "long" }[] = [
  { name: "cron", label: "Cron", hint: "Quartz, crontab, @every, @delay or @triggered", kind: "text" },
  { name: "timeZone", label: "Time zone", hint: "such as Europe/Berlin; empty is UTC", kind: "text" },
  { name: "shardingTotalCount", label: "Items", hint: "1 to 100,000", kind: "number" },
  { name: "shardingItemParameters", label: "Parameters of items", hint: "such as 0=Berlin,1=Oslo", kind: "text" },
  { name: "jobParameter", label: "Parameter of the job", hint: "a text for all items", kind: "text" },
  { name: "failover", label: "Failover: run again elsewhere what a crash cut short", hint: "", kind: "flag" },
  { name: "misfire", label: "Misfire: run later what was missed", hint: "", kind: "flag" },
  { name: "description", label: "Description", hint: "for people", kind: "long" },
];

export async function settings(): Promise<void> {
  const name = page.job;
  const form = find<HTMLFormElement>("#settings");
  const may = mayAdminister(name);
  let base: Config;
  let values: Values = {};
  let text = "";
  let fault = "";
  let cron: Cron | null = null;
  let cronFault = "";
  let timer: ReturnType<typeof setTimeout>;
  const raw = new Map<string, string>(); // what was typed where a number belongs, and is none

  const load = async (): Promise<Config> => (await ask<Config>("GET", page.api("jobs", name, "config"))).body;
  const start = (config: Config): void => {
    base = config;
    raw.clear();
    text = pretty(config.text);
    values = parsed(text) ?? {};
    fault = parsed(text) ? "" : "The stored settings are no JSON object. Mend the text.";
  };
  try {
    start(await load());
  } catch (error) {
    return failed(form, error);
  }

  const put = (field: string, value: unknown): void => {
    if (value === undefined) delete values[field];
    else values[field] = value;
    text = JSON.stringify(values, null, 2);
    if (field === "cron" || field === "timeZone") askCron();
    draw();
  };
  const write = (now: string): void => {
    raw.clear();
    text = now;
    const read = parsed(now);
    fault = read ? "" : "This is no JSON object.";
    if (read) values = read;
    askCron();
    draw();
  };
  const askCron = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void describe(), TYPING);
  };
  let turn = 0;
  const describe = async (): Promise<void> => {
    const mine = ++turn;
    const query = new URLSearchParams({ expression: String(values.cron ?? "") });
    if (values.timeZone) query.set("zone", String(values.timeZone));
    if (values.daylightSaving) query.set("daylight-saving", String(values.daylightSaving));
    try {
      const answer = (await ask<Cron>("GET", `api/v1/cron?${query}`)).body;
      if (mine !== turn) return;
      cron = answer;
      cronFault = "";
    } catch (error) {
      if (mine !== turn) return;
      const position = (error as Problem).body?.position;
      cronFault = why(error) + (position !== undefined ? ` (field ${position + 1})` : "");
    }
    draw();
  };

  const before = (): Values => parsed(base.text) ?? {};
  const changed = (): boolean => JSON.stringify(before()) !== JSON.stringify(values) || (fault !== "" && text !== pretty(base.text)) || raw.size > 0;
  const sound = (): boolean => !fault && raw.size === 0;

  /** still asks the server, and keeps the form as it is until the answer decides what is in it. A failure gives nothing. */
  const still = async <T>(asks: () => Promise<T>): Promise<T | void> => {
    form.inert = true;
    try {
      return await asks();
    } catch (error) {
      note(why(error), true);
    } finally {
      form.inert = false;
      if (document.activeElement === document.body) find("button[type=submit]", form).focus();
    }
  };

  let sent: { key: string; text: string } | null = null; // the last commit, if it may have been done and was not read since
  const commit = (): void => {
    const stored = parsed(text) && text === pretty(base.text) ? base.text : compact(text);
    operate({
      title: `Change the settings of ${name}`, button: `Commit on revision ${base.revision}`, method: "PUT", url: page.api("jobs", name, "config"),
      does: "All processes of the job follow the new settings at once. What runs goes on with the old ones.",
      // The revision that the text is made from: not one that was read since, nor the ETag that a proxy made of it.
      headers: { "If-Match": `"${base.revision}"` },
      body: { text: stored, base: base.text }, zone: String(values.timeZone ?? ""),
      refused: (problem, key) => {
        if (key && lost(problem)) sent = { key, text: compact(text) };
        if (problem.status !== 412) return false;
        void merge();
        return true;
      },
      done: (_, __, key) => {
        sent = { key, text: compact(text) };
        void still(async () => {
          start(await load());
          sent = null;
          draw();
        });
      },
    });
  };

  /** merge is for when somebody else committed meanwhile: what was, what they made of it, what is wanted here. */
  const merge = async (): Promise<void> => {
    const answers = await still(async () => [
      await load(),
      sent && await get<{ operations: { verb: string }[] }>(["operations", sent.key]).catch(() => null),
      await get<{ operations: { who: string; when: string; verb: string; reason?: string }[] }>(["operations"], { job: name, limit: 1 }).catch(() => ({ operations: [] })),
    ] as const);
    if (!answers) return;
    const [theirs, own, who] = answers;
    if (theirs.revision === base.revision) return commit(); // the same settings, which come to something else by now
    const stored = own?.operations.some((o) => o.verb === "change settings"); // the answer was lost
    const all = stored && sent?.text === compact(text);
    if (stored) sent = null;
    if (all) {
      note("Your settings were stored, though no answer came to that.");
      start(theirs);
      return draw();
    }
    const [was, is, mine] = [before(), parsed(theirs.text) ?? {}, { ...values }];
    const names = Object.keys({ ...was, ...is, ...mine }).filter((n) => !same(was[n], is[n]) || !same(was[n], mine[n]));
    const choice = new Map(names.map((n) => [n, same(was[n], mine[n]) ? "theirs" : "mine"]));
    const dialog = document.createElement("dialog");
    dialog.className = "deed merge";
    dialog.setAttribute("aria-labelledby", "merge-title");
    document.body.append(dialog);
    dialog.onclose = () => dialog.remove();
    const show = (): void => {
      const pick = (n: string, side: string, value: unknown): Child => h("td", { class: `side ${choice.get(n) === side ? "taken" : ""}` }, h("label", null, h("input", { type: "radio", name: `pick-${n}`, checked: choice.get(n) === side, onchange: () => { choice.set(n, side); show(); } }), h("span", null, words(value))));
      patch(dialog, h("form", { method: "dialog", onsubmit: (e: Event) => { e.preventDefault(); take(); } },
        h("h2", { id: "merge-title" }, mark("warn"), "Somebody else committed meanwhile"),
        h("p", { class: "does" }, who.operations[0] ? `${who.operations[0].who}: ${who.operations[0].verb}${who.operations[0].reason ? ` (${who.operations[0].reason})` : ""}. ` : "", `The settings are at revision ${theirs.revision} now, and not at ${base.revision} any more. ${stored ? "What you sent was stored, and not what you changed since" : "Nothing of yours was stored"}. Choose for each setting what it is to be.`),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Three versions" }, h("table", null,
          h("thead", null, h("tr", null, h("th", { scope: "col" }, "Setting"), h("th", { scope: "col" }, `Was, at ${base.revision}`), h("th", { scope: "col" }, `Theirs, at ${theirs.revision}`), h("th", { scope: "col" }, "Yours"))),
          h("tbody", null, names.map((n) => h("tr", { key: n }, h("th", { scope: "row" }, n, !same(was[n], is[n]) && !same(was[n], mine[n]) && !same(is[n], mine[n]) && h("small", { class: "bad" }, "both changed it")), h("td", { class: "was" }, words(was[n])), pick(n, "theirs", is[n]), pick(n, "mine", mine[n])))))),
        h("footer", null, h("button", { type: "button", class: "cancel", onclick: () => { dialog.close(); start(theirs); draw(); } }, "Drop mine"), h("button", { type: "submit", class: "primary" }, "Go on with these"))));
    };
    const take = (): void => {
      start(theirs);
      for (const [n, side] of choice) if (side === "mine") { if (mine[n] === undefined) delete values[n]; else values[n] = mine[n]; }
      text = JSON.stringify(values, null, 2);
      dialog.close();
      askCron();
      draw();
      if (changed()) commit();
    };
    show();
    dialog.showModal();
  };

  const draw = (): void => {
    form.removeAttribute("aria-busy");
    const was = before();
    const diff: Change[] = Object.keys({ ...was, ...values }).filter((n) => !same(was[n], values[n])).map((n) => ({ what: n, before: n in was ? words(was[n]) : "", after: n in values ? words(values[n]) : "" }));
    patch(form,
      base.hidden && h("p", { class: "reason off" }, mark("off"), "Secrets are hidden: you may look at these settings and not change them."),
      base.files && h("p", { class: "reason warn" }, mark("warn"), `The files of ${base.files} own these settings: what is changed here is put back by a process that has the files. Change them there.`),
      h("div", { class: "split" },
        h("div", null, FIELDS.map((f) => [field(f, was), f.name === "timeZone" && fires()])),
        h("div", null,
          h("label", { class: "field" }, h("span", null, "All settings ", h("small", null, "as they are stored; the fields and this text change each other")), h("textarea", { rows: 22, spellcheck: "false", class: "code", readOnly: !may, "aria-invalid": fault ? "true" : null, value: text, oninput: (e: Event) => write((e.target as HTMLTextAreaElement).value) })),
          fault && h("p", { class: "bad", role: "alert" }, mark("bad"), fault))),
      h("div", { class: "commit" },
        diff.length > 0 ? h("div", { class: "difference" }, h("h2", null, "Your changes"), changes(diff)) : !sound() ? h("p", { class: "muted" }, "Mend what is marked first.") : h("p", { class: "muted" }, `Nothing is changed. These are the settings of revision ${base.revision}.`),
        may && h("p", { class: "deeds" },
          h("button", { type: "submit", class: "primary", "aria-disabled": changed() && sound() ? null : "true" }, "Show what would change…"),
          changed() && h("button", { type: "button", onclick: () => { start(base); askCron(); draw(); find("button[type=submit]", form).focus(); } }, "Undo all"))));
  };

  const field = (f: (typeof FIELDS)[number], was: Values): Child => {
    const value = values[f.name];
    const touched = !same(was[f.name], value);
    if (f.kind === "flag") return h("label", { key: f.name, class: `check${touched ? " touched" : ""}` }, h("input", { type: "checkbox", name: f.name, disabled: !may, checked: value === true, onchange: (e: Event) => put(f.name, (e.target as HTMLInputElement).checked) }), f.label);
    const props = {
      name: f.name, autocomplete: "off", spellcheck: "false", readOnly: !may, value: raw.get(f.name) ?? (value === undefined || value === null ? "" : String(value)), "aria-describedby": f.name === "cron" ? "cron-words" : null, "aria-invalid": (f.name === "cron" && cronFault) || raw.has(f.name) ? "true" : null,
      oninput: (e: Event) => {
        const typed = (e.target as HTMLInputElement).value;
        raw.delete(f.name);
        if (f.kind === "number" && !/^-?\d+$/.test(typed.trim())) {
          raw.set(f.name, typed);
          return draw();
        }
        put(f.name, f.kind === "number" ? Number(typed) : typed === "" && !(f.name in was) ? undefined : typed);
      },
    };
    return h("label", { key: f.name, class: `field${touched ? " touched" : ""}` }, h("span", null, f.label, f.hint && [" ", h("small", null, f.hint)]),
      f.kind === "long" ? h("textarea", { ...props, rows: 2 }) : h("input", { ...props, type: "text", inputmode: f.kind === "number" ? "numeric" : null, class: f.name === "cron" ? "code large" : null }),
      raw.has(f.name) && h("small", { class: "bad", role: "alert" }, "This is no number."));
  };

  const fires = (): Child => {
    const zone = String(values.timeZone ?? "");
    return h("div", { key: "fires", class: "fires", id: "cron-words", "aria-live": "polite" },
      cronFault ? h("p", { class: "bad" }, mark("bad"), cronFault)
        : cron && [
          h("p", { class: "words" }, `“${phrase(cron.words)}”`),
          h("ol", null, listed(cron).map((l) => h("li", { class: l.change ? "change" : "" }, l.change && mark("warn"), l.change ? `The clock is changed on ${inZone(l.at, zone)}: ${l.change}` : inZone(l.at, zone)))),
        ]);
  };

  form.onsubmit = (event) => {
    event.preventDefault();
    if (changed() && sound()) commit();
  };
  addEventListener("beforeunload", (event) => {
    if (may && changed()) event.preventDefault();
  });
  draw();
  await describe();
}

/** listed puts the changes of the clock where they lie among the fires. */
function listed(cron: Cron): { at: string; change: string }[] {
  const all = cron.next_fires.map((at) => ({ at, change: "" }));
  for (const c of cron.changes) all.push({ at: c.at, change: `${Math.abs(c.after - c.before) / 60} min ${c.after > c.before ? "are skipped" : "come twice"}` });
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.change ? -1 : 1));
}

const compact = (text: string): string => (parsed(text) ? JSON.stringify(parsed(text)) : text);
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const words = (value: unknown): string => (value === undefined ? "(not set)" : typeof value === "string" ? (value === "" ? "(empty)" : value) : JSON.stringify(value));
