// The one stream of a browser: it holds one for each namespace that somebody looks at, with the topics of
// all pages that are to be seen, and hands every frame to the pages that asked for its topic. It runs in a
// SharedWorker, because HTTP/1.1 allows a host six connections; where there is none, in the page itself.
import { Source } from "./source";

export interface Want {
  url: string; // of the namespace's events
  topics: string[];
  window: string[]; // the jobs to be seen in a list
}

export type Message =
  | { kind: "want"; want: Want | null }
  | { kind: "frame"; topic: string; data: string }
  | { kind: "state"; live: boolean; why?: string };

type Tell = (message: Message) => void;

/** What a stream that is broken, and no more, waits before it is opened anew; it doubles up to the second. */
const AGAIN = [1_000, 30_000] as const;
/** The server says every 5 s that it is there; so much silence is a connection that is dead. */
const SILENCE = 12_000;
/** So many topics may a stream have. */
const TOPICS = 64;
/** What those hear that find no room, as often as the others hear anything: it is a sign of life, without which they would begin anew. */
const LEFT: Message = { kind: "state", live: false, why: "more pages are looked at than can be live" };

class Stream {
  #source: Source | null = null;
  #opened = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #pause: number = AGAIN[0];
  #fresh = false; // somebody waits for whole frames
  readonly #wants = new Map<Tell, Want>();
  readonly #served = new Set<Tell>(); // those for whom the stream was opened, so what it says is whole for them
  #left = new Set<Tell>(); // those that found no room

  constructor(private readonly url: string) {}

  want(tell: Tell, want: Want): void {
    const before = this.#wants.get(tell);
    this.#wants.delete(tell); // those that were seen last come last
    this.#wants.set(tell, want);
    this.#changed(!before || want.topics.some((t) => !before.topics.includes(t)));
  }

  forget(tell: Tell): void {
    this.#served.delete(tell);
    this.#left.delete(tell);
    if (this.#wants.delete(tell)) this.#changed(false);
  }

  /** changed opens the stream for what is wanted now. Somebody who is new needs whole frames, so it opens anew for
   * them even if the topics are the same. */
  #changed(fresh: boolean): void {
    this.#fresh ||= fresh;
    this.#openIn(this.#fresh ? 30 : 200); // pages that open, and one that scrolls, change it often
  }

  #openIn(pause: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), pause);
  }

  #open(): void {
    clearTimeout(this.#timer);
    const topics = new Set<string>();
    const window = new Set<string>();
    const left = new Set<Tell>();
    for (const [tell, want] of [...this.#wants].reverse()) {
      if (topics.size >= TOPICS && want.topics.some((t) => !topics.has(t))) {
        left.add(tell);
        continue;
      }
      want.topics.forEach((t) => topics.add(t));
      want.window.forEach((j) => window.add(j));
    }
    if (topics.size === 0) return this.#close();
    const asked = JSON.stringify({ topics: [...topics].sort(), window: [...window].slice(0, 200).sort() });
    if (asked === this.#opened && !this.#fresh && this.#source) return;
    this.#close();
    this.#opened = asked;
    for (const tell of this.#wants.keys()) this.#served.add(tell);
    this.#left = left;
    for (const tell of left) {
      this.#served.delete(tell);
      tell(LEFT);
    }
    this.#listen();
    this.#source = new Source(this.url, asked, {
      open: () => {
        this.#pause = AGAIN[0];
        this.#heard();
      },
      lost: (refused) => {
        this.#tell({ kind: "state", live: false, why: refused });
        if (!refused) return; // a cut one comes back by itself
        this.#source = null;
        this.#later();
      },
      bytes: () => this.#heard(),
      frame: (topic, data) => {
        const message: Message = { kind: "frame", topic, data };
        for (const [tell, want] of this.#wants) if (this.#served.has(tell) && (want.topics.includes(topic) || !topics.has(topic))) tell(message);
      },
    });
  }

  /** heard notes that the server is there. */
  #heard(): void {
    this.#tell({ kind: "state", live: true });
    this.#listen();
  }

  /** listen takes a long silence for a connection that is dead, or that never comes to be. */
  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#tell({ kind: "state", live: false, why: "no connection to the server, or a proxy holds back what it says" });
      this.#fresh = true;
      this.#open();
    }, SILENCE);
  }

  #later(): void {
    clearTimeout(this.#silence);
    this.#fresh = true;
    this.#openIn(this.#pause);
    this.#pause = Math.min(this.#pause * 2, AGAIN[1]);
  }

  #tell(message: Message): void {
    for (const tell of this.#served) tell(message);
    for (const tell of this.#left) tell(LEFT);
  }

  #close(): void {
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
    this.#opened = "";
    this.#fresh = false; // whatever opens next is whole
  }
}

export class Hub {
  readonly #streams = new Map<string, Stream>();

  /** want notes what somebody wants to hear; null is nothing any more. */
  want(tell: Tell, want: Want | null): void {
    for (const stream of this.#streams.values()) {
      if (this.#streams.get(want?.url ?? "") !== stream) stream.forget(tell);
    }
    if (!want) return;
    let stream = this.#streams.get(want.url);
    if (!stream) this.#streams.set(want.url, (stream = new Stream(want.url)));
    stream.want(tell, want);
  }
}
