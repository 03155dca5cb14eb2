// Every operation goes this way: the dialog asks for the dry run first, shows what will happen, takes a reason, and
// does what was shown, or nothing.
import { ask, lost, Problem, why, type ProblemBody } from "./api";
import { note } from "./chrome";
import { find, h, mark, patch, type Child } from "./draw";
import { count, inZone, many, phrase } from "./format";
import type { Change, JobOutcome, Outcome, Plan } from "./types";

export interface Deed {
  title: string; // Disable job orders
  button: string; // Disable
  does: string; // what it comes to, in a sentence, whatever the plan says
  danger?: boolean; // it stops or deletes something
  typed?: string; // what a person must type first, as it cannot be taken back
  method?: string;
  url: string;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  zone?: string;
  /** fields are asked for before the dry run; they change body and ask again. */
  fields?: (again: () => void) => Child;
  /** lacks says what somebody has to fill in before there is anything to plan. */
  lacks?: () => string;
  /** done is told of what was done, and with which body and key; quiet if it says itself what came of it. */
  done?: (answer: Outcome & { jobs?: JobOutcome[] }, sent: unknown, key: string) => void;
  quiet?: boolean;
  /** refused may take a refusal over, and then closes the dialog. Of what was not only looked at, sent is the key. */
  refused?: (problem: Problem, sent?: string) => boolean;
}

/** compared is what of a plan the server compares: of ten thousand jobs the rest would be too much. */
const compared = (p?: Plan): Partial<Plan> | undefined => p && { ...p, next: undefined, notes: undefined };

type Answer = Outcome & { jobs?: JobOutcome[]; id?: string; differences?: string[]; left?: string[]; may_have_run?: { fires: number; last: string }; warnings?: string[] }; // the last three: of a backfill

/** PAUSE is how long somebody must have stopped typing before the dry run is asked for again. */
const PAUSE = 300;

