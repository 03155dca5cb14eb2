// The geometry of a timeline: which lanes there are, and where on them something lies. No document, no clock.
import type { ItemRow, Span } from "./types";

export interface Placed {
  key: string;
  span: Span;
  begin: number; // in ms
  end: number; // Infinity while it runs
  row: number; // within its lane, as several items may run at once on an instance
}

export interface Lane {
  key: string;
  label: string;
  owner: string; // who has it now: an instance, or a text for one
  rows: number;
  placed: Placed[]; // by begin
}

/** MAX_ROWS bounds how many spans of a lane stand above each other. */
const MAX_ROWS = 6;

export const keyOf = (s: Span): string => `${s.item}|${s.begin}|${s.instance}`;

/** endOf is when a span ends, for the eye: one that was cut off does not go on. */
export function endOf(s: Span): number {
  if (s.end) return Date.parse(s.end);
  if (s.cut) return Date.parse(s.cut);
  return s.outcome === "running" ? Infinity : Date.parse(s.begin);
}

/** lanes sorts spans into a lane for each item or each instance, in their order. */
export function lanes(spans: Iterable<Span>, items: ItemRow[], instances: string[], by: "item" | "instance"): Lane[] {
  const all = new Map<string, Lane>();
  if (by === "item") for (const it of items) all.set(String(it.item), { key: String(it.item), label: `Item ${it.item}`, owner: it.owner ?? "", rows: 1, placed: [] });
  else for (const id of instances) all.set(id, { key: id, label: serverOf(id), owner: id, rows: 1, placed: [] });
  for (const span of spans) {
    const key = by === "item" ? String(span.item) : span.instance;
    let lane = all.get(key);
    if (!lane) all.set(key, (lane = { key, label: by === "item" ? `Item ${key}` : serverOf(key), owner: by === "item" ? "" : key, rows: 1, placed: [] }));
    lane.placed.push({ key: keyOf(span), span, begin: Date.parse(span.begin), end: endOf(span), row: 0 });
  }
  for (const lane of all.values()) {
    lane.placed.sort((a, b) => a.begin - b.begin || a.span.item - b.span.item);
    if (by === "instance") stack(lane);
  }
  return [...all.values()];
}

/** stack gives each span the first row that is free when it begins. */
function stack(lane: Lane): void {
  const free: number[] = [];
  for (const p of lane.placed) {
    let row = free.findIndex((until) => until <= p.begin);
    if (row < 0) row = free.length < MAX_ROWS ? free.length : MAX_ROWS - 1;
    free[row] = Math.max(p.end, p.begin + 1);
    p.row = row;
  }
  lane.rows = Math.max(1, free.length);
}

/** serverOf is the address in the id of an instance, 10.0.0.1@-@7-a, which is what people know it by. */
export const serverOf = (instance: string): string => instance.split("@-@")[0];

/** briefly is as much of an instance's id as tells it from the others: its server, the rest, or both. */
export function briefly(instance: string, among: string[]): string {
  const server = serverOf(instance);
  const rest = instance.slice(server.length + 3);
  const neighbours = among.filter((id) => serverOf(id) === server).length;
  if (rest === "" || neighbours < 2) return server;
  return neighbours === among.length ? rest : `${server} · ${rest}`;
}

export const within = (lane: Lane, from: number, to: number): Placed[] => lane.placed.filter((p) => p.begin < to && Math.max(p.end, p.begin) > from);

/** WORST orders outcomes by how much they matter, the worst first: of several in one place it is the one to see. */
const WORST = ["lost", "failure", "interrupted", "running", "unknown", "success"];

export interface Bar {
  from: number; // columns
  to: number;
  outcome: string;
}

/** bars says what to draw where spans lie too close for a shape each: runs of columns, each with its worst outcome. */
export function bars(placed: Placed[], from: number, perColumn: number, columns: number, now: number): Bar[] {
  const worst = new Array<number>(columns).fill(WORST.length);
  for (const p of placed) {
    const first = Math.max(0, Math.floor((p.begin - from) / perColumn));
    const last = Math.min(columns - 1, Math.floor((Math.min(p.end, now) - from) / perColumn));
    const rank = WORST.indexOf(p.span.outcome);
    for (let c = first; c <= last; c++) worst[c] = Math.min(worst[c], rank < 0 ? WORST.indexOf("unknown") : rank);
  }
  const all: Bar[] = [];
  for (let c = 0; c < columns; c++) {
    if (worst[c] === WORST.length) continue;
    const outcome = WORST[worst[c]];
    const last = all[all.length - 1];
    if (last && last.to === c && last.outcome === outcome) last.to = c + 1;
    else all.push({ from: c, to: c + 1, outcome });
  }
  return all;
}

export interface Handover {
  from: Placed;
  to: Placed;
}

/** handovers pairs each execution that failover began with the one that was cut short, wherever that lies. */
export function handovers(all: Lane[]): Handover[] {
  const byItem = new Map<number, Placed[]>();
  for (const lane of all) for (const p of lane.placed) byItem.set(p.span.item, [...(byItem.get(p.span.item) ?? []), p]);
  const found: Handover[] = [];
  for (const placed of byItem.values()) {
    placed.sort((a, b) => a.begin - b.begin);
    placed.forEach((p, i) => {
      if (!p.span.failover && p.span.source !== "failover") return;
      const before = placed.slice(0, i).reverse().find((b) => b.span.instance !== p.span.instance || b.span.outcome !== "success");
      if (before) found.push({ from: before, to: p });
    });
  }
  return found;
}

/** STEPS are the distances of the axis' ticks. */
const STEPS = [10, 30, 60, 120, 300, 600, 900, 1800, 3600].map((s) => s * 1_000);

/** step is the distance of ticks so that about n lie on a stretch of time. */
export const step = (stretch: number, n: number): number => STEPS.find((s) => stretch / s <= n) ?? STEPS[STEPS.length - 1];
