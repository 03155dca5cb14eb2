// Follows a trigger until its items have answered: it asks again under the same id, which does nothing twice.
import { ask, Problem, why } from "./api";
import { note } from "./chrome";
import { h } from "./draw";
import type { Outcome } from "./types";

/** TIMES is how often it is asked again, for up to 3 s each. */
const TIMES = 100;

export async function acknowledge(url: string, body: Record<string, unknown>, id: string, heard: (text: string, done: boolean) => void): Promise<void> {
  const address = new URL(url);
  address.searchParams.set("wait", "3s");
  for (let i = 0; i < TIMES; i++) {
    try {
      const answer = (await ask<Outcome>("POST", address.href, body, { "Idempotency-Key": id })).body;
      const p = answer.progress;
      if (!p) return;
      const of = p.of > 0 ? `${p.ready} of ${p.of} items` : "";
      heard([of, p.text].filter(Boolean).join(": "), p.done);
      if (p.done) {
        const failed = (p.items ?? []).filter((it) => it.state !== "ok" && it.state !== "ran");
        note(failed.length > 0 ? h("span", null, `Trigger answered: ${p.text}. `, failed.slice(0, 3).map((it) => `Item ${it.item}: ${it.state}${it.error ? `, ${it.error}` : ""}. `)) : `Trigger answered: ${p.text || of}.`, failed.some((it) => it.state === "failed" || it.state === "lost"));
        return;
      }
    } catch (error) {
      heard(error instanceof Problem ? error.message : why(error), true);
      return;
    }
  }
}
