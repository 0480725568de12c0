import { ask, Refused } from "./api";
import { plain } from "./plain";
import { Slices } from "./slices";
import { Store } from "./store";

// Link is the state of a stream.
export type Link = { state: "connecting" } | { state: "live" } | { state: "lost"; until: number; error: string; attempts: number };

// The server sends a line every 15 seconds.
const silenceMs = 40_000;
const pauses = [500, 1000, 2000, 4000, 8000, 15_000, 30_000];
// A connection that lasts this long is no failure.
const steadyMs = 10_000;
const longestLine = 32 << 20;

// A Stream keeps a connection that brings lines of JSON. It connects again after pauses that grow.
export class Stream<T> {
  readonly link = new Store<Link>({ state: "connecting" });
  private failures = 0;
  private wake: () => void = () => {};
  private stopped = false;
  private suspended: Promise<void> | undefined;
  private connection = new AbortController();

  constructor(
    private path: string,
    private begin: () => void,
    private take: (line: T, slices: Slices) => void | Promise<void>,
  ) {}

  async run(): Promise<void> {
    while (!this.stopped) {
      if (this.suspended) await this.rest();
      let error = "The server closed the connection.";
      try {
        await this.read();
      } catch (e) {
        if (e instanceof Refused && e.status === 401) return;
        if (e instanceof Refused) error = e.message;
        else if (!(e instanceof DOMException)) error = "The server does not answer.";
      }
      if (!this.stopped && !this.suspended) await this.pause(error);
    }
  }

  private async rest() {
    this.failures = 0;
    await this.suspended;
    this.link.set({ state: "connecting" });
  }

  // retry ends the pause.
  retry() {
    this.wake();
  }

  stop() {
    this.stopped = true;
    this.suspend();
    this.resume();
  }

  // suspend ends the connection until resume. A browser opens six to a server, for all tabs together.
  suspend() {
    this.suspended ??= new Promise((done) => {
      this.resume = () => {
        this.suspended = undefined;
        done();
      };
    });
    this.connection.abort();
    this.wake();
  }

  resume: () => void = () => {};

  private async pause(error: string) {
    const ms = pauses[Math.min(this.failures++, pauses.length - 1)]!;
    this.link.set({ state: "lost", until: Date.now() + ms, error, attempts: this.failures });
    await new Promise<void>((done) => {
      this.wake = done;
      window.setTimeout(done, ms);
    });
    if (!this.stopped) this.link.set({ state: "connecting" });
  }

  private async read() {
    const connection = (this.connection = new AbortController());
    let timer = window.setTimeout(() => connection.abort(), silenceMs);
    try {
      const answer = await ask(this.path, connection.signal);
      const began = Date.now();
      this.begin();
      const slices = new Slices();
      for await (const text of lines(answer.body!, slices)) {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => connection.abort(), silenceMs);
        await this.take(plain(JSON.parse(text) as T), slices);
        if (this.link.value.state !== "live") this.link.set({ state: "live" });
        if (Date.now() - began > steadyMs) this.failures = 0;
        await slices.pause();
      }
    } finally {
      window.clearTimeout(timer);
      connection.abort();
    }
  }
}

async function* lines(body: ReadableStream<Uint8Array>, slices: Slices): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = decoder.decode(value, { stream: true }).split("\n");
    rest.push(parts[0]!);
    length += parts[0]!.length;
    if (length > longestLine) throw new Error("a line of the server is too long");
    for (const part of parts.slice(1)) {
      const line = rest.join("");
      rest = [part];
      length = part.length;
      if (line) yield line;
    }
    await slices.pause();
  }
}

