// A list of any length in a scroller: only the rows that are to be seen exist.
export interface Range {
  from: number;
  to: number;
}

/** BEYOND is how many rows exist above and below what is to be seen, so that the keyboard can reach them. */
const BEYOND = 8;

export class Virtual {
  constructor(
    private readonly scroller: HTMLElement,
    private readonly changed: () => void,
  ) {
    scroller.addEventListener("scroll", changed, { passive: true });
    new ResizeObserver(changed).observe(scroller);
    scroller.addEventListener("keydown", (event) => this.#key(event));
  }

  get row(): number {
    return parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 40;
  }

  /** range tells which of n rows to draw. */
  range(n: number): Range {
    const first = Math.floor(this.scroller.scrollTop / this.row);
    const fit = Math.ceil(this.scroller.clientHeight / this.row);
    return { from: Math.max(0, Math.min(first, n - fit) - BEYOND), to: Math.min(n, first + fit + BEYOND) };
  }

  top(): void {
    this.scroller.scrollTop = 0;
    this.changed();
  }

  /** key moves the focus to the same control of the row above or below. */
  #key(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const at = event.target as HTMLElement;
    const row = at.closest("tr");
    if (!row || at.tagName === "SELECT") return;
    const next = (event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling) as HTMLElement | null;
    const same = at.matches("input") ? next?.querySelector<HTMLElement>("input") : next?.querySelector<HTMLElement>("a");
    if (!same) return;
    event.preventDefault();
    same.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }
}
