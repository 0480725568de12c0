import assert from "node:assert/strict";
import { test } from "node:test";
import type { Obj } from "../src/contract";
import { Objects } from "../src/objects";
import { search } from "../src/searching";
import { Slices } from "../src/slices";

Object.assign(globalThis, { window: globalThis });

function object(uid: string, name: string, more: Partial<Obj> = {}): Obj {
  return { uid, kind: "Pod", resource: "pods", namespace: "shop", name, state: "ready", created: "2026-01-01T00:00:00Z", ...more };
}

const slices = new Slices();

test("counts, owners and names follow objects that change and go", async () => {
  const all = new Objects();
  all.begin();
  await all.put([object("1", "a"), object("2", "b", { owners: ["1"], state: "not-ready" })], slices);
  all.finish();
  const structure = all.structure;
  await all.put([object("2", "b", { owners: ["1"], state: "ready" })], slices);
  assert.equal(all.structure, structure);
  assert.deepEqual(all.counts, { ready: 2, "in-progress": 0, "not-ready": 0, deleting: 0 });
  assert.deepEqual(all.ownedBy("1").map((o) => o.name), ["b"]);
  await all.put([object("3", "a"), object("2", "b")], slices); // a is created anew before its end is reported
  all.drop(["1"]);
  assert.equal(all.find("pod", "shop", "a")?.uid, "3");
  assert.deepEqual(all.ownedBy("1"), []);
  all.begin(); // the connection was lost
  await all.put([object("3", "a")], slices);
  all.finish();
  assert.deepEqual([...all.byUID.keys()], ["3"]);
  assert.equal(all.counts.ready, 1);
});

test("the best match of a search comes first", async () => {
  const all = new Objects();
  await all.put(["my-web", "web-1", "other", "web"].map((name, i) => object(String(i), name)), slices);
  const titles = (text: string) => search(text, all, [{ operator: "shop", controller: "web", reconciles: 1, perMinute: 1, errors: 0 }], []).map((h) => h.sort + " " + h.title);
  assert.deepEqual(titles("web"), ["controller web", "object web", "object web-1", "object my-web"]);
  assert.deepEqual(titles("shop/other"), ["object other"]);
  assert.deepEqual(titles("pod 1"), ["object web-1"]);
  assert.deepEqual(titles(" "), []);
});
