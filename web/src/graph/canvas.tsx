import { select } from "d3-selection";
import "d3-transition";
import { zoom, type ZoomBehavior, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Item } from "../objects";
import { stateName } from "../parts/state";
import { theme } from "../theme";
import { type Colours, readColours } from "./colours";
import { drawFar } from "./far";
import { chip, isSystem, type Node, type Picture } from "./layout";
import { drawNear, drawOver, type View } from "./near";
import { nextUnready, walk } from "./walk";

// Below this scale objects are bars without a text.
const farScale = 0.5;

export interface CanvasProps {
  picture: Picture;
  selected: string | undefined;
  fitted: unknown; // the view shows all again when this changes
  select(uid: string | undefined): void;
  open(item: Item): void;
}

// Canvas shows a picture, and moves over it with pointer and keyboard.
export function Canvas(props: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const board = useRef<Board>();
  useLayoutEffect(() => {
    const b = (board.current = new Board(canvas.current!));
    return () => b.close();
  }, []);
  useLayoutEffect(() => board.current?.show(props));
  useEffect(() => board.current?.refit(), [props.fitted]);
  return (
    <canvas
      ref={canvas}
      class="graph"
      tabIndex={0}
      role="application"
      aria-roledescription="graph"
      aria-label="Graph of the objects. Arrow keys go to owners, owned objects and siblings; Enter opens one. The list beside it shows the same."
      aria-describedby="graph-selected"
    />
  );
}

// A Board draws on a canvas once a frame.
class Board {
  private context: CanvasRenderingContext2D;
  private zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
  private transform: ZoomTransform = zoomIdentity;
  private props: CanvasProps | undefined;
  private colours: Colours;
  private hovered: Node | undefined;
  private frame = 0;
  private moved = false; // by the user
  private stop: (() => void)[] = [];

  constructor(private canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.colours = readColours(canvas.parentElement!);
    this.zoom = zoom<HTMLCanvasElement, unknown>()
      .on("zoom", (e: { transform: ZoomTransform; sourceEvent: unknown }) => {
        this.transform = e.transform;
        if (e.sourceEvent) this.moved = true;
        this.draw();
      });
    select(canvas).call(this.zoom).on("dblclick.zoom", null);
    this.listen("pointermove", (e) => this.hover(e));
    this.listen("pointerleave", () => this.setHovered(undefined));
    this.listen("click", (e) => this.click(e));
    this.listen("keydown", (e) => this.key(e));
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(canvas);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => {
      this.colours = readColours(canvas.parentElement!);
      this.draw();
    };
    dark.addEventListener("change", recolour);
    this.stop.push(() => resized.disconnect(), () => dark.removeEventListener("change", recolour), theme.subscribe(recolour));
  }

  close() {
    for (const stop of this.stop) stop();
    cancelAnimationFrame(this.frame);
    select(this.canvas).on(".zoom", null);
  }

  show(props: CanvasProps) {
    const before = this.props;
    this.props = props;
    if (before?.picture !== props.picture && !this.moved) this.fit(false);
    if (props.selected && (before?.selected !== props.selected || (before?.picture !== props.picture && !before?.picture.byUID.has(props.selected)))) this.reveal(props.selected);
    this.draw();
  }

  // refit shows all, since the user has asked for other objects.
  refit() {
    this.moved = false;
    if (!this.props?.selected) this.fit(false);
  }

  private listen<K extends keyof HTMLElementEventMap>(type: K, hear: (e: HTMLElementEventMap[K]) => void) {
    this.canvas.addEventListener(type, hear);
    this.stop.push(() => this.canvas.removeEventListener(type, hear));
  }

  private get ratio(): number {
    return window.devicePixelRatio || 1;
  }

