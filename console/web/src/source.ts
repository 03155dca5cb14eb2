// Reads a stream of server-sent events that is asked for by a body: an EventSource can only GET, and the names of all
// jobs that are to be seen do not fit into every proxy's idea of an address.

export interface Ears {
  open: () => void;
  frame: (event: string, data: string) => void;
  /** bytes have come: a large frame takes its time. */
  bytes: () => void;
  /** lost: it was cut off, and comes back by itself; or it was refused, for a reason, and does not. */
  lost: (refused: string) => void;
}

/** What a stream that was cut off waits before it asks again, unless the server says otherwise, in ms. */
const RETRY = 1_000;

export class Source {
  readonly #over = new AbortController();
  #last = "";
  #retry = RETRY;

  constructor(
    private readonly url: string,
    private readonly body: string,
    private readonly ears: Ears,
  ) {
    void this.#run();
  }

  close(): void {
    this.#over.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      let refused = "";
      try {
        const headers: Record<string, string> = { "Content-Type": "application/json", Accept: "text/event-stream" };
        if (this.#last) headers["Last-Event-ID"] = this.#last;
        const response = await fetch(this.url, { method: "POST", body: this.body, headers, signal, cache: "no-store" });
        if (response.body && response.ok && /event-stream/.test(response.headers.get("Content-Type") ?? "")) {
          this.ears.open();
          await this.#read(response.body);
        } else {
          refused = `the answer is ${response.status}, and no stream`;
          refused = ((await response.json()) as { detail?: string }).detail || refused;
        }
      } catch {
        // It was cut off, or never came to be.
      }
      if (signal.aborted) return;
      this.ears.lost(refused);
      if (refused) return;
      await new Promise((wake) => setTimeout(wake, this.#retry));
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    // Of a frame that has not ended the parts are kept, so that each is looked through once.
    for (let parts: string[] = []; ; ) {
      const { done, value } = await reader.read();
      if (done || this.#over.signal.aborted) return;
      this.ears.bytes();
      let text = decoder.decode(value, { stream: true });
      if (text.startsWith("\n") && parts.at(-1)?.endsWith("\n")) text = parts.pop() + text; // the end of a frame, cut in two
      const frames = text.split("\n\n");
      const rest = frames.pop();
      for (const frame of frames) {
        this.#take(parts.join("") + frame);
        parts = [];
      }
      if (rest) parts.push(rest);
    }
  }

  #take(frame: string): void {
    let event = "";
    let data = "";
    for (const line of frame.split("\n")) {
      const value = line.slice(line.indexOf(": ") + 2);
      if (line.startsWith("event: ")) event = value;
      else if (line.startsWith("data: ")) data = value;
      else if (line.startsWith("id: ")) this.#last = value;
      else if (line.startsWith("retry: ")) this.#retry = Number(value) || RETRY;
    }
    if (event) this.ears.frame(event, data);
  }
}
