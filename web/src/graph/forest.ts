import type { Item } from "../objects";
import { Slices } from "../slices";

// A Tree is an object with what it owns.
export interface Tree {
  item: Item;
  parent: Tree | undefined;
  children: Tree[];
}

export interface Forest {
  roots: Map<string, Tree[]>; // by namespace
  trees: Map<string, Tree>; // by UID
  others: [Tree, Tree][]; // further owners, and what they own
}

// grow makes trees of objects. An object is below its first owner that is among them.
export async function grow(items: Item[], slices: Slices): Promise<Forest> {
  const trees = new Map<string, Tree>();
  for (const item of items) trees.set(item.uid, { item, parent: undefined, children: [] });
  const forest: Forest = { roots: new Map(), trees, others: [] };
  let done = 0;
  for (const tree of trees.values()) {
    for (const uid of tree.item.owners ?? []) {
      const owner = trees.get(uid);
      if (!owner) continue;
      if (tree.parent) forest.others.push([owner, tree]);
      else if (!isBelow(owner, tree)) tree.parent = owner; // owners may form a ring
    }
    tree.parent?.children.push(tree);
    if (++done % 500 === 0) await slices.pause();
  }
  for (const tree of trees.values()) {
    if (tree.children.length > 1) tree.children.sort(byKindAndName);
    if (!tree.parent) {
      const namespace = tree.item.namespace ?? "";
      const roots = forest.roots.get(namespace);
      if (roots) roots.push(tree);
      else forest.roots.set(namespace, [tree]);
    }
    if (++done % 500 === 0) await slices.pause();
  }
  return forest;
}

function isBelow(tree: Tree | undefined, above: Tree): boolean {
  for (; tree; tree = tree.parent) if (tree === above) return true;
  return false;
}

export function byKindAndName(a: Tree, b: Tree): number {
  const [x, y] = [a.item, b.item];
  if (x.kind !== y.kind) return x.kind < y.kind ? -1 : 1;
  if (x.created !== y.created && a.parent) return x.created < y.created ? -1 : 1; // new ones come last, so that others stay
  return x.name < y.name ? -1 : x.name > y.name ? 1 : 0;
}
