import assert from "node:assert/strict";
import { test } from "node:test";
import { cell, chip, Layout, type Picture } from "../src/graph/layout";
import type { Item } from "../src/objects";
import { Slices } from "../src/slices";

function item(uid: string, namespace: string, owners: string[] = [], kind = "Pod"): Item {
  return { uid, kind, resource: "pods", namespace, name: uid, owners, state: "ready", created: uid, text: "", lowerName: uid, words: uid };
}

// shop has 30 objects of an operator, each with a deployment and 12 pods, and 40 that own nothing.
function shop(namespace: string): Item[] {
  const all: Item[] = [];
  for (let i = 0; i < 30; i++) {
    all.push(item(`${namespace}-order-${i}`, namespace, [], "Order"));
    all.push(item(`${namespace}-deployment-${i}`, namespace, [`${namespace}-order-${i}`], "Deployment"));
    for (let p = 10; p < 22; p++) all.push(item(`${namespace}-pod-${i}-${p}`, namespace, [`${namespace}-deployment-${i}`]));
  }
  for (let i = 0; i < 40; i++) all.push(item(`${namespace}-settings-${i}`, namespace, [], "ConfigMap"));
  return all;
}

function moved(before: Picture, after: Picture): string[] {
  return before.nodes.filter((n) => {
    const now = after.byUID.get(n.item.uid);
    return now && (now.x !== n.x || now.y !== n.y);
  }).map((n) => n.item.uid);
}

const slices = new Slices();

test("no object covers another, and all lie in their namespace", async () => {
  const picture = await new Layout().arrange([...shop("a"), ...shop("b"), item("alone", "c")], slices);
  assert.equal(picture.nodes.length, 2 * (30 * 14 + 40) + 1);
  const cells = new Set(picture.nodes.map((n) => `${n.x} ${n.y}`));
  assert.equal(cells.size, picture.nodes.length);
  for (const block of picture.blocks) {
    for (const n of picture.nodes.filter((n) => (n.item.namespace ?? "") === block.namespace)) {
      assert.ok(n.x >= block.x && n.y >= block.y && n.x + chip.width <= block.x + block.width && n.y + chip.height <= block.y + block.height, n.item.uid);
    }
  }
});

test("objects stay where they are when others come and go", async () => {
  const layout = new Layout();
  const items = shop("a").concat(shop("b"));
  const before = await layout.arrange(items, slices);
  const without = await layout.arrange(items.filter((o) => o.uid !== "a-settings-3"), slices);
  assert.deepEqual(moved(before, without), []);
  const other = await layout.arrange([...items.filter((o) => o.uid !== "a-settings-3"), item("a-new", "a", [], "Secret")], slices);
  assert.deepEqual(moved(before, other), []);
  const place = before.byUID.get("a-settings-3")!;
  const reused = other.byUID.get("a-new")!;
  assert.deepEqual([reused.x, reused.y], [place.x, place.y]);
});

test("a new pod moves only what is in its tree", async () => {
  const layout = new Layout();
  const items = shop("a");
  const before = await layout.arrange(items, slices);
  const after = await layout.arrange([...items, item("a-pod-7-99", "a", ["a-deployment-7"])], slices);
  for (const uid of moved(before, after)) assert.match(uid, /^a-(order|deployment|pod)-7(-|$)/);
});

test("owners in a ring, owners that are gone and second owners do no harm", async () => {
  const picture = await new Layout().arrange([item("x", "a", ["y"]), item("y", "a", ["x"]), item("z", "a", ["gone"]), item("s", "a", ["s"]), item("two", "a", ["x", "z"])], slices);
  assert.equal(picture.nodes.length, 5);
  assert.deepEqual(picture.others.map(([a, b]) => [a.item.uid, b.item.uid]), [["z", "two"]]);
});

test("many objects of an owner stand in columns", async () => {
  const pods = Array.from({ length: 500 }, (_, i) => item(`pod-${1000 + i}`, "a", ["set"]));
  const picture = await new Layout().arrange([item("set", "a", [], "ReplicaSet"), ...pods], slices);
  assert.equal(picture.groups.length, 1);
  assert.ok(picture.height < 60 * cell.height, String(picture.height));
});
