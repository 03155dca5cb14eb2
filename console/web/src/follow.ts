// Follows what takes longer than an answer: a trigger until its items have answered, a backfill until its last fire
// has run. It asks again under the same id, which does nothing twice.
import { ask, get, lost, Problem, why } from "./api";
import { note } from "./chrome";
import { h, type Child } from "./draw";
import { many, moment } from "./format";
import type { Outcome } from "./types";

export interface Backfill {
  left: string[]; // the fires that have not run, ascending
  done?: Outcome[];
  disabled?: number[]; // items that did not run for some of the fires until now, kept by this page
  under_way?: Outcome;
  unconfirmed?: string;
  failed?: string;
}

/** TIMES is how often it is asked again, for up to 3 s each. */
const TIMES = 100;
/** ERRORS is how many requests in a row may fail, RETRY how long it waits after one, in ms. */
const ERRORS = 20;
const RETRY = 3_000;

/** FAILED are the states of items that should have run and did not, or not well. */
const FAILED = ["failed", "interrupted", "lost", "replaced", "late"];

const passing = (error: unknown): boolean => lost(error) || (error as Problem).status === 429;

export async function acknowledge(url: string, body: Record<string, unknown>, id: string, heard: (text: string, done: boolean) => void): Promise<void> {
  const address = `${url}?wait=3s&again=true`; // never once more, even if the job has forgotten the id
  for (let i = 0, errors = 0; i < TIMES; i++) {
    try {
      const answer = (await ask<Outcome>("POST", address, body, { "Idempotency-Key": id })).body;
      const p = answer.progress;
      errors = 0;
      if (!p || p.overtaken) {
        heard("", true);
        return note(`The trigger is not followed any more: ${p?.text ?? "nothing is known of it"}. The items below show how far it is.`, true);
      }
      heard(p.of > 0 ? `${p.ready} of ${p.of} ${p.text}` : p.text, p.done);
      if (p.done) {
        const all = p.items ?? [];
        const bad = all.filter((it) => it.state !== "ok" && it.state !== "ran");
        const words = all.length > 0 ? `${all.length - bad.length} of ${many(all.length, "item")} ok` : p.text;
        note(bad.length > 0 ? h("span", null, `Trigger answered: ${words}. `, bad.slice(0, 3).map((it) => `Item ${it.item}: ${it.state}${it.error ? `, ${it.error}` : ""}. `)) : `Trigger answered: ${words}.`, bad.some((it) => FAILED.includes(it.state)));
        return;
      }
    } catch (error) {
      if (passing(error) && ++errors < ERRORS) {
        await new Promise((wake) => setTimeout(wake, RETRY));
        continue;
      }
      heard("", true);
      note(`How the trigger goes on is not known: ${why(error)}. The items below show how far it is.`, true);
      return;
    }
  }
  heard("", true);
  note("The trigger goes on, and this page waits for its answer no longer: the items below show how far it is.");
}

/** drive has the rest of a backfill run: the server runs its fires only while somebody asks for them. heard is told how
 * far it is, at the end nothing, or why it stopped, with buttons that go on. The job remembers some operations only, so
 * what may have begun is asked for as such: the server refuses it once the job has forgotten, and a person decides. unsure
 * tells that a request before was not answered. */
export async function drive(url: string, body: Record<string, unknown>, key: string, answer: Backfill, heard: (text: Child) => void, unsure = false): Promise<void> {
  const stay = (event: Event): void => event.preventDefault();
  const go = (label: string, from: Backfill, open = false): Child =>
    [h("button", { type: "button", class: "small", onclick: () => void drive(url, body, key, from, heard, open) }, label), " "];
  const stopped = (reason: Child, ways: Child): void =>
    heard([h("span", { class: "bad" }, "Past fires: ", reason, " "), ways, h("button", { type: "button", class: "small quiet", onclick: () => heard(null) }, "Leave it")]);
  const unknown = (): void => {
    const left = answer.left;
    delete body.may_have_run; // who goes on agrees to whatever has run
    stopped([`whether the fire of ${moment(left[0])} has run is not known, as the job has forgotten it over later operations: look at its history. Nothing more is run.`],
      [left.length > 1 && go("Go on behind it", { left: left.slice(1) }), go("Run it again", { left })]);
  };
  const disabled = new Set(answer.disabled);
  const count = (): void => answer.done?.forEach((o) => o.progress?.items?.forEach((it) => it.state === "disabled" && disabled.add(it.item)));
  count();
  addEventListener("beforeunload", stay);
  try {
    for (let errors = 0; answer.left.length > 0; ) {
      const rest = `${many(answer.left.length, "fire")} left, from ${moment(answer.left[0])} on`;
      const progress = answer.under_way?.progress;
      const halt = (reason: string): void => stopped(`${reason}. Nothing more is run: ${rest}.`, go("Go on with the rest", { left: answer.left, disabled: [...disabled], under_way: answer.failed ? undefined : answer.under_way }, unsure));
      if (answer.failed || progress?.overtaken) return halt(answer.failed || `${progress?.text}: ${answer.unconfirmed}`);
      heard(`Past fires: ${rest}${progress?.text ? ` (${progress.text})` : ""}. Keep this page open, it drives them.`);
      try {
        let begun = !!answer.under_way;
        if (unsure && !begun) {
          const known = (await get<{ operations: { target?: string }[] }>(["operations", key])).operations[0];
          if (!known) return unknown();
          begun = Date.parse(known.target?.slice("fire ".length) ?? "") >= Date.parse(answer.left[0]);
        }
        answer = (await ask<Backfill>("POST", begun ? `${url}?again=true` : url, { ...body, fires: answer.left }, { "Idempotency-Key": key })).body;
        count();
        errors = 0;
        unsure = false;
      } catch (error) {
        if (error instanceof Problem && error.body.cause === "overtaken") return unknown();
        unsure ||= passing(error);
        if (!passing(error) || ++errors >= ERRORS) return halt(why(error));
        await new Promise((wake) => setTimeout(wake, RETRY));
      }
    }
    heard(null);
    note(answer.failed ? `Past fires have run, and not all went well: ${answer.failed}` : `Done: all past fires ${answer.done?.[0]?.progress?.text.endsWith("not recorded") ? "are asked for" : "have run"}${disabled.size > 0 ? `, but for ${disabled.size === 1 ? "item" : "items"} ${[...disabled].join(", ")}, disabled` : ""}.`, !!answer.failed);
  } finally {
    removeEventListener("beforeunload", stay);
  }
}
