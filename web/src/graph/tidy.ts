import type { Tree } from "./forest";

// A Spot is where a tree's object is within the tree, in cells.
export interface Spot {
  tree: Tree;
  col: number;
  row: number;
}

// A Group is a block of objects that own nothing and have one owner.
export interface Group {
  owner: Tree;
  col: number;
  row: number;
  cols: number;
  rows: number;
}

export interface Shape {
  cols: number;
  rows: number;
  spots: Spot[];
  groups: Group[];
}

// More objects than this that own nothing stand in columns beside each other.
const columnRows = 8;

// tidy gives an owner the place left of what it owns, with a band of rows for each child. Growth at the end of a band
// moves only what is below it.
export function tidy(root: Tree): Shape {
  const shape: Shape = { cols: 0, rows: 0, spots: [], groups: [] };
  shape.rows = place(root, 0, 0, shape);
  return shape;
}

function place(tree: Tree, col: number, row: number, shape: Shape): number {
  shape.spots.push({ tree, col, row });
  shape.cols = Math.max(shape.cols, col + 1);
  let next = row;
  const leaves: Tree[] = [];
  for (const child of tree.children) {
    if (child.children.length === 0) leaves.push(child);
    else next = place(child, col + 1, next, shape);
  }
  if (leaves.length > 0) next += placeLeaves(tree, leaves, col + 1, next, shape);
  return Math.max(next, row + 1);
}

function placeLeaves(owner: Tree, leaves: Tree[], col: number, row: number, shape: Shape): number {
  const cols = leaves.length <= columnRows ? 1 : Math.ceil(Math.sqrt(leaves.length / 5));
  const rows = Math.ceil(leaves.length / cols);
  leaves.forEach((tree, i) => shape.spots.push({ tree, col: col + Math.floor(i / rows), row: row + (i % rows) }));
  shape.cols = Math.max(shape.cols, col + cols);
  if (cols > 1) shape.groups.push({ owner, col, row, cols, rows });
  return rows;
}
