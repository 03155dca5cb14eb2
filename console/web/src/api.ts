// Asks the server. What it refuses is a Problem, in its own words.
import { page } from "./page";
import type { Plan } from "./types";

export interface ProblemBody {
  title?: string;
  status?: number;
  detail?: string;
  cause?: string;
  field?: string;
  position?: number;
  forcible?: boolean;
  diff?: { what: string; before: string; after: string }[];
  plan?: Plan;
  [more: string]: unknown;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly body: ProblemBody,
  ) {
    super(body.detail || body.title || `the server answered with status ${status}`);
  }
}

export interface Answer<T> {
  body: T;
  headers: Headers;
  status: number;
}

/** How long a request may take before the page gives up and says so. */
const PATIENCE = 30_000;

/** ask sends a request whose answer is JSON or, if it is to be of another kind, a text. */
export async function ask<T>(method: string, url: string, body?: unknown, headers: Record<string, string> = {}, kind = "json"): Promise<Answer<T>> {
  const may = method === "GET" || new URL(url).searchParams.has("dry-run") ? "" : ": what was asked for may have been done";
  const init: RequestInit = { method, headers: { Accept: `application/${kind}`, ...headers }, signal: AbortSignal.timeout(PATIENCE), cache: "no-store" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json", ...init.headers };
  }
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    const timeout = error instanceof DOMException && error.name === "TimeoutError";
    throw new Problem(0, { detail: (timeout ? "the server did not answer within 30 s" : "the server cannot be reached") + may });
  }
  if (response.status === 401) {
    const next = location.pathname + location.search;
    location.assign(`login?next=${encodeURIComponent(next)}`);
    throw new Problem(401, { detail: "the session has ended" });
  }
  const is = response.headers.get("Content-Type") ?? "";
  const json = is.includes("json");
  let parsed: unknown = {};
  try {
    parsed = json ? await response.json() : await response.text();
  } catch {
    if (response.ok) throw new Problem(0, { detail: `the answer was cut off${may}` });
  }
  if (response.ok && !is.includes(kind)) throw new Problem(0, { detail: "this is no answer of the console: a proxy before it may want a login" });
  if (!response.ok) throw new Problem(response.status, (json ? parsed : { detail: String(parsed).slice(0, 300) }) as ProblemBody);
  return { body: parsed as T, headers: response.headers, status: response.status };
}

/** get reads a resource of the namespace. Empty parameters are left out. */
export async function get<T>(path: (string | number)[], query: Record<string, string | number | undefined> = {}): Promise<T> {
  const url = new URL(page.api(...path));
  for (const name in query) if (query[name] !== undefined && query[name] !== "") url.searchParams.set(name, String(query[name]));
  return (await ask<T>("GET", url.href)).body;
}

/** lost tells of an error that it says nothing of whether something was done. */
export const lost = (error: unknown): boolean => error instanceof Problem && (error.status === 0 || error.status >= 500);

/** why is what a person is told of an error. */
export const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));
