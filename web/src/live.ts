import { get } from "./api";
import type { Cluster, Entry, Obj, Reconciles } from "./contract";
import { Objects } from "./objects";
import { later } from "./slices";
import { Store } from "./store";
import { Stream } from "./stream";

export const objects = new Objects();
export const cluster = new Store<Cluster | undefined>(undefined);
export const reconciles = new Store<Reconciles | undefined>(undefined);
export const reconcilesError = new Store<Error | undefined>(undefined);

type ObjectLine = { objects?: Obj[]; gone?: string[]; synced?: boolean; unknown?: string[] };

export const objectStream = new Stream<ObjectLine>(
  "/api/objects",
  () => objects.begin(),
  async (line, slices) => {
    if (line.objects) await objects.put(line.objects, slices);
    if (line.gone) objects.drop(line.gone);
    if (line.unknown) objects.unknown.set(line.unknown);
    if (line.synced) objects.finish();
  },
);

const listeners = new Set<(entries: Entry[]) => void>();

// interrupted counts the times at which entries may have been missed.
export const interrupted = new Store(0);
let begun = false;

export const recordStream = new Stream<{ entries?: Entry[] }>(
  "/api/follow",
  () => {
    if (begun) interrupted.set(interrupted.value + 1);
    begun = true;
    refreshReconciles();
  },
  (line) => {
    if (!line.entries?.length) return;
    for (const listen of [...listeners]) listen(line.entries);
    refreshReconciles();
  },
);

// onEntries calls a function with what is recorded from now on.
export function onEntries(listen: (entries: Entry[]) => void): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

// How often the sums of reconciles are asked for while there is something new.
const reconcilesMs = 2000;

let asking = false;
export const refreshReconciles = later(reconcilesMs, () => void readReconciles());

async function readReconciles() {
  if (asking) return refreshReconciles();
  asking = true;
  try {
    reconciles.set(await get<Reconciles>("/api/reconciles"));
    reconcilesError.set(undefined);
  } catch (e) {
    reconcilesError.set(e as Error);
  } finally {
    asking = false;
  }
}

// Tabs that are hidden for this long let go of their connections.
const hiddenMs = 5000;

// restWhileHidden leaves the connections to tabs that are seen.
function restWhileHidden() {
  let timer = 0;
  let resting = false;
  document.addEventListener("visibilitychange", () => {
    window.clearTimeout(timer);
    if (document.hidden) {
      timer = window.setTimeout(() => {
        resting = true;
        for (const stream of [objectStream, recordStream]) stream.suspend();
      }, hiddenMs);
    } else if (resting) {
      resting = false;
      for (const stream of [objectStream, recordStream]) stream.resume();
    }
  });
}

// begin reads what all views need, and stays connected.
export async function begin(): Promise<void> {
  void objectStream.run();
  restWhileHidden();
  const about = await get<Cluster>("/api/cluster").catch(() => undefined);
  cluster.set(about);
  if (about && !about.recorded) return;
  void recordStream.run();
  await readReconciles();
}
