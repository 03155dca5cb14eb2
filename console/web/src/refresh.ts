// Lists that have no topic of their own: asked for now, and again as long as somebody looks.
import { why } from "./api";
import { failed } from "./chrome";
import { find, h, mark, patch } from "./draw";
import { clock } from "./format";

const AGAIN = 5_000;

/** ordered is for answers that may overtake each other: called with each question, it gives what is called with its answer, and
 * tells whether this is to be shown, as none of a later question is. */
export function ordered(): () => () => boolean {
  let last = 0;
  let shown = 0;
  return () => {
    const mine = ++last;
    return () => mine >= shown && !!(shown = mine);
  };
}

/** asOf says of which moment an answer is, and whether it may be told that it is of now. */
export function asOf(answer: unknown): void {
  const of = document.querySelector("#as-of");
  const { connected, as_of } = answer as { connected?: boolean; as_of?: string };
  const at = clock(as_of ?? new Date().toISOString());
  if (of) patch(of, connected !== false ? `as of ${at}` : h("span", { class: "bad" }, mark("warn"), `as of ${at}, the server has no connection to the registry`));
}

/** refresh draws what read answers, now and every five seconds; it returns a function that does so at once. Why there is no first
 * answer stands in the element of unread. */
export function refresh<T>(where: string, read: () => Promise<T>, draw: (answer: T) => void, unread = where): () => Promise<void> {
  const region = find(where);
  const of = document.querySelector("#as-of");
  let seen = false;
  const asks = ordered();
  let open = 0; // how many are not answered
  const once = async (): Promise<void> => {
    const newest = asks();
    open++;
    try {
      const answer = await read();
      if (!newest()) return;
      seen = true;
      region.removeAttribute("aria-busy");
      if (unread !== where) patch(find(unread));
      draw(answer);
      asOf(answer);
    } catch (error) {
      if (!newest()) return;
      if (!seen) failed(find(unread), error);
      else if (of) patch(of, h("span", { class: "bad" }, mark("warn"), `not live: ${why(error)}`));
    } finally {
      open--;
    }
  };
  void once();
  setInterval(() => !document.hidden && open === 0 && void once(), AGAIN);
  return once;
}
