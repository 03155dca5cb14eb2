// The last runs of a job, a stroke each: they differ in height and shape, and in colour besides.
import { h, type Child } from "./draw";

/** STROKES tells of each kind of run its look, its words and what is drawn. */
const STROKES: Record<string, [string, string, string]> = {
  s: ["ok", "ok", "v-8"],
  f: ["bad", "failed", "v-16"],
  i: ["warn", "interrupted", "v-5m0 -3v-6"],
  r: ["run", "running", "v-2m0 -2v-2m0 -2v-2"],
  u: ["idle", "unknown", "v-3"],
};
const MOST = 20;
const WIDE = 6;

export function strip(runs: string): Child {
  if (runs === "") return h("span", { class: "muted", title: "none that the server has seen" }, "–");
  const kinds = Object.entries(STROKES).filter(([letter]) => runs.includes(letter));
  const words = kinds.map(([letter, [, word]]) => `${runs.split(letter).length - 1} ${word}`).join(", ");
  return h("svg", { class: "strip", viewBox: `0 0 ${MOST * WIDE} 18`, role: "img", "aria-label": `last runs: ${words}` },
    h("title", null, `${words}; the newest on the right`),
    kinds.map(([letter, [look, , stroke]]) => h("path", { key: letter, class: look, d: [...runs].map((r, i) => (r === letter ? `M${(MOST - runs.length + i) * WIDE + WIDE / 2} 17${stroke}` : "")).join("") })));
}
