// A job's timeline, alive: a lane for each item or instance, time from left to right, now near the right edge and the
// next fires beyond it. Shapes are drawn when something changes; between two changes the drawing only slides.
import { h, patch, type Child } from "./draw";
import { clock, span as lasting } from "./format";
import { badge, wordOf } from "./status";
import { now as clockNow } from "./stream";
import { bars, briefly, handovers, lanes, step, within, type Lane, type Placed } from "./timeline";
import type { Entry, Gap, ItemRow, Span } from "./types";

export interface Picture {
  spans: Map<string, Span>;
  items: ItemRow[];
  instances: string[];
  leader: string;
  gaps: Gap[];
  log: Entry[];
  next: string[];
  from: number; // what is older is not known
  moved: Map<number, number>; // items that have just changed hands, and when
}

export interface View {
  stretch: number; // ms of the past
  by: "item" | "instance";
  paused: boolean;
}

/** FUTURE is the share of the width that lies beyond now. */
const FUTURE = 0.12;
/** CROWD is the number of visible spans from which on each lane is one bar. */
const CROWD = 1_000;
const COLUMN = 2; // px
const ROW = 18; // px for one span of a lane
const GAP = 8; // px between lanes
const BAR = 12; // px height of a span
const EDGE = 6; // px between the edge and the marks of a span that is half out of view
/** KEYS move between the spans. */
const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);
/** Lanes far beyond what is to be seen are not drawn. */
const MARGIN = 400; // px
/** NEAR is how near to what is not drawn somebody may scroll before it is. */
const NEAR = 100; // px

export class Lanes extends HTMLElement {
  #picture: Picture = { spans: new Map(), items: [], instances: [], leader: "", gaps: [], log: [], next: [], from: 0, moved: new Map() };
  private view: View = { stretch: 600_000, by: "item", paused: false };
  #all: Lane[] = [];
  private visible: Placed[] = [];
  #width = 0;
  #base = 0; // the time that lies at the left edge while the drawing has not slid
  #frozen = 0; // while nothing is known, or the drawing pauses: the time that is now
  #blind = 0; // since when nothing is known; 0: the page is live
  #dirty = true;
  #drawnAt = 0;
  #drawnFrom = 0; // which part of the height is drawn, in px
  #drawnTo = 0;
  #current = ""; // the span that the keyboard is on
  #frame = 0;
  #slid = NaN;
  #tip: HTMLElement | null = null;

