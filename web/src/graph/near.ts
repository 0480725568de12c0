import type { State } from "../contract";
import { middle } from "../words";
import type { Colours } from "./colours";
import { cell, chip, type Node, type Picture } from "./layout";

// A View is which part of the picture the canvas shows: a point p of it is at p * scale + x.
export interface View {
  x: number;
  y: number;
  scale: number;
}

// From this scale on chips have round corners, which cost time where no graphics card helps.
const roundScale = 0.8;
const monospace = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const nameChars = 24; // that fit into a chip

// drawNear draws objects as chips with the symbol of their state, their name and their kind.
export function drawNear(context: CanvasRenderingContext2D, picture: Picture, view: View, colours: Colours) {
  const { width, height } = context.canvas;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, width, height);
  context.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
  const seen = { left: -view.x / view.scale, top: -view.y / view.scale, right: (width - view.x) / view.scale, bottom: (height - view.y) / view.scale };
  context.lineWidth = 1;
  for (const b of picture.blocks) {
    context.fillStyle = colours.block;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.roundRect(b.x, b.y, b.width, b.height, 8);
    context.fill();
    context.stroke();
  }
  context.fillStyle = colours.group;
  for (const g of picture.groups) {
    context.beginPath();
    context.roundRect(g.x, g.y, g.width, g.height, 6);
    context.fill();
  }
  const isSeen = (n: Node) => n.x < seen.right && n.x + chip.width > seen.left && n.y < seen.bottom && n.y + chip.height > seen.top;
  drawEdges(context, picture, colours, seen);
  const shown = picture.nodes.filter(isSeen);
  for (const node of shown) drawChip(context, node, colours, view.scale >= roundScale);
  for (const node of shown) drawSymbol(context, node.item.state, node.x + 13, node.y + chip.height / 2, colours);
  drawTexts(context, shown, colours);
}

function drawEdges(context: CanvasRenderingContext2D, picture: Picture, colours: Colours, seen: { left: number; right: number; top: number; bottom: number }) {
  context.strokeStyle = colours.edge;
  context.lineWidth = 1.2;
  context.beginPath();
  for (const node of picture.nodes) {
    const owner = node.tree.parent && picture.byUID.get(node.tree.parent.item.uid);
    if (!owner || node.x < seen.left || owner.x > seen.right) continue;
    if (Math.max(node.y, owner.y) + chip.height < seen.top || Math.min(node.y, owner.y) > seen.bottom) continue;
    if (node.x !== owner.x + cell.width) continue; // in a further column of a group
    elbow(context, owner, node);
  }
  context.stroke();
  context.setLineDash([4, 4]);
  context.beginPath();
  for (const [owner, owned] of picture.others) {
    context.moveTo(owner.x + chip.width, owner.y + chip.height / 2);
    context.lineTo(owned.x, owned.y + chip.height / 2);
  }
  context.stroke();
  context.setLineDash([]);
}

function elbow(context: CanvasRenderingContext2D, owner: Node, node: Node) {
  const [fromX, fromY] = [owner.x + chip.width, owner.y + chip.height / 2];
  const [toX, toY] = [node.x, node.y + chip.height / 2];
  const turn = toX - 14;
  const bend = Math.min(6, Math.abs(toY - fromY) / 2);
  context.moveTo(fromX, fromY);
  if (bend === 0) return context.lineTo(toX, toY);
  context.lineTo(turn - bend, fromY);
  context.quadraticCurveTo(turn, fromY, turn, fromY + bend);
  context.lineTo(turn, toY - bend);
  context.quadraticCurveTo(turn, toY, turn + bend, toY);
  context.lineTo(toX, toY);
}

function drawChip(context: CanvasRenderingContext2D, node: Node, colours: Colours, round: boolean) {
  const state = node.item.state;
  context.fillStyle = colours.raised;
  context.strokeStyle = state === "ready" ? colours.line : colours.state[state];
  context.lineWidth = state === "ready" ? 1 : 1.5;
  if (state === "deleting") context.setLineDash([4, 3]);
  if (round) {
    context.beginPath();
    context.roundRect(node.x, node.y, chip.width, chip.height, 5);
    context.fill();
    context.stroke();
  } else {
    context.fillRect(node.x, node.y, chip.width, chip.height);
    context.strokeRect(node.x, node.y, chip.width, chip.height);
  }
  if (state === "deleting") context.setLineDash([]);
}

