// The messages of the page's server, as internal/explain/dashboard sends them.

export type State = "ready" | "in-progress" | "not-ready" | "deleting";

export interface Obj {
  uid: string;
  kind: string;
  resource: string; // with its group, such as deployments.apps
  namespace?: string;
  name: string;
  owners?: string[];
  state: State;
  text?: string;
  created: string;
}

export interface Cluster {
  context: string;
  server: string;
  version?: string;
  recorded: boolean;
  unrecorded?: string;
}

export interface Ref {
  kind: string;
  namespace?: string;
  name: string;
}

export interface Cause {
  object: Ref;
  reason: string;
  message: string;
  container?: string;
  probe?: string;
  next?: string;
  log?: string[] | null;
}

export interface Answer {
  object: Ref;
  resource?: string;
  state: string;
  causes: Cause[] | null;
  waiting?: string;
  tree: { object: Ref; state: string; text?: string; depth: number }[] | null;
  more?: number;
  references: { object: Ref; by: Ref; field: string; missing?: boolean }[] | null;
  unrecorded?: string;
  unknown: string[] | null;
}

export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

export interface RecordObject {
  group?: string;
  resource: string;
  namespace?: string;
  name?: string;
  kind?: string;
  uid?: string;
}

export interface Entry {
  seq: number;
  at: string;
  kind: "write" | "refusal" | "event" | "marker" | "gap" | "request" | "delivery" | "line";
  object?: RecordObject;
  by?: { user?: string; agent?: string; manager?: string; verb?: string; subresource?: string; unknown?: boolean };
  type?: string;
  changes?: Change[];
  moreChanges?: number;
  idle?: boolean;
  unread?: string;
  keys?: string[];
  decisions?: { plugin: string; effect: string; text?: string }[];
  status?: number;
  latencyMs?: number;
  path?: string;
  reason?: string;
  message?: string;
  count?: number;
  missed?: number;
  operator?: string;
  level?: string;
  controller?: string;
  reconcile?: string; // ID of the one that it belongs to
  inferred?: boolean; // only by time and object
  logged?: string;
  who?: string;
  text?: string; // of a line, in short
}

export interface EntryPage {
  entries: Entry[] | null;
  next?: number;
  searchedTo?: string;
}

export interface ControllerWork {
  operator: string;
  user?: string;
  controller: string;
  reconciles: number;
  perMinute: number;
  medianMs?: number;
  p95Ms?: number;
  longestMs?: number;
  results?: Record<string, number>;
  errors: number;
  newest?: string;
  kinds?: Tally[] | null; // of errors
}

export interface Tally {
  what: string;
  times: number;
}

export interface OperatorWork {
  user: string;
  woken: Tally[] | null;
  reads: Tally[] | null;
  writes: Tally[] | null;
  idle: Tally[] | null;
  conflicts: Tally[] | null;
  refused: Tally[] | null;
  cached?: Tally[] | null;
  restless: { object: Ref; times: number; fields: string[] | null }[] | null;
}

export interface Reconcile {
  id: string;
  operator: string;
  user?: string;
  controller?: string;
  object?: Ref;
  began: string;
  ended?: string;
  tookMs?: number;
  result?: "" | "success" | "error" | "requeue" | "requeue after";
  error?: string;
  requests: number;
  writes: number;
  lines: number;
  inferred: boolean;
  woken?: string;
}

export interface Reconciles {
  since: string;
  controllers: ControllerWork[] | null;
  operators: OperatorWork[] | null;
  reconciles: Reconcile[] | null;
}

export interface OneReconcile {
  reconcile: Reconcile;
  entries: Entry[] | null;
}
