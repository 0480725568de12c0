import type { Node, Picture } from "./layout";

// walk is the object that a key leads to.
export function walk(picture: Picture, from: Node | undefined, key: string): Node | undefined {
  if (!from) return picture.nodes.find((n) => n.item.state === "not-ready") ?? picture.nodes[0];
  const { tree } = from;
  if (key === "ArrowLeft") return node(picture, tree.parent?.item.uid) ?? from;
  if (key === "ArrowRight") return node(picture, tree.children[0]?.item.uid) ?? from;
  const siblings = tree.parent ? tree.parent.children.map((t) => node(picture, t.item.uid)!) : roots(picture);
  const at = siblings.indexOf(from);
  return siblings[at + (key === "ArrowDown" ? 1 : -1)] ?? from;
}

// roots are all roots: by namespace, then by column, then by row.
function roots(picture: Picture): Node[] {
  const order = new Map(picture.blocks.map((b, i) => [b.namespace, i]));
  const place = (n: Node) => order.get(n.item.namespace ?? "") ?? 0;
  return picture.nodes.filter((n) => !n.tree.parent).sort((a, b) => place(a) - place(b) || a.x - b.x || a.y - b.y);
}

// nextUnready is the next object behind one that is not ready.
export function nextUnready(picture: Picture, from: Node | undefined): Node | undefined {
  const all = picture.nodes.filter((n) => n.item.state === "not-ready");
  return all[(from ? all.indexOf(from) + 1 : 0) % Math.max(1, all.length)];
}

function node(picture: Picture, uid: string | undefined): Node | undefined {
  return uid === undefined ? undefined : picture.byUID.get(uid);
}