export function operate(deed: Deed): void {
  const dialog = document.createElement("dialog");
  dialog.className = deed.danger ? "deed danger" : "deed";
  dialog.setAttribute("aria-labelledby", "deed-title");
  document.body.append(dialog);
  const opener = document.activeElement as HTMLElement | null;
  const keys = new Map<string, string>(); // of all that may have been done without an answer: the same once more is done once
  const wanted = (): string => JSON.stringify(Object.entries(deed.body ?? {}).sort());
  const beside = (): boolean => [...keys.keys()].some((what) => what !== wanted());

  let answer: Answer | null = null;
  let problem: ProblemBody | null = null;
  let reason = "";
  let typed = "";
  let consent = false;
  let doing = false;
  let turn = 0;
  let timer: ReturnType<typeof setTimeout>;

  const body = (dry: boolean): unknown => {
    const all: Record<string, unknown> = { ...deed.body };
    if (reason) all.reason = reason;
    if (consent) all.force = true;
    if (!dry && answer) {
      const plans = answer.jobs?.filter((j) => j.outcome).map((j) => [j.job, compared(j.outcome?.plan)]);
      all.shown = plans ? Object.fromEntries(plans) : compared(answer.plan); // of several jobs by job
      all.may_have_run = answer.may_have_run;
    }
    return all;
  };

  const refuse = (error: unknown, key?: string): void => {
    if (error instanceof Problem && deed.refused?.(error, key)) return dialog.close();
    if (!dialog.open) return note(`${deed.title}: ${why(error)}`, true); // a browser lets nobody hold a dialog open for ever
    problem = error instanceof Problem ? error.body : {};
    problem.detail ??= why(error);
    draw();
  };
  const dry = new URL(deed.url);
  dry.searchParams.set("dry-run", "");
  const look = async (): Promise<void> => {
    const mine = ++turn;
    answer = null;
    problem = null;
    draw();
    if (deed.lacks?.()) return;
    try {
      const response = await ask<Answer>(deed.method ?? "POST", dry.href, body(true), deed.headers);
      if (mine !== turn) return;
      answer = response.body;
      draw();
    } catch (error) {
      if (mine !== turn || !dialog.open) return;
      refuse(error);
    }
  };
  const again = (): void => {
    clearTimeout(timer);
    turn++;
    answer = null;
    timer = setTimeout(() => void look(), PAUSE);
    draw();
  };
  const go = async (): Promise<void> => {
    if (!ready()) return;
    doing = true;
    draw();
    const what = wanted();
    const key = keys.get(what) ?? crypto.getRandomValues(new Uint32Array(4)).reduce((text, n) => text + n.toString(16).padStart(8, "0"), "");
    try {
      const sent = body(false);
      const response = await ask<Answer>(deed.method ?? "POST", deed.url, sent, { ...deed.headers, "Idempotency-Key": key });
      doing = false;
      dialog.close();
      if (!deed.quiet) tell(deed, response.body, answer);
      deed.done?.(response.body, sent, key);
    } catch (error) {
      doing = false;
      consent = false; // it was to another refusal
      if (lost(error)) keys.set(what, key);
      answer = null;
      refuse(error, key);
    }
  };
  const ready = (): boolean => !!answer && !doing && answer.left?.length !== 0 && (!deed.typed || typed === deed.typed) && !(answer.jobs && !answer.jobs.some((j) => j.outcome));

  const draw = (): void => {
    const fails = problem;
    const lacks = answer || fails ? "" : deed.lacks?.();
    patch(
      dialog,
      h(
        "form",
        { method: "dialog", onsubmit: (event: SubmitEvent) => { event.preventDefault(); void go(); } },
        h("h2", { id: "deed-title" }, deed.danger && mark("warn"), deed.title),
        h("p", { class: "does" }, deed.does),
        deed.fields?.(again),
        h("section", { class: "plan", "aria-live": "polite", "aria-busy": answer || fails || lacks ? null : "true", tabindex: "0", "aria-label": "What will happen" },
          h("h3", null, "What will happen"),
          beside() && list("Beware", ["No answer came before: what was asked for may have been done. This is done besides."], "warn"),
          answer ? planned(answer, deed.zone) : fails ? refusal(fails) : lacks ? h("p", { class: "muted" }, lacks) : h("p", { class: "waiting" }, "Asking for a dry run…")),
        fails?.forcible && h("label", { key: "force", class: "check" }, h("input", { type: "checkbox", checked: consent, onchange: (e: Event) => { consent = (e.target as HTMLInputElement).checked; void look(); } }), "I have read this, and want it all the same"),
        fails && !fails.forcible && h("button", { key: "again", type: "button", onclick: () => void look() }, "Look again"),
        deed.typed && h("label", { key: "typed", class: "field" }, h("span", null, "To confirm, type ", h("code", null, deed.typed)), h("input", { autocomplete: "off", spellcheck: "false", value: typed, oninput: (e: Event) => { typed = (e.target as HTMLInputElement).value; draw(); } })),
        h("label", { key: "reason", class: "field" }, h("span", null, "Reason ", h("small", null, "goes into the audit log")), h("input", { name: "reason", maxlength: "1000", autocomplete: "off", value: reason, oninput: (e: Event) => { reason = (e.target as HTMLInputElement).value; } })),
        h("footer", { key: "footer" },
          h("button", { type: "button", class: "cancel", "aria-disabled": doing ? "true" : null, onclick: () => doing || dialog.close() }, "Cancel"),
          h("button", { type: "submit", class: deed.danger ? "danger filled" : "primary", "aria-disabled": ready() ? null : "true" }, doing ? "Doing it…" : deed.button)),
      ),
    );
  };

  dialog.oncancel = (event) => {
    if (doing) event.preventDefault(); // what is under way is not called off
  };
  dialog.onclose = () => {
    dialog.remove();
    opener?.focus();
  };
  draw();
  dialog.showModal();
  (dialog.querySelector<HTMLElement>("fieldset input, .deed-field") ?? find("input[name=reason]", dialog)).focus();
  void look();
}

/** tell says what came of it. Jobs that stayed as they were, as the plan had said, are no failure. */
function tell(deed: Deed, answer: Answer, shown: Answer | null): void {
  const left = answer.jobs?.filter((j) => j.problem) ?? [];
  const planned = new Set(shown?.jobs?.filter((j) => j.outcome).map((j) => j.job));
  const failed = left.filter((j) => planned.has(j.job));
  const did = (answer.jobs?.length ?? 0) - left.length;
  const open = answer.unconfirmed ?? answer.jobs?.find((j) => j.outcome?.unconfirmed)?.outcome?.unconfirmed;
  if (failed.length > 0) {
    note([`${deed.title}: ${many(did, "job")} done, ${many(failed.length, "job was", "jobs were")} ${failed.every((j) => (j.problem?.status ?? 0) < 500) ? "refused" : "refused or not reached"}. `, `${failed[0].job}: ${failed[0].problem?.detail ?? failed[0].problem?.title ?? ""}`], true);
  } else if (open) note(`${deed.title}: it is written down, and the job was not seen to follow yet: ${[answer.progress?.text, open].filter(Boolean).join(": ")}.`, true);
  else if (left.length > 0) note(`${deed.title}: ${many(did, "job")} done, ${count(left.length)} stayed as ${left.length === 1 ? "it was" : "they were"}.`);
  else note(`Done: ${deed.title}.`);
}

