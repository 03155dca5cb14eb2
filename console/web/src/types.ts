// The shapes of the API: rows are those of package operate.

export interface Reason {
  word: string;
  text: string;
}
export interface Execution {
  job: string;
  item: number;
  instance: string;
  source: string;
  fire?: string;
  begin: string;
  end?: string;
  outcome: string;
  token?: number;
  round?: string;
  error?: string;
}
export interface JobRow {
  job: string;
  status: string;
  reasons?: Reason[];
  description?: string;
  class?: string;
  type?: string;
  cron?: string;
  time_zone?: string;
  items: number;
  running_items: number;
  waiting_items: number;
  overdue_items: number;
  disabled_items: number;
  instances: number;
  leader?: string;
  disabled: boolean; // as a whole, whatever the status
  next?: string;
  overdue_since?: string;
  recorded: boolean;
  last?: Execution;
  runs?: string; // how the last ones went, the oldest first: s, f, i, r or u each
  revision: number;
}
export interface ItemRow {
  job: string;
  item: number;
  status: string;
  reasons?: Reason[];
  owner?: string;
  server?: string;
  failover: boolean;
  last_fire?: string;
  overdue_since?: string;
  counts: { success: number; failure: number; interrupted: number; lost: number };
  last?: Execution;
}
export interface InstanceRow {
  instance: string;
  server: string;
  status: string;
  reasons?: Reason[];
  java: boolean;
  jobs: string[];
  leads?: string[];
  items: number;
  running_items: number;
}
export interface ServerRow {
  server: string;
  status: string;
  reasons?: Reason[];
  instances?: string[];
  jobs: string[];
  disabled_jobs?: string[];
}
export interface Change {
  what: string;
  before: string;
  after: string;
}
export interface Plan {
  verb: string;
  job: string;
  target?: string;
  state: number;
  config: number;
  changes?: Change[];
  moves?: { item: number; from?: string; to?: string }[];
  next?: string[];
  warnings?: string[];
  notes?: string[];
}
export interface Operation {
  job: string;
  id: string;
  verb: string;
  target?: string;
  who: string;
  how?: string;
  when: string;
  reason?: string;
  changed?: string;
  before?: string;
  rollsBack?: boolean;
}
export interface Span {
  item: number;
  instance: string;
  begin: string;
  end?: string;
  outcome: string;
  cut?: string;
  source?: string;
  fire?: string;
  token?: number;
  round?: string;
  error?: string;
  failover?: boolean;
  history?: boolean;
}
export interface Gap {
  from: string;
  to: string;
  item?: number;
}
export interface Entry {
  at: string;
  kind: string;
  item?: number;
  from?: string;
  to?: string;
  fires?: number;
  by?: string;
  text: string;
}
export interface JobFrame {
  full?: boolean;
  revision: number;
  as_of: string;
  gone?: boolean;
  row?: JobRow;
  items?: ItemRow[];
  total: number;
  instances?: InstanceRow[];
  spans?: Span[];
  from: string;
  gaps?: Gap[];
  next_fires?: string[];
  log?: Entry[];
}
export interface JobsFrame {
  full?: boolean;
  revision: number;
  as_of: string;
  rows: JobRow[];
  gone?: string[];
}
export interface OutsideChange {
  job: string;
  what: string;
  revision: number;
}
export interface Overview {
  as_of: string;
  jobs: number;
  counts: Record<string, number>;
  needs: { job: string; word: string; reasons: Reason[]; since?: string; failures?: number; last?: Execution }[];
  needs_more?: number;
  runs: { minute: string; runs: number; failed: number; uncertain?: boolean }[]; // uncertain: nobody followed for a part of it
  upcoming: number[];
  upcoming_from: string;
  instances: number;
  leaders: { instance: string; jobs: number }[];
  leaderless: number;
  outside: OutsideChange[];
  outside_more?: number;
}
export interface Progress {
  done: boolean;
  overtaken?: boolean; // somebody did something else meanwhile
  ready: number;
  of: number;
  text: string;
  items?: { item: number; state: string; instance?: string; took?: number; error?: string }[];
}
export interface Outcome {
  operation?: Operation;
  plan: Plan;
  words?: string;
  revision?: number;
  progress?: Progress;
  unconfirmed?: string;
}
export interface JobOutcome {
  job: string;
  outcome?: Outcome;
  problem?: { title: string; status?: number; detail?: string; why?: string; cause?: string };
}
