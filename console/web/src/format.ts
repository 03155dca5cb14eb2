// How times, durations, counts and words are written for people.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** span writes a duration with the two units that matter: 850 ms, 1.2 s, 4 min 10 s, 3 h 5 min, 2 d 4 h. */
export function span(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  const two = (big: number, small: number, names: [string, string]): string => {
    const whole = Math.floor(ms / big);
    const rest = Math.floor((ms - whole * big) / small);
    return rest > 0 && whole < 20 ? `${whole} ${names[0]} ${rest} ${names[1]}` : `${whole} ${names[0]}`;
  };
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return two(MINUTE, SECOND, ["min", "s"]);
  if (ms < DAY) return two(HOUR, MINUTE, ["h", "min"]);
  return two(DAY, HOUR, ["d", "h"]);
}

/** ago writes a time as seen from now: 4 min ago, in 12 s, now. */
export function ago(time: string | undefined, now = Date.now()): string {
  if (!time) return "";
  const gone = now - Date.parse(time);
  if (Math.abs(gone) < SECOND) return "now";
  const rough = Math.abs(gone) >= HOUR ? Math.floor(Math.abs(gone) / MINUTE) * MINUTE : Math.floor(Math.abs(gone) / SECOND) * SECOND;
  const words = rough < 10 * SECOND ? `${rough / SECOND} s` : span(rough);
  return gone > 0 ? `${words} ago` : `in ${words}`;
}

const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const two = (n: number): string => String(n).padStart(2, "0");

/** clock writes the time of day, in 24 hours, in the zone of the browser. */
export function clock(time: string | number | undefined, seconds = true): string {
  if (time === undefined || time === "") return "";
  const d = new Date(time);
  return `${two(d.getHours())}:${two(d.getMinutes())}${seconds ? `:${two(d.getSeconds())}` : ""}`;
}

/** moment writes the day, unless it is today, and the time of day. */
export function moment(time: string | undefined): string {
  if (!time) return "";
  const d = new Date(time);
  return d.toDateString() === new Date().toDateString() ? clock(time) : `${day.format(d)}, ${clock(time)}`;
}

/** inZone writes a time as a clock in the zone shows it, with the difference to UTC. */
export function inZone(time: string, zone: string): string {
  try {
    return new Intl.DateTimeFormat(undefined, {
      timeZone: zone || "UTC", weekday: "short", year: "numeric", month: "short", day: "numeric",
      hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "shortOffset",
    }).format(new Date(time));
  } catch {
    return time; // a zone that the server knows and the browser does not
  }
}

export const took = (e: { begin: string; end?: string }, now = Date.now()): number => (e.end ? Date.parse(e.end) : now) - Date.parse(e.begin);

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;

const whole = new Intl.NumberFormat();
export const count = (n: number): string => whole.format(n);

/** phrase makes words of the server a part of a sentence: "Every 5 minutes." becomes "every 5 minutes". */
export const phrase = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1).replace(/\.$/, "");

export type Values = Record<string, unknown>;

/** parsed reads a JSON object; null is what is none. */
export function parsed(text: string): Values | null {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? (value as Values) : null;
  } catch {
    return null;
  }
}

/** pretty writes a JSON object in lines; what is none stays as it is. */
export const pretty = (text: string): string => (parsed(text) ? JSON.stringify(parsed(text), null, 2) : text);