function refusal(p: ProblemBody): Child {
  return h("div", { class: "refusal", role: "alert" }, h("p", null, mark("bad"), p.detail ?? p.title ?? "It was refused."), p.diff && p.diff.length > 0 && changes(p.diff));
}

/** SHOWN bounds what a dialog lists; the rest is counted. */
const SHOWN = 12;

function planned(answer: Answer, zone = ""): Child {
  if (answer.left) return answer.left.length === 0 ? h("p", null, "Nothing runs.") : [again(answer, zone), list(`${many(answer.left.length, "fire runs", "fires run")}, one after another`, answer.left.map((t) => inZone(t, zone)), "")];
  if (!answer.jobs) return answer.plan ? [plan(answer.plan, zone), answer.words && h("p", null, `It fires ${phrase(answer.words)}.`)] : null;
  const will = answer.jobs.filter((j) => j.outcome);
  const not = answer.jobs.filter((j) => j.problem);
  return [
    answer.differences && answer.differences.length > 0 && h("ul", { class: "differences" }, answer.differences.map((d) => h("li", null, d))),
    h("p", null, h("strong", null, many(will.length, "job")), will.length === 0 ? " would be changed." : `: ${names(will)}.`),
    will.some((j) => (j.outcome?.plan.warnings ?? []).length > 0) && list("Beware", will.flatMap((j) => (j.outcome?.plan.warnings ?? []).map((w) => `${j.job}: ${w}`)), "warn"),
    not.length > 0 && list(`${many(not.length, "job stays as it is", "jobs stay as they are")}`, not.map((j) => `${j.job}: ${j.problem?.why || j.problem?.detail || j.problem?.title || ""}`), "off"),
    will.length === 1 && will[0].outcome ? plan(will[0].outcome.plan, zone) : null,
  ];
}

/** again warns of a backfill, as of fires that may have run already. */
function again({ left, may_have_run: ran, warnings = [] }: Answer, zone: string): Child {
  if (left && ran?.fires) warnings = [`${count(ran.fires)} of the ${many(left.length, "fire")} may have run already, those up to ${inZone(ran.last, zone)}: what has run is run again.`, ...warnings];
  return warnings.length > 0 && list("Beware", warnings, "warn");
}

function names(jobs: JobOutcome[]): string {
  const some = jobs.slice(0, SHOWN).map((j) => j.job).join(", ");
  return jobs.length > SHOWN ? `${some} and ${jobs.length - SHOWN} more` : some;
}

export function plan(p: Plan, zone: string): Child {
  const nothing = !p.changes?.length && !p.moves?.length && !p.warnings?.length && !p.notes?.length;
  return [
    p.warnings && p.warnings.length > 0 && list("Beware", p.warnings, "warn"),
    p.changes && p.changes.length > 0 && changes(p.changes),
    p.moves && p.moves.length > 0 && list(`${many(p.moves.length, "item moves", "items move")}`, p.moves.map((m) => `item ${m.item}: ${m.from ?? "nobody"} → ${m.to ?? "nobody"}`), ""),
    p.notes && p.notes.length > 0 && list("At the moment", p.notes, ""),
    p.next && p.next.length > 0 && list("Next fires", p.next.map((t) => inZone(t, zone)), ""),
    nothing && h("p", null, "Nothing else changes."),
  ];
}

function list(title: string, lines: string[], look: string): Child {
  return h("div", { class: `lines ${look}` }, h("h4", null, look && mark(look), title), h("ul", null, lines.slice(0, SHOWN).map((l) => h("li", null, l)), lines.length > SHOWN && h("li", null, `and ${lines.length - SHOWN} more`)));
}

export function changes(all: Change[]): Child {
  return h("dl", { class: "changes" }, all.map((c) => h("div", null,
    h("dt", null, c.what),
    h("dd", null, c.before !== "" && h("del", null, h("span", { class: "sign" }, "− "), c.before), c.after !== "" && h("ins", null, h("span", { class: "sign" }, "+ "), c.after)))));
}

/** button makes one that opens the dialog of an operation: the dots say that it asks first. */
export function button(label: string, deed: () => Deed, more: Record<string, unknown> = {}): Child {
  const danger = more.danger === true;
  const { danger: _, ...props } = more;
  return h("button", { type: "button", class: danger ? "danger" : "", ...props, onclick: () => operate(deed()) }, danger && mark("warn"), `${label}…`);
}