// drawSymbol draws the shape of a state, as StateIcon has it.
export function drawSymbol(context: CanvasRenderingContext2D, state: State, x: number, y: number, colours: Colours) {
  context.fillStyle = context.strokeStyle = colours.state[state];
  context.lineWidth = 1.6;
  context.beginPath();
  if (state === "ready") {
    context.arc(x, y, 5.5, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = colours.mark.ready;
    context.beginPath();
    context.moveTo(x - 2.6, y + 0.2);
    context.lineTo(x - 0.8, y + 2);
    context.lineTo(x + 2.7, y - 2);
    context.stroke();
  } else if (state === "in-progress") {
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.stroke();
    context.beginPath();
    context.arc(x, y, 3.4, -Math.PI / 2, Math.PI / 2);
    context.fill();
  } else if (state === "not-ready") {
    context.moveTo(x, y - 6.5);
    context.lineTo(x + 6.5, y + 5.5);
    context.lineTo(x - 6.5, y + 5.5);
    context.fill();
    context.strokeStyle = colours.mark["not-ready"];
    context.beginPath();
    context.moveTo(x, y - 2.4);
    context.lineTo(x, y + 1.2);
    context.moveTo(x, y + 3);
    context.lineTo(x, y + 4);
    context.stroke();
  } else {
    context.strokeRect(x - 5, y - 5, 10, 10);
    context.beginPath();
    context.moveTo(x - 2.2, y - 2.2);
    context.lineTo(x + 2.2, y + 2.2);
    context.moveTo(x + 2.2, y - 2.2);
    context.lineTo(x - 2.2, y + 2.2);
    context.stroke();
  }
}

// shortened cuts a name. Those of RBAC, such as system:controller:job-controller, differ behind their prefix.
function shortened(name: string): string {
  const last = name.slice(name.lastIndexOf(":") + 1);
  return name.length > nameChars && last !== name && last.length > 2 ? middle("…" + last, nameChars) : middle(name, nameChars);
}

function drawTexts(context: CanvasRenderingContext2D, nodes: Node[], colours: Colours) {
  context.textBaseline = "middle";
  context.fillStyle = colours.muted;
  context.font = "9px system-ui, sans-serif";
  for (const node of nodes) context.fillText(middle(node.item.kind, 28), node.x + 25, node.y + 7.5);
  context.fillStyle = colours.ink;
  context.font = "11px " + monospace;
  for (const node of nodes) context.fillText(shortened(node.item.name), node.x + 25, node.y + 18);
}

// drawOver draws what has the same size at each scale: names of namespaces, and the frame of the object that is selected.
export function drawOver(context: CanvasRenderingContext2D, picture: Picture, view: View, colours: Colours, ratio: number, selected: Node | undefined, hovered: Node | undefined) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.textBaseline = "alphabetic";
  drawNames(context, picture, view, colours, ratio);
  for (const [node, width] of [[hovered, 1.5], [selected, 3]] as const) {
    if (!node) continue;
    context.strokeStyle = colours.link;
    context.lineWidth = width * ratio;
    const pad = 3 * ratio;
    context.strokeRect(node.x * view.scale + view.x - pad, node.y * view.scale + view.y - pad, chip.width * view.scale + 2 * pad, chip.height * view.scale + 2 * pad);
  }
}

// drawNames draws the names of namespaces. One that would cover another is left out.
function drawNames(context: CanvasRenderingContext2D, picture: Picture, view: View, colours: Colours, ratio: number) {
  const size = Math.max(11, Math.min(22, 26 * (view.scale / ratio))) * ratio;
  const inside = heading(view) >= size * 1.1;
  const drawn: { left: number; right: number; y: number }[] = [];
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.fillStyle = colours.ink;
  for (const b of [...picture.blocks].sort((a, b) => b.objects - a.objects)) {
    const left = Math.max(b.x * view.scale + view.x, 0) + 6 * ratio;
    const y = b.y * view.scale + view.y + (inside ? (heading(view) + size * 0.7) / 2 : -3 * ratio);
    const width = b.width * view.scale - 8 * ratio;
    if (left > context.canvas.width || y < 0 || y - size > context.canvas.height || b.x * view.scale + view.x + width < 0) continue;
    const text = middle(b.namespace || "no namespace", Math.max(14, Math.floor(width / (size * 0.56))));
    const right = left + context.measureText(text).width;
    if (drawn.some((d) => Math.abs(d.y - y) < size && d.left < right && left < d.right)) continue;
    drawn.push({ left, right, y });
    context.fillText(text, left, y);
  }
}

function heading(view: View): number {
  return 44 * view.scale;
}
