import { useEffect, useRef, useState } from "preact/hooks";
import { get, query } from "./api";
import type { Entry, EntryPage } from "./contract";
import { interrupted, onEntries } from "./live";
import { fullResource } from "./route";
import { later } from "./slices";
import { useStore } from "./store";

// A Question is which entries of the record are asked for.
export interface Question {
  resource?: string;
  namespace?: string;
  name?: string;
  user?: string;
  kinds?: string; // with commas; all if empty
  refused?: boolean;
  debug?: boolean; // false leaves out lines for debugging
}

export interface Entries {
  entries: Entry[];
  waiting: number; // new ones that are held back
  searchedTo?: string;
  done: boolean; // there are no older ones
  loading: boolean;
  pages: number; // that were read
  error?: Error;
  older(): void;
  release(): void;
  again(): void;
}

// Entries that are kept at most; older ones can be asked for again.
const mostKept = 20_000;

// useEntries has the newest entries, pages in older ones, and lets new ones in as they come unless they are held.
export function useEntries(question: Question, held: boolean): Entries {
  const [, redraw] = useState(0);
  const broken = useStore(interrupted);
  const asked = JSON.stringify(question);
  const list = useRef<Reader>();
  const holding = useRef(held);
  holding.current = held;
  useEffect(() => {
    const reader = (list.current = new Reader(question, () => redraw((n) => n + 1), () => holding.current));
    const stop = onEntries((entries) => reader.live(entries));
    reader.older();
    return () => {
      stop();
      reader.close();
    };
  }, [asked, broken]);
  useEffect(() => {
    if (!held) list.current?.release();
  }, [held]);
  const reader = list.current;
  return {
    entries: reader?.entries ?? [],
    waiting: reader?.waiting.length ?? 0,
    searchedTo: reader?.searchedTo,
    done: reader?.done ?? false,
    loading: reader?.loading ?? true,
    pages: reader?.pages ?? 0,
    error: reader?.error,
    older: () => list.current?.older(),
    release: () => list.current?.release(),
    again: () => list.current?.again(),
  };
}

class Reader {
  entries: Entry[] = [];
  waiting: Entry[] = [];
  searchedTo: string | undefined;
  done = false;
  loading = false;
  pages = 0;
  error: Error | undefined;
  private next: number | undefined;
  private seen = new Set<number>();
  private connection = new AbortController();
  private show: () => void;

  constructor(
    private question: Question,
    redraw: () => void,
    private held: () => boolean,
  ) {
    this.show = later(100, () => {
      if (!this.connection.signal.aborted) redraw();
    });
  }

  close() {
    this.connection.abort();
  }

  again() {
    this.error = undefined;
    this.older();
  }

  async older() {
    if (this.loading || this.done || this.error) return;
    this.loading = true;
    this.show();
    try {
      const { debug: _, ...asked } = this.question;
      const page = await get<EntryPage>(query("/api/record", { ...asked, before: this.next, limit: 100 }), this.connection.signal);
      const fresh = (page.entries ?? []).filter((e) => isShown(this.question, e) && this.isNew(e));
      this.entries = this.entries.concat(fresh);
      this.next = page.next;
      this.searchedTo = page.searchedTo ?? this.searchedTo;
      this.pages++;
      this.done = !page.next || this.entries.length >= mostKept;
    } catch (e) {
      if (!this.connection.signal.aborted) this.error = e as Error;
    }
    this.loading = false;
    this.show();
  }

  live(entries: Entry[]) {
    const fresh = entries.filter((e) => matches(this.question, e) && this.isNew(e));
    if (fresh.length === 0) return;
    this.waiting.push(...fresh);
    if (this.waiting.length > mostKept) this.waiting = this.waiting.slice(-mostKept);
    if (!this.held()) this.release();
    else this.show();
  }

  release() {
    if (this.waiting.length === 0) return;
    const newest = this.waiting.sort((a, b) => b.seq - a.seq);
    this.entries = newest.concat(this.entries);
    this.waiting = [];
    if (this.entries.length > mostKept) this.entries.length = mostKept;
    this.seen = new Set(this.entries.map((e) => e.seq));
    this.show();
  }

  private isNew(e: Entry): boolean {
    if (!e.seq) return true;
    if (this.seen.has(e.seq)) return false;
    this.seen.add(e.seq);
    return true;
  }
}

function isShown(q: Question, e: Entry): boolean {
  return q.debug !== false || e.kind !== "line" || e.level !== "debug";
}

// matches decides about an entry that comes live as the server does about recorded ones.
function matches(q: Question, e: Entry): boolean {
  if (!isShown(q, e) || (q.kinds && !q.kinds.split(",").includes(e.kind))) return false;
  if (e.kind === "marker" || e.kind === "gap") return !q.refused; // they concern all objects and users
  if (q.resource && (!e.object || fullResource(e.object) !== q.resource)) return false;
  if (q.namespace && e.object?.namespace !== q.namespace) return false;
  if (q.name && e.object?.name !== q.name) return false;
  if (q.user && e.by?.user !== q.user) return false;
  return !q.refused || isRefused(e);
}

export function isRefused(e: Entry): boolean {
  return e.kind === "refusal" || (e.status ?? 0) >= 400;
}