  private resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(height * this.ratio));
    if (!this.moved) this.fit(false);
    this.paint();
  }

  private draw() {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  private paint() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.props) return;
    const { picture, selected } = this.props;
    const view: View = { x: this.transform.x * this.ratio, y: this.transform.y * this.ratio, scale: this.transform.k * this.ratio };
    if (this.transform.k < farScale) drawFar(this.context, picture, view, this.colours);
    else drawNear(this.context, picture, view, this.colours);
    drawOver(this.context, picture, view, this.colours, this.ratio, picture.byUID.get(selected ?? ""), this.hovered);
  }

  // fit shows all or, at first, the namespaces that are not Kubernetes' own.
  private fit(smooth: boolean, whole = false) {
    const { picture } = this.props!;
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || picture.nodes.length === 0) return;
    const k = Math.min(1.2, (width - 32) / picture.width, (height - 56) / picture.height);
    this.zoom.scaleExtent([Math.min(k, 0.2) / 2, 4]).translateExtent([[-width / k, -height / k], [picture.width + width / k, picture.height + height / k]]);
    const own = picture.blocks.filter((b) => !isSystem(b.namespace));
    if (whole || own.length === 0) return this.go(zoomIdentity.translate((width - k * picture.width) / 2, (height - k * picture.height) / 2 + 12).scale(k), smooth);
    const left = Math.min(...own.map((b) => b.x));
    const top = Math.min(...own.map((b) => b.y));
    const across = Math.max(...own.map((b) => b.x + b.width)) - left;
    const down = Math.max(...own.map((b) => b.y + b.height)) - top;
    const closer = Math.max(k, Math.min(1.2, (width - 32) / across, (height - 56) / down));
    this.go(zoomIdentity.translate((width - closer * across) / 2 - closer * left, 24 - closer * top).scale(closer), smooth);
  }

  // reveal moves the view only if the object is not well within it.
  private reveal(uid: string) {
    const node = this.props!.picture.byUID.get(uid);
    if (!node) return;
    const { width, height } = this.canvas.getBoundingClientRect();
    const k = Math.max(this.transform.k, 1);
    const [x, y] = this.transform.apply([node.x, node.y]);
    const inside = x > 20 && y > 20 && x + chip.width * k < width - 20 && y + chip.height * k < height - 20;
    if (inside && this.transform.k >= 0.5) return;
    this.moved = true;
    this.go(zoomIdentity.translate(width / 2 - k * (node.x + chip.width / 2), height / 2 - k * (node.y + chip.height / 2)).scale(k), true);
  }

  private go(to: ZoomTransform, smooth: boolean) {
    const canvas = select(this.canvas);
    canvas.interrupt();
    if (smooth && !matchMedia("(prefers-reduced-motion: reduce)").matches) canvas.transition().duration(180).call(this.zoom.transform, to);
    else canvas.call(this.zoom.transform, to);
  }

  private at(e: MouseEvent): Node | undefined {
    const [x, y] = this.transform.invert([e.offsetX, e.offsetY]);
    const slack = 3 / this.transform.k;
    return this.props?.picture.nodes.find((n) => x >= n.x - slack && x <= n.x + chip.width + slack && y >= n.y - slack && y <= n.y + chip.height + slack);
  }

  private hover(e: PointerEvent) {
    if (e.buttons === 0) this.setHovered(this.at(e));
  }

  private setHovered(node: Node | undefined) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.style.cursor = node ? "pointer" : "";
    this.canvas.title = node ? [node.item.kind + " " + node.item.name, stateName(node.item.state), node.item.text].filter(Boolean).join("\n") : "";
    this.draw();
  }

  private click(e: MouseEvent) {
    const node = this.at(e);
    if (!node) return this.props?.select(undefined);
    if (this.props?.selected === node.item.uid || e.detail > 1) this.props?.open(node.item);
    else this.props?.select(node.item.uid);
  }

  private key(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.props) return;
    const { picture, selected } = this.props;
    const node = picture.byUID.get(selected ?? "");
    const canvas = select(this.canvas);
    if (e.key.startsWith("Arrow") && e.shiftKey) this.pan(e.key);
    else if (e.key.startsWith("Arrow")) this.props.select(walk(picture, node, e.key)?.item.uid);
    else if (e.key === "n") this.props.select(nextUnready(picture, node)?.item.uid ?? selected);
    else if (e.key === "Enter" && node) this.props.open(node.item);
    else if (e.key === "Escape") this.props.select(undefined);
    else if (e.key === "+" || e.key === "=") canvas.call(this.zoom.scaleBy, 1.5);
    else if (e.key === "-") canvas.call(this.zoom.scaleBy, 1 / 1.5);
    else if (e.key === "0") this.fit(true, true);
    else return;
    if (/^[+=-]$/.test(e.key)) this.moved = true;
    e.preventDefault();
    e.stopPropagation();
  }

  private pan(key: string) {
    const by = 80 / this.transform.k;
    const [x, y] = { ArrowLeft: [by, 0], ArrowRight: [-by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] }[key] ?? [0, 0];
    this.moved = true;
    select(this.canvas).call(this.zoom.translateBy, x!, y!);
  }
}
