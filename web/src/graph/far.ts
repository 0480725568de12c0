import type { State } from "../contract";
import { type Colours, pixel } from "./colours";
import { chip, type Frame, type Picture } from "./layout";
import type { View } from "./near";

// drawFar draws objects as bars of a few pixels. It writes pixels itself: ten thousand calls of a canvas take ten times
// as long where no graphics card helps. Each state has a form of its own: a full bar if ready, stripes if in progress,
// a frame if being deleted, and a larger bar with an outline if not ready.
export function drawFar(context: CanvasRenderingContext2D, picture: Picture, view: View, colours: Colours) {
  const { width, height } = context.canvas;
  const image = imageOf(context, width, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixel(colours.page));
  const board = { pixels, width, height };
  const [line, block, group, edge] = [pixel(colours.line), pixel(colours.block), pixel(colours.group), pixel(colours.edge)];
  for (const b of picture.blocks) {
    fill(board, scaled(b, view), line);
    fill(board, inner(scaled(b, view), 1), block);
  }
  for (const g of picture.groups) fill(board, scaled(g, view), group);
  const bars: [State, Bar][] = [];
  for (const node of picture.nodes) {
    const bar = scaled({ x: node.x, y: node.y, width: chip.width, height: chip.height }, view);
    if (bar.right < 0 || bar.bottom < 0 || bar.left > width || bar.top > height) continue;
    const owner = node.tree.parent && picture.byUID.get(node.tree.parent.item.uid);
    if (owner && node.x > owner.x && view.scale > 0.08) connect(board, bar, owner.y + chip.height / 2, view, edge);
    bars.push([node.item.state, bar]);
  }
  const states = Object.fromEntries(Object.entries({ ...colours.state, ready: colours.calm }).map(([s, c]) => [s, pixel(c)])) as Record<State, number>;
  const ink = pixel(colours.ink);
  for (const [state, bar] of bars) {
    if (state === "ready") fill(board, bar, states.ready);
    else if (state === "in-progress") stripes(board, bar, states["in-progress"]);
    else if (state === "deleting") frame(board, bar, states.deleting, block);
  }
  for (const [state, bar] of bars) {
    if (state !== "not-ready") continue;
    fill(board, inner(bar, -2), ink);
    fill(board, inner(bar, -1), states["not-ready"]);
  }
  context.putImageData(image, 0, 0);
}

interface Board {
  pixels: Uint32Array;
  width: number;
  height: number;
}

interface Bar {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

let kept: ImageData | undefined;

function imageOf(context: CanvasRenderingContext2D, width: number, height: number): ImageData {
  if (kept?.width !== width || kept.height !== height) kept = context.createImageData(width, height);
  return kept;
}

function scaled(f: Frame, view: View): Bar {
  const left = Math.round(f.x * view.scale + view.x);
  const top = Math.round(f.y * view.scale + view.y);
  return { left, top, right: Math.max(left + 2, Math.round((f.x + f.width) * view.scale + view.x)), bottom: Math.max(top + 1, Math.round((f.y + f.height) * view.scale + view.y)) };
}

function inner(b: Bar, by: number): Bar {
  return { left: b.left + by, top: b.top + by, right: b.right - by, bottom: b.bottom - by };
}

function fill(board: Board, b: Bar, color: number) {
  const [left, right] = [Math.max(0, b.left), Math.min(board.width, b.right)];
  if (left >= right) return;
  for (let y = Math.max(0, b.top), bottom = Math.min(board.height, b.bottom); y < bottom; y++) {
    board.pixels.fill(color, y * board.width + left, y * board.width + right);
  }
}

function stripes(board: Board, b: Bar, color: number) {
  for (let x = b.left; x < b.right; x += 4) fill(board, { ...b, left: x, right: Math.min(b.right, x + 2) }, color);
}

function frame(board: Board, b: Bar, color: number, inside: number) {
  fill(board, b, color);
  fill(board, inner(b, 1), inside);
}

// connect draws the line from an owner to what it owns.
function connect(board: Board, bar: Bar, ownerY: number, view: View, color: number) {
  const middle = Math.round((bar.top + bar.bottom) / 2);
  const from = Math.round(ownerY * view.scale + view.y);
  const x = bar.left - Math.max(1, Math.round(14 * view.scale));
  fill(board, { left: x, right: bar.left, top: middle, bottom: middle + 1 }, color);
  fill(board, { left: x, right: x + 1, top: Math.min(from, middle), bottom: Math.max(from, middle) + 1 }, color);
}