  connectedCallback(): void {
    new ResizeObserver(() => {
      this.#dirty = true;
    }).observe(this);
    this.addEventListener("scroll", () => (this.#dirty ||= this.scrollTop - NEAR < this.#drawnFrom || this.scrollTop + this.clientHeight + NEAR > this.#drawnTo), { passive: true });
    this.addEventListener("pointerover", (e) => this.point(e.target as Element));
    this.addEventListener("pointerleave", () => this.#hideTip());
    this.addEventListener("focusin", (e) => this.point(e.target as Element));
    this.addEventListener("focusout", () => this.#hideTip());
    this.addEventListener("keydown", (e) => this.#key(e));
    const loop = (): void => {
      this.#frame = requestAnimationFrame(loop);
      this.#tick();
    };
    this.#frame = requestAnimationFrame(loop);
  }

  disconnectedCallback(): void {
    cancelAnimationFrame(this.#frame);
  }

  show(picture: Picture, view: View): void {
    if (view.paused && !this.view.paused) this.#frozen = this.now();
    this.#picture = picture;
    this.view = { ...view }; // the page changes its own
    this.#all = lanes(picture.spans.values(), picture.items, picture.instances, view.by);
    this.#dirty = true;
  }

  /** blindSince says from when on nothing is known; 0 is that the page is live. */
  blindSince(time: number): void {
    this.#blind = time;
    this.#dirty = true;
  }

  private now(): number {
    return this.view.paused && this.#frozen ? this.#frozen : clockNow();
  }

  get #perPixel(): number {
    return this.view.stretch / (this.#width * (1 - FUTURE));
  }

  /** tick slides the drawing, and draws anew if something changed or it is a second old. */
  #tick(): void {
    const now = this.now();
    if (this.#dirty || now - this.#drawnAt > 1_000) return this.draw(now);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const dx = -(now - this.#drawnAt) / this.#perPixel;
    if (still || Math.abs(dx - this.#slid) < 0.25) return;
    this.#slid = dx;
    this.querySelector(".slides")?.setAttribute("transform", `translate(${dx.toFixed(2)} 0)`);
  }

  private draw(now: number): void {
    const plot = this.clientWidth - this.#labelWidth();
    if (plot <= 40) return;
    this.#width = plot;
    this.#dirty = false;
    this.#drawnAt = now;
    this.#slid = 0;
    this.#base = now - this.view.stretch;
    const to = this.#base + this.#width * this.#perPixel;
    const known = this.#blind ? Math.min(this.#blind, now) : now;

    let top = 0;
    const tops = this.#all.map((lane) => {
      const at = top;
      top += lane.rows * ROW + GAP;
      return at;
    });
    this.#drawnFrom = this.scrollTop - MARGIN;
    this.#drawnTo = this.scrollTop + this.clientHeight + MARGIN;
    const seen = (i: number): boolean => tops[i] + this.#all[i].rows * ROW + GAP > this.#drawnFrom && tops[i] < this.#drawnTo;
    const placed = this.#all.map((lane) => within(lane, this.#base, now));
    const total = placed.reduce((n, p) => n + p.length, 0);
    const crowded = total > CROWD;
    this.visible = crowded ? [] : placed.flat();
    if (!this.visible.some((p) => p.key === this.#current)) this.#current = this.visible[this.visible.length - 1]?.key ?? "";

    const drawn = this.#all.map((lane, i) => ({ lane, top: tops[i], placed: placed[i] })).filter((_, i) => seen(i));
    patch(
      this,
      h("div", { class: "labels", style: { height: `${top}px` } }, drawn.map((d) => this.#label(d.lane, d.top))),
      h("svg", { class: "plot", width: this.#width, height: Math.max(top, ROW), role: "group", "aria-label": crowded ? `${total} executions, one bar for each lane` : `${total} executions; the arrow keys move between them` },
        h("defs", null, h("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, h("rect", { width: 8, height: 8, class: "hatch-back" }), h("line", { x1: 0, y1: 0, x2: 0, y2: 8, class: "hatch-line" }))),
        drawn.map((d, i) => h("rect", { key: `stripe${d.lane.key}`, class: i % 2 ? "stripe odd" : "stripe", x: 0, y: d.top, width: this.#width, height: d.lane.rows * ROW + GAP })),
        h("g", { class: "slides", transform: "translate(0 0)" },
          this.#gaps(known, now, top, drawn),
          this.#ticks(now, top),
          crowded ? drawn.map((d) => this.#bar(d.lane, d.placed, d.top, now)) : [this.#handover(drawn), drawn.map((d) => h("g", { key: d.lane.key }, d.placed.map((p) => this.#shape(p, d.top, known)), this.#changes(d.lane, d.placed, d.top)))],
          this.#misfires(drawn),
          this.#nextFires(now, to, top)),
        h("line", { class: "now", x1: this.#x(now), x2: this.#x(now), y1: 0, y2: top })),
      h("div", { class: "axis", "aria-hidden": "true" }, this.#axis(now, to)),
    );
  }

  #labelWidth(): number {
    return parseFloat(getComputedStyle(this).getPropertyValue("--labels")) || 120;
  }

  #x(time: number): number {
    return Math.round(((time - this.#base) / this.#perPixel) * 10) / 10;
  }

  #label(lane: Lane, top: number): Child {
    const owner = lane.owner && this.view.by === "item" ? briefly(lane.owner, this.#picture.instances) : "";
    const id = this.view.by === "instance" ? briefly(lane.key, this.#picture.instances) : lane.label;
    const gone = this.view.by === "instance" && !this.#picture.instances.includes(lane.key);
    return h("div", { key: lane.key, class: `label${gone ? " gone" : ""}`, style: { top: `${top}px`, height: `${lane.rows * ROW + GAP}px` }, title: lane.owner || null },
      h("span", { class: "what" }, id, lane.owner && lane.owner === this.#picture.leader && this.view.by === "instance" && h("span", { class: "star", role: "img", "aria-label": "leader" }, " ★"), gone && h("small", null, " gone")),
      this.view.by === "item" && h("span", { key: lane.owner, class: `owner${owner ? "" : " none"}${this.#picture.moved.has(Number(lane.key)) ? " took" : ""}` }, owner || "nobody"));
  }

  #shape(p: Placed, top: number, known: number): Child {
    const s = p.span;
    const runs = p.end === Infinity;
    const x = this.#x(Math.max(p.begin, this.#base - 10_000));
    const wide = Math.max(3, this.#x(runs ? known : p.end) - x);
    const y = top + GAP / 2 + p.row * ROW + (ROW - BAR) / 2;
    // A span that began before what is shown has its marks where it comes into sight.
    const seen = Math.min(Math.max(x, 0), x + wide);
    const mark = x < 0 ? Math.min(EDGE, x + wide) : x;
    const rerun = s.failover || s.source === "failover";
    return h("g", { key: p.key, class: `span ${s.outcome}${s.cut && s.outcome === "running" ? " cut" : ""}${this.#blind && runs ? " unsure" : ""}`, "data-key": p.key, tabindex: p.key === this.#current ? 0 : -1, role: "img", "aria-label": spoken(s) },
      h("path", { class: "body", d: outline(s.outcome, x, y, wide) }),
      s.outcome === "failure" && h("path", { class: wide < 10 ? "sign alone" : "sign", d: cross(seen + Math.min((x + wide - seen) / 2, 8), y + BAR / 2, wide < 10 ? 4 : 3) }),
      rerun && h("path", { class: "rerun", d: diamond(mark, y + BAR / 2, 5) }),
      s.source === "misfire" && h("path", { class: "late", d: `M${mark - 3} ${y - 4}h6l-3 5z` }),
      s.source === "manual" && h("circle", { class: "manual", cx: mark + 1.5, cy: y - 2, r: 2 }));
  }

  #bar(lane: Lane, placed: Placed[], top: number, now: number): Child {
    const columns = Math.floor(this.#x(now) / COLUMN);
    const all = bars(placed, this.#base, this.#perPixel * COLUMN, columns, now);
    const paths = new Map<string, string>();
    for (const b of all) {
      const y = top + GAP / 2 + (b.outcome === "success" ? 4 : b.outcome === "running" ? 2 : 0);
      const high = lane.rows * ROW - (b.outcome === "success" ? 8 : b.outcome === "running" ? 4 : 0);
      paths.set(b.outcome, `${paths.get(b.outcome) ?? ""}M${b.from * COLUMN} ${y}h${(b.to - b.from) * COLUMN}v${high}h${-(b.to - b.from) * COLUMN}z`);
    }
    const bad = placed.filter((p) => p.span.outcome === "failure" || p.span.outcome === "lost").length;
    return h("g", { key: lane.key, class: "crowd", role: "img", tabindex: 0, "aria-label": `${lane.label}: ${placed.length} executions, ${bad} failed or lost` }, [...paths].map(([outcome, d]) => h("path", { key: outcome, class: `body ${outcome}`, d })));
  }

  /** changes marks where an item went to another instance. */
  #changes(lane: Lane, placed: Placed[], top: number): Child {
    if (this.view.by !== "item") return null;
    return placed.map((p, i) => {
      const before = placed[i - 1];
      if (!before || before.span.instance === p.span.instance) return null;
      const x = this.#x(p.begin) - 3;
      return h("g", { key: `moved${p.key}`, class: "moved" }, h("line", { x1: x, x2: x, y1: top + 1, y2: top + lane.rows * ROW + GAP - 1 }), h("title", null, `from ${before.span.instance} to ${p.span.instance}`));
    });
  }

  #handover(drawn: { lane: Lane; top: number; placed: Placed[] }[]): Child {
    const middle = new Map<Placed, number>();
    for (const d of drawn) for (const p of d.placed) middle.set(p, d.top + GAP / 2 + p.row * ROW + ROW / 2);
    return handovers(drawn.map((d) => ({ ...d.lane, placed: d.placed }))).map(({ from, to }) => {
      const [y1, y2] = [middle.get(from) ?? 0, middle.get(to) ?? 0];
      const [x1, x2] = [this.#x(Math.min(Math.max(from.end === Infinity ? to.begin : from.end, from.begin), to.begin)), this.#x(to.begin)];
      const bend = Math.max(14, (x2 - x1) / 2);
      const d = y1 === y2 ? `M${x1} ${y1 - 6}Q${(x1 + x2) / 2} ${y1 - 12} ${x2} ${y2 - 6}` : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 5} ${y2}`;
      return h("path", { key: `hand${to.key}`, class: "handover", d });
    });
  }

  #misfires(drawn: { lane: Lane; top: number }[]): Child {
    return this.#picture.log.filter((e) => e.kind === "misfire" && Date.parse(e.at) > this.#base).map((e) => {
      const d = this.view.by === "item" ? drawn.find((d) => d.lane.key === String(e.item)) : drawn[0];
      if (!d) return null;
      const [x, y] = [this.#x(Date.parse(e.at)), d.top + 2];
      return h("g", { key: `misfire${e.at}${e.item}`, class: "misfire" }, h("path", { d: `M${x - 5} ${y}h10l-5 8z` }), (e.fires ?? 0) > 1 && h("text", { x: x + 7, y: y + 8 }, e.fires), h("title", null, e.text));
    });
  }

  #gaps(known: number, now: number, height: number, drawn: { lane: Lane; top: number }[]): Child {
    const all: { from: number; to: number; item?: number }[] = this.#picture.gaps.map((g) => ({ from: Date.parse(g.from), to: Date.parse(g.to), item: g.item }));
    if (this.#picture.from > this.#base) all.push({ from: this.#base - 60_000, to: this.#picture.from });
    if (known < now) all.push({ from: known, to: now + 2_000 });
    return all.filter((g) => g.to > this.#base && g.from < now).map((g, i) => {
      const lane = g.item === undefined ? null : drawn.find((d) => this.view.by === "item" && d.lane.key === String(g.item));
      if (g.item !== undefined && !lane) return null;
      const x = this.#x(Math.max(g.from, this.#base - 60_000));
      return h("rect", { key: `gap${i}`, class: "gap", fill: "url(#hatch)", x, y: lane ? lane.top : 0, width: Math.max(1, this.#x(g.to) - x), height: lane ? lane.lane.rows * ROW + GAP : height }, h("title", null, `Nothing is known from ${clock(g.from)} to ${clock(g.to)}`));
    });
  }

  #ticks(now: number, height: number): Child {
    return this.#moments(now).map((t) => h("line", { key: `tick${t}`, class: "tick", x1: this.#x(t), x2: this.#x(t), y1: 0, y2: height }));
  }

  #moments(now: number): number[] {
    const every = step(this.view.stretch, Math.max(2, this.#width / 130));
    const all: number[] = [];
    for (let t = Math.ceil(this.#base / every) * every; t < now; t += every) all.push(t);
    return all;
  }

  #nextFires(now: number, to: number, height: number): Child {
    return this.#picture.next.map((f) => Date.parse(f)).filter((t) => t > now && t < to).map((t) => h("line", { key: `next${t}`, class: "next", x1: this.#x(t), x2: this.#x(t), y1: 0, y2: height }));
  }

  #axis(now: number, to: number): Child {
    const x = this.#x(now);
    const next = this.#picture.next.map((f) => Date.parse(f)).find((t) => t > now);
    const at = (key: string, left: number, text: string, look = ""): Child => h("span", { key, class: look, style: { left: `${left}px` } }, text);
    return [
      this.#moments(now).filter((t) => x - this.#x(t) > 50 && this.#x(t) > 18).map((t) => at(`t${t}`, this.#x(t), clock(t, this.view.stretch < 300_000))),
      at("now", x, "now", "here"),
      next && next < to && this.#x(next) - x > 42 && this.#width - this.#x(next) > 24 ? at("next", this.#x(next), clock(next), "soon") : null,
    ];
  }

  /** key moves between the spans as the eye would: along a lane, and to what lies nearest in the next one. */
  #key(event: KeyboardEvent): void {
    if (!KEYS.has(event.key) || !(event.target as Element).classList.contains("span")) return;
    this.draw(this.now()); // the lanes may have changed since they were drawn last
    const here = this.visible.findIndex((p) => p.key === this.#current);
    if (here < 0) return;
    const p = this.visible[here];
    const laneOf = (q: Placed): number => this.#all.findIndex((l) => l.placed.includes(q));
    const lane = laneOf(p);
    const same = this.visible.filter((q) => this.#all[lane].placed.includes(q));
    const at = same.indexOf(p);
    let to: Placed | undefined;
    if (event.key === "ArrowLeft") to = same[at - 1];
    else if (event.key === "ArrowRight") to = same[at + 1];
    else if (event.key === "Home") to = same[0];
    else if (event.key === "End") to = same[same.length - 1];
    else {
      const step = event.key === "ArrowUp" ? -1 : 1;
      for (let l = lane + step; l >= 0 && l < this.#all.length && !to; l += step) {
        const others = this.visible.filter((q) => this.#all[l].placed.includes(q));
        to = others.sort((a, b) => Math.abs(a.begin - p.begin) - Math.abs(b.begin - p.begin))[0];
      }
    }
    event.preventDefault();
    if (!to) return;
    this.#current = to.key;
    this.draw(this.now());
    this.element(to.key)?.focus();
  }

  private element(key: string): SVGElement | null {
    return this.querySelector<SVGElement>(`[data-key="${CSS.escape(key)}"]`);
  }

  private point(target: Element): void {
    const shape = target.closest<SVGElement>(".span");
    const key = shape?.dataset.key ?? "";
    const p = this.visible.find((v) => v.key === key);
    if (!shape || !p) return this.#hideTip();
    if (document.activeElement === shape) this.#current = key;
    this.#showTip(shape, p.span);
  }

  #showTip(shape: Element, s: Span): void {
    if (!this.#tip) {
      this.#tip = document.createElement("div");
      this.#tip.className = "tip";
      this.#tip.popover = "manual";
      this.after(this.#tip);
    }
    patch(this.#tip, told(s));
    this.#tip.showPopover();
    const box = (shape.querySelector(".body") ?? shape).getBoundingClientRect();
    const own = this.#tip.getBoundingClientRect();
    const edge = this.querySelector(".plot")!.getBoundingClientRect().left; // what lies before it is not to be seen
    const left = Math.min(Math.max(8, Math.max(box.left, edge) - 8), innerWidth - own.width - 8);
    const below = box.bottom + 8 + own.height < innerHeight;
    this.#tip.style.setProperty("left", `${left}px`);
    this.#tip.style.setProperty("top", `${below ? box.bottom + 8 : box.top - own.height - 8}px`);
  }

  #hideTip(): void {
    this.#tip?.hidePopover();
  }
}

/** outline gives each outcome a shape of its own: full, tall with a cross, half as high, torn, or an arrow that goes on. */
function outline(outcome: string, x: number, y: number, wide: number): string {
  const [r, b] = [x + wide, y + BAR];
  if (outcome === "running") {
    const tip = Math.min(6, wide);
    return `M${x} ${y}H${r - tip}L${r} ${y + BAR / 2}L${r - tip} ${b}H${x}z`;
  }
  if (outcome === "lost") return `M${x} ${y}H${r}l-3 3l3 3l-3 3l3 3H${x}z`;
  if (outcome === "interrupted") return `M${x} ${y + 3}H${r}V${b - 3}H${x}z`;
  if (outcome === "failure" && wide < 10) return `M${r} ${y}H${x}V${b}H${r}z`; // the cross stands for it
  if (outcome === "failure") return `M${x} ${y - 2}H${r}V${b + 2}H${x}z`;
  const c = Math.min(3, wide / 2);
  return `M${x + c} ${y}H${r - c}q${c} 0 ${c} ${c}V${b - c}q0 ${c} ${-c} ${c}H${x + c}q${-c} 0 ${-c} ${-c}V${y + c}q0 ${-c} ${c} ${-c}z`;
}

const cross = (x: number, y: number, r: number): string => `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
const diamond = (x: number, y: number, r: number): string => `M${x - r} ${y}l${r} ${-r}l${r} ${r}l${-r} ${r}z`;

const why = (s: Span): string => (s.failover ? "failover" : (s.source ?? ""));

function spoken(s: Span): string {
  const runs = s.outcome === "running" && !s.cut;
  const parts = [`item ${s.item}`, s.cut ? "cut off" : wordOf(s.outcome), `on ${s.instance}`, s.fire && `fire ${clock(s.fire)}`, `started ${clock(s.begin)}`, !runs && s.end && `took ${lasting(Date.parse(s.end) - Date.parse(s.begin))}`, why(s) !== "scheduled" && why(s), s.token && `token ${s.token}`, s.round && `round ${s.round}`, s.error && `error: ${s.error}`];
  return parts.filter(Boolean).join(", ");
}

function told(s: Span): Child {
  const line = (name: string, value: Child): Child => value !== "" && value !== undefined && [h("dt", null, name), h("dd", null, value)];
  return [
    h("p", null, h("strong", null, `Item ${s.item}`), " ", badge(s.outcome), s.cut && h("small", null, " its instance is gone")),
    h("dl", null,
      line("Fire", s.fire ? clock(s.fire) : "by hand"),
      line("Started", clock(s.begin)),
      line("Took", s.end ? lasting(Date.parse(s.end) - Date.parse(s.begin)) : s.cut ? "not known" : `${lasting(clockNow() - Date.parse(s.begin))} so far`),
      line("Why", why(s)),
      line("Instance", s.instance),
      line("Token", s.token ? String(s.token) : ""),
      line("Round", s.round ?? ""),
      line("Error", s.error ? h("span", { class: "error" }, s.error) : "")),
  ];
}

customElements.define("job-lanes", Lanes);
