import type { Obj, Ref, State } from "./contract";
import { later, Slices } from "./slices";
import { Store } from "./store";

// An Item is an object with what is looked for again and again.
export interface Item extends Obj {
  text: string;
  lowerName: string;
  words: string; // that a search looks into
}

export const states: State[] = ["not-ready", "in-progress", "deleting", "ready"];

// Objects are all objects of the cluster, as the server reports them.
export class Objects {
  readonly byUID = new Map<string, Item>();
  // changed draws views again, at most five times a second.
  readonly changed = new Store(0);
  readonly synced = new Store(false);
  readonly unknown = new Store<string[]>([]);
  readonly counts: Record<State, number> = { "not-ready": 0, "in-progress": 0, deleting: 0, ready: 0 };
  // structure counts changes of which objects there are and who owns them.
  structure = 0;
  private owned = new Map<string, Set<string>>();
  private addresses = new Map<string, string>();
  private before: Set<string> | undefined; // of the connection that was lost
  private announce = later(200, () => this.changed.set(this.changed.value + 1));

  // begin expects all objects anew: those that do not come again have gone.
  begin() {
    this.before = new Set(this.byUID.keys());
  }

  async put(all: Obj[], slices: Slices) {
    for (const o of all) {
      this.putOne(o);
      await slices.pause();
    }
    this.announce();
  }

  drop(uids: string[]) {
    for (const uid of uids) this.dropOne(uid);
    this.announce();
  }

  finish() {
    if (this.before) this.drop([...this.before]);
    this.before = undefined;
    this.synced.set(true);
    this.announce();
  }

  ownedBy(uid: string): Item[] {
    return [...(this.owned.get(uid) ?? [])].flatMap((one) => this.byUID.get(one) ?? []);
  }

  owns(uid: string): boolean {
    return this.owned.has(uid);
  }

  ownersOf(item: Obj): Item[] {
    return (item.owners ?? []).flatMap((one) => this.byUID.get(one) ?? []);
  }

  // find looks for the object that a text without a UID names.
  find(kindOrResource: string, namespace: string | undefined, name: string): Item | undefined {
    return this.byUID.get(this.addresses.get(address(kindOrResource, namespace, name)) ?? "");
  }

  of(ref: Ref): Item | undefined {
    return this.find(ref.kind, ref.namespace, ref.name);
  }

  private putOne(o: Obj) {
    this.before?.delete(o.uid);
    const old = this.byUID.get(o.uid);
    if (!(o.state in this.counts)) o.state = "in-progress"; // of a later server
    const item = o as Item;
    item.text ??= "";
    if (old && old.kind === o.kind && old.name === o.name && sameOwners(old, o)) {
      item.lowerName = old.lowerName;
      item.words = old.words;
    } else {
      if (old) this.dropOne(o.uid);
      item.lowerName = o.name.toLowerCase();
      item.words = `${o.kind} ${o.namespace ?? ""} ${o.name} ${o.resource}`.toLowerCase();
      this.connect(item);
    }
    const previous = this.byUID.get(o.uid);
    if (previous) this.counts[previous.state]--;
    this.counts[o.state]++;
    this.byUID.set(o.uid, item);
  }

  private connect(item: Item) {
    this.structure++;
    for (const owner of item.owners ?? []) {
      const set = this.owned.get(owner);
      if (set) set.add(item.uid);
      else this.owned.set(owner, new Set([item.uid]));
    }
    this.addresses.set(address(item.kind, item.namespace, item.name), item.uid);
    this.addresses.set(address(item.resource, item.namespace, item.name), item.uid);
  }

  private dropOne(uid: string) {
    const item = this.byUID.get(uid);
    if (!item) return;
    this.structure++;
    this.counts[item.state]--;
    this.byUID.delete(uid);
    for (const owner of item.owners ?? []) {
      const set = this.owned.get(owner);
      set?.delete(uid);
      if (set?.size === 0) this.owned.delete(owner);
    }
    for (const word of [item.kind, item.resource]) {
      const at = address(word, item.namespace, item.name);
      if (this.addresses.get(at) === uid) this.addresses.delete(at); // another may have the name by now
    }
  }
}

function address(kind: string, namespace: string | undefined, name: string): string {
  return `${kind.toLowerCase()}|${namespace ?? ""}|${name}`;
}

function sameOwners(a: Obj, b: Obj): boolean {
  const left = a.owners ?? [];
  const right = b.owners ?? [];
  return left.length === right.length && left.every((uid, i) => uid === right[i]);
}
