// The page's side of the stream: what it wants, what it hears, and whether what it shows is live.
import { Hub, type Message, type Want } from "./hub";
import { page } from "./page";

export type Heard = (topic: string, frame: unknown) => void;

/** A page that nobody sees for so long lets go of the stream. */
const HIDDEN = 30_000;
/** What a page hears something within while it is live, and while it is not and the stream waits before it is opened anew, in ms. */
const SILENCE = [15_000, 45_000] as const;

let wanted: Want | null = null;
let holds = false; // the stream is asked for what is wanted
let heard: Heard = () => {};
let send: ((want: Want | null) => void) | undefined;
let hiding: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;
let serverThere = false;
let trouble = ""; // why it is not
let told = false; // whether the server is there
let registryThere = true;
let asOf = "";
let skew = 0; // how far the server's clock is ahead of the browser's, in ms
const watchers: ((state: StreamState) => void)[] = [];

export interface StreamState {
  live: boolean;
  told: boolean; // it has been live, or has failed to be
  why: string; // why it is not live
  asOf: string; // the last moment of which something is known
}

/** follow wants topics, in place of those that the page wanted before. A page that wants none is as it is. */
export function follow(topics: string[], tell: Heard): void {
  heard = tell;
  want({ url: page.events, topics, window: [] });
  if (topics.length === 0) changed(() => {});
}

/** look tells which jobs of the list are to be seen. */
export function look(jobs: string[]): void {
  if (wanted && wanted.window.join("\n") !== jobs.join("\n")) want({ ...wanted, window: jobs });
}

/** now is the time by the server's clock, so that what it shows lies where it belongs. */
export const now = (): number => Date.now() + skew;

/** known is the time of which what is shown tells: now or, while the page is not live, the last moment that it has heard of. */
export const known = (): number => (state().live || !asOf ? now() : Math.min(now(), Date.parse(asOf)));

/** onState tells at once, and whenever it changes, whether what is shown is live. */
export function onState(tell: (state: StreamState) => void): void {
  watchers.push(tell);
  tell(state());
}

function state(): StreamState {
  const why = wanted?.topics.length === 0 ? "" : !serverThere ? trouble || "no connection to the server" : !registryThere ? "the server has no connection to the registry" : "";
  told ||= why === "";
  return { live: why === "", told, why, asOf };
}

function want(what: Want): void {
  wanted = what;
  send ??= begin();
  if (!document.hidden) hold();
}

function hold(): void {
  holds = true;
  send?.(wanted);
  listen();
}

/** letGo gives the stream up, and with it that what is shown is live: who comes back sees that until there is news. */
function letGo(): void {
  holds = false;
  serverThere = false;
  trouble = "";
  clearTimeout(silence);
  send?.(null);
}

/** listen takes a long silence for the end of the worker, and begins another. It lives in the process of one of the pages, and dies
 * with that without a word; or it never came to be. */
function listen(): void {
  clearTimeout(silence);
  if (wanted?.topics.length) silence = setTimeout(() => {
    told = true;
    changed(letGo);
    send = connect();
    hold();
  }, serverThere ? SILENCE[0] : SILENCE[1]);
}

function begin(): (want: Want | null) => void {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => changed(letGo), HIDDEN);
    else hold();
  });
  addEventListener("pagehide", letGo); // silently: a request of the banner would keep the page from being kept
  addEventListener("pageshow", (event) => event.persisted && changed(hold));
  return connect();
}

function connect(): (want: Want | null) => void {
  if (typeof SharedWorker === "undefined") {
    const hub = new Hub();
    return (w) => hub.want(receive, w);
  }
  const { port } = new SharedWorker(page.worker, { name: "elasticron" });
  port.onmessage = (event: MessageEvent<Message>) => receive(event.data);
  return (w) => port.postMessage({ kind: "want", want: w } satisfies Message);
}

function receive(message: Message): void {
  if (!holds) return; // it was under way
  if (message.kind === "state") {
    const { live, why = "" } = message;
    if (live !== serverThere || why !== trouble || !told) changed(() => ([serverThere, trouble, told] = [live, why, true]));
  } else if (message.kind === "frame") {
    const frame = JSON.parse(message.data || "{}") as { as_of?: string; now?: string };
    if (frame.as_of) asOf = frame.as_of;
    if (frame.now) skew = Date.parse(frame.now) - Date.now();
    if (message.topic === "disconnected") changed(() => (registryThere = false));
    else if (message.topic === "connected" || message.topic === "alive") {
      if (!registryThere) changed(() => (registryThere = true)); // who comes after the healing hears only alive
    }
    else heard(message.topic, frame);
  }
  listen();
}

function changed(change: () => void): void {
  change();
  watchers.forEach((tell) => tell(state()));
}
