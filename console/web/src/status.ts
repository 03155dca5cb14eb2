// What statuses, reasons and outcomes look like: each has a word, a shape and a colour, so that no colour stands alone.
import { h, mark, type Child } from "./draw";
import type { Reason } from "./types";

export type Look = "ok" | "run" | "idle" | "off" | "warn" | "bad";

const LOOKS: Record<string, [Look, string]> = {
  OK: ["ok", "OK"],
  RUNNING: ["run", "Running"],
  PENDING: ["idle", "Idle"],
  DISABLED: ["off", "Disabled"],
  CRASHED: ["bad", "No instance"],
  SHARDING_FLAG: ["warn", "Resharding"],
  PAUSED: ["bad", "Paused"],
  NO_LEADER: ["warn", "No leader"],
  REMOVING: ["off", "Removing"],
  MOVING: ["off", "Moving"],
  NO_INSTANCE: ["bad", "No instance"],
  JOB_DISABLED: ["off", "Disabled"],
  SERVERS_DISABLED: ["off", "Servers disabled"],
  LEAVING: ["off", "Leaving"],
  ITEM_DISABLED: ["off", "Disabled"],
  UNASSIGNED: ["warn", "No owner"],
  OWNER_GONE: ["warn", "Owner gone"],
  OVERDUE: ["warn", "Overdue"],
  WAITING: ["warn", "Waiting"],
  GAVE_UP: ["bad", "Gave up"],
  UNREADABLE: ["bad", "Unreadable"],
  SURPLUS: ["off", "Surplus"],
  FAILING: ["bad", "Failing"],
  success: ["ok", "ok"],
  running: ["run", "running"],
  failure: ["bad", "failed"],
  interrupted: ["warn", "interrupted"],
  lost: ["bad", "lost"],
  unknown: ["idle", "unknown"],
  "not started": ["idle", "not started"],
  failover: ["warn", "Failover"],
  misfire: ["warn", "Misfire"],
  moved: ["idle", "Moved"],
  leader: ["idle", "Leader"],
  joined: ["ok", "Joined"],
  left: ["warn", "Left"],
  operation: ["idle", "Operation"],
};

export const lookOf = (word: string): Look => LOOKS[word]?.[0] ?? "idle";
export const wordOf = (word: string): string => LOOKS[word]?.[1] ?? word;

/** badge shows a word with its shape; what is said of it beyond the word is its title. */
export function badge(word: string, title = ""): Child {
  return h("span", { class: `badge ${lookOf(word)}`, title: title || null }, mark(lookOf(word)), wordOf(word));
}

/** shown is the word that the list of the command line shows, too: the status or, of what is fine, the first reason. */
export function shown(row: { status: string; reasons?: Reason[] }): string {
  const fine = row.status === "OK" || row.status === "PENDING";
  return fine && row.reasons?.[0] ? row.reasons[0].word : row.status;
}

export const because = (row: { reasons?: Reason[] }): string => (row.reasons ?? []).map((r) => r.text).join("; ");
