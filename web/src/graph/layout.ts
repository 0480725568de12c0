import type { Item } from "../objects";
import { Slices } from "../slices";
import { byKindAndName, type Forest, grow, type Tree } from "./forest";
import { type Box, Shelf } from "./packing";
import { type Shape, tidy } from "./tidy";

// Sizes in pixels at scale 1.
export const cell = { width: 220, height: 34 };
export const chip = { width: 192, height: 26 };
const heading = 44; // above the objects of a namespace
const padding = 16;
const gap = 40; // between namespaces

// A Node is an object with its place.
export interface Node {
  item: Item;
  x: number;
  y: number;
  tree: Tree;
}

export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Block extends Frame {
  namespace: string;
  objects: number;
}

// A Picture is all that the graph draws.
export interface Picture {
  nodes: Node[];
  byUID: Map<string, Node>;
  blocks: Block[];
  groups: (Frame & { owner: Node })[];
  others: [Node, Node][];
  width: number;
  height: number;
}

export const nothing: Picture = { nodes: [], byUID: new Map(), blocks: [], groups: [], others: [], width: 1, height: 1 };

// How many trees a namespace has room for before the namespaces are arranged anew, beside those that it has.
const room = 1.15;

// A Layout keeps the places of objects while others come and go.
export class Layout {
  private shelves = new Map<string, Shelf>();
  private reserved = new Map<string, number>(); // rows of a namespace
  private blocks: Shelf | undefined;

  // arrange places objects. The user has changed nothing in between: what was there before stays there.
  async arrange(items: Item[], slices: Slices): Promise<Picture> {
    const forest = await grow(items, slices);
    const shapes = new Map<string, Map<Tree, Shape>>();
    for (const namespace of [...forest.roots.keys()].sort(byNumbers)) shapes.set(namespace, await this.fill(namespace, forest.roots.get(namespace)!, slices));
    const frames = this.frames([...shapes.keys()]);
    return draft(forest, shapes, frames, this.shelves, slices);
  }

  // fill places the trees of a namespace.
  private async fill(namespace: string, roots: Tree[], slices: Slices): Promise<Map<Tree, Shape>> {
    const shapes = new Map<Tree, Shape>();
    let cells = 0;
    let widest = 1;
    for (const root of roots) {
      const shape = tidy(root);
      shapes.set(root, shape);
      cells += shape.cols * shape.rows;
      widest = Math.max(widest, shape.cols);
      await slices.pause();
    }
    const shelf = this.shelfOf(namespace, cells, widest);
    const here = new Set(roots.map((r) => r.item.uid));
    shelf.retain((uid) => here.has(uid));
    for (const root of order(roots, shapes)) {
      const shape = shapes.get(root)!;
      shelf.put(root.item.uid, shape.cols, shape.rows);
      await slices.pause();
    }
    return shapes;
  }

  // shelfOf makes a new shelf if a namespace has none, or one that has become too narrow.
  private shelfOf(namespace: string, cells: number, widest: number): Shelf {
    const old = this.shelves.get(namespace);
    if (old && old.cols >= widest) return old;
    const cols = Math.max(widest, Math.min(4, cells), Math.ceil(Math.sqrt((cells * cell.height * 1.5) / cell.width)));
    const shelf = new Shelf(cols);
    this.shelves.set(namespace, shelf);
    this.reserved.delete(namespace);
    return shelf;
  }

  // frames places the namespaces, anew only if one has outgrown its place.
  private frames(namespaces: string[]): Map<string, Frame> {
    let fits = this.blocks !== undefined;
    for (const namespace of namespaces) {
      const rows = this.shelves.get(namespace)!.rows;
      if (rows <= (this.reserved.get(namespace) ?? 0)) continue;
      this.reserved.set(namespace, Math.ceil(rows * room));
      fits = false;
    }
    const size = (namespace: string) => frameSize(this.shelves.get(namespace)!.cols, this.reserved.get(namespace)!);
    if (!fits) this.blocks = packFrames(namespaces.map((n) => [n, size(n)]));
    const frames = new Map<string, Frame>();
    for (const namespace of namespaces) {
      const box = this.blocks!.boxes.get(namespace)!;
      const { width } = size(namespace);
      const rows = this.shelves.get(namespace)!.rows;
      frames.set(namespace, { x: box.col * unit, y: box.row * unit, width, height: frameSize(1, rows).height });
    }
    return frames;
  }
}

