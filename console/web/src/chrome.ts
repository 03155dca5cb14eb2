// What every page has round it: whether it is live, what was done, the choice of a namespace, the way to a job.
import { ask, get, why } from "./api";
import { find, h, mark, patch, type Child } from "./draw";
import { clock } from "./format";
import { page } from "./page";
import { badge, shown } from "./status";
import { onState } from "./stream";
import type { JobRow } from "./types";

const NOTE = 8_000;
/** WHO is how often a page that is not live asks whether the session has ended, in ms. */
const WHO = 5_000;

export function furnish(): void {
  const live = document.querySelector("#live");
  if (live) showState(live);
  const namespaces = document.querySelector<HTMLSelectElement>("#namespace");
  if (namespaces) namespaces.onchange = () => {
    const to = `ns/${encodeURIComponent(namespaces.value)}/`;
    namespaces.value = page.namespace; // which it shows as long as the page does, and again after "back"
    location.assign(to);
  };
  // Enter that is held repeats: it would go on to what it has opened, and agree to a plan that nobody has read.
  addEventListener("keydown", (event) => {
    if (!event.repeat || event.key !== "Enter" || event.target instanceof HTMLTextAreaElement) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  const jump = document.querySelector<HTMLDialogElement>("#jump");
  if (jump) furnishJump(jump);
  kept((store) => {
    const text = store.getItem("elasticron.note");
    store.removeItem("elasticron.note");
    if (text) note(text);
  });
}

/** showState says whether the page is live. A page that does not follow the stream is of the moment it was opened. */
function showState(live: Element): void {
  const banner = find("#banner");
  let asking: ReturnType<typeof setInterval> | undefined;
  // If the session has ended, this leads to the login.
  let open = false;
  const who = (): void => {
    if (document.hidden || open) return;
    open = true;
    void ask("GET", "api/v1/me").catch(() => {}).finally(() => (open = false));
  };
  onState((state) => {
    const stale = state.told && !state.live;
    document.documentElement.classList.toggle("stale", stale);
    banner.hidden = !stale;
    const words = state.live ? "live" : stale ? "not live" : "connecting";
    patch(live, mark(state.live ? "ok" : "off"), words);
    clearInterval(asking);
    live.className = `live ${state.live ? "on" : "off"}`;
    if (stale) {
      who(); // and again, as a server that has just started knows the session no more
      asking = setInterval(who, WHO);
      patch(banner, mark("warn"), h("span", null, h("strong", null, state.asOf ? `As of ${clock(state.asOf)}, not connected: ` : "Not connected: "), `${state.why}. It goes on by itself.`));
    }
  });
}

/** note says for some seconds what was done, or why not. */
export function note(text: Child, bad = false): void {
  const shelf = find("#notes");
  const slip = document.createElement("div");
  slip.className = bad ? "note bad" : "note";
  shelf.append(slip);
  const away = (): void => slip.remove();
  patch(slip, mark(bad ? "bad" : "ok"), h("span", { class: "text" }, text), h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: away }, "✕"));
  if (!bad) setTimeout(away, NOTE);
}

/** goOn opens another page of the console, which says what was done here. */
export function goOn(to: string, text: string): void {
  kept((store) => store.setItem("elasticron.note", text));
  location.assign(to);
}

/** kept does something with what the browser keeps between pages; one that keeps nothing goes on without a word. */
function kept(does: (store: Storage) => void): void {
  try {
    does(sessionStorage);
  } catch {}
}

/** failed says where something should stand why it does not. */
export function failed(where: Element, error: unknown): void {
  where.removeAttribute("aria-busy");
  patch(where, h("p", { class: "empty bad", role: "alert" }, mark("bad"), why(error)));
}

/** pattern makes one of what a person typed into a filter: a part of the name will do. */
export const pattern = (typed: string): string => (typed === "" || /[*?[\\]/.test(typed) ? typed : `*${typed}*`);

/** furnishJump makes Ctrl+K, or the button, open the way to a job by a part of its name. */
function furnishJump(dialog: HTMLDialogElement): void {
  const input = find<HTMLInputElement>("input", dialog);
  const list = find("ul", dialog);
  let turn = 0;
  let waits = false; // for the answer to what is typed
  let going = false; // to the first job of an answer that is not there yet
  const search = async (): Promise<void> => {
    const mine = ++turn;
    going = false;
    waits = true;
    let rows: JobRow[] = [];
    let empty = "No job has such a name.";
    try {
      rows = (await get<{ jobs: JobRow[] }>(["jobs"], { match: pattern(input.value.trim()), limit: 8 })).jobs;
    } catch (error) {
      empty = why(error);
    }
    if (mine !== turn) return;
    waits = false;
    patch(list, rows.map((row) => h("li", { key: row.job }, h("a", { href: page.link("jobs", row.job) }, h("span", { class: "name" }, row.job), badge(shown(row))))), rows.length === 0 && h("li", { class: "empty" }, empty));
    if (going && dialog.open) list.querySelector("a")?.click();
  };
  const open = (): void => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void search();
  };
  input.oninput = () => void search();
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // beside it; no value, as false would stop links
  };
  dialog.onkeydown = (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    going = event.key === "Enter" && at < 0 && waits;
    if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? links[at - 1] : input).focus();
    else if (event.key === "Enter" && at < 0) going || links[0]?.click();
    else return;
    event.preventDefault();
  };
  addEventListener("pagehide", () => dialog.close()); // or it is open after "back"
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      open();
    }
  });
  const button = document.querySelector<HTMLElement>("#jump-open");
  if (button) button.onclick = open;
}
