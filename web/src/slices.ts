// How long work may hold up the browser before it lets it draw and hear keys.
const sliceMs = 8;

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

// nextTask resolves in a task of its own. A timer would do, but browsers delay those that repeat.
export function nextTask(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(null);
  });
}

// Slices cut long work into tasks.
export class Slices {
  private began = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.began < sliceMs) return;
    await nextTask();
    this.began = performance.now();
  }
}

// later returns a function that has work done soon, and once for many calls.
export function later(ms: number, work: () => void): () => void {
  let timer = 0;
  return () => {
    timer ||= window.setTimeout(() => {
      timer = 0;
      work();
    }, ms);
  };
}