function order(roots: Tree[], shapes: Map<Tree, Shape>): Tree[] {
  const area = (t: Tree) => (t.children.length ? shapes.get(t)!.rows : 0);
  return [...roots].sort((a, b) => area(b) - area(a) || byKindAndName(a, b));
}

function frameSize(cols: number, rows: number): { width: number; height: number } {
  return { width: cols * cell.width - (cell.width - chip.width) + 2 * padding, height: rows * cell.height + heading + padding };
}

// isSystem reports whether a namespace is Kubernetes' own. Objects outside of namespaces are mostly that, too.
export function isSystem(namespace: string): boolean {
  return namespace === "" || namespace.startsWith("kube-");
}

// byNumbers orders shop-2 before shop-10.
function byNumbers(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

// Namespaces are packed in squares of this size.
const unit = 40;

function packFrames(sizes: [string, { width: number; height: number }][]): Shelf {
  const units = (px: number) => Math.ceil((px + gap) / unit);
  const area = sizes.reduce((sum, [, s]) => sum + units(s.width) * units(s.height), 0);
  const widest = sizes.reduce((most, [, s]) => Math.max(most, units(s.width)), 1);
  sizes.sort(([a, x], [b, y]) => Number(isSystem(a)) - Number(isSystem(b)) || Math.round(Math.log2(y.height / x.height)) || byNumbers(a, b));
  let best: { shelf: Shelf; size: number } | undefined;
  for (let wider = 1; wider < 2.6; wider += 0.1) {
    const shelf = new Shelf(Math.max(widest, Math.ceil(Math.sqrt(area) * wider)));
    for (const [name, s] of sizes) shelf.put(name, units(s.width), units(s.height));
    const size = Math.max(shelf.used / aspect, shelf.rows);
    if (!best || size < best.size) best = { shelf, size };
  }
  return best!.shelf;
}

// aspect is that of usual windows.
const aspect = 2.2;

async function draft(forest: Forest, shapes: Map<string, Map<Tree, Shape>>, frames: Map<string, Frame>, shelves: Map<string, Shelf>, slices: Slices): Promise<Picture> {
  const picture: Picture = { nodes: [], byUID: new Map(), blocks: [], groups: [], others: [], width: 1, height: 1 };
  for (const [namespace, trees] of shapes) {
    const frame = frames.get(namespace)!;
    const before = picture.nodes.length;
    for (const [root, shape] of trees) {
      drawTree(picture, shape, frame, shelves.get(namespace)!.boxes.get(root.item.uid)!);
      await slices.pause();
    }
    picture.blocks.push({ ...frame, namespace, objects: picture.nodes.length - before });
    picture.width = Math.max(picture.width, frame.x + frame.width);
    picture.height = Math.max(picture.height, frame.y + frame.height);
  }
  for (const [owner, owned] of forest.others) picture.others.push([picture.byUID.get(owner.item.uid)!, picture.byUID.get(owned.item.uid)!]);
  return picture;
}

function drawTree(picture: Picture, shape: Shape, frame: Frame, box: Box) {
  const at = (col: number, row: number) => ({ x: frame.x + padding + (box.col + col) * cell.width, y: frame.y + heading + (box.row + row) * cell.height });
  for (const { tree, col, row } of shape.spots) {
    const node: Node = { item: tree.item, tree, ...at(col, row) };
    picture.nodes.push(node);
    picture.byUID.set(tree.item.uid, node);
  }
  for (const g of shape.groups) {
    const { x, y } = at(g.col, g.row);
    picture.groups.push({ x: x - 5, y: y - 4, width: g.cols * cell.width - (cell.width - chip.width) + 10, height: g.rows * cell.height, owner: picture.byUID.get(g.owner.item.uid)! });
  }
}
