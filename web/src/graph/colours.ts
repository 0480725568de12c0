import type { State } from "../contract";

// Colours are those of the page's style sheet, as the browser has computed them.
export interface Colours {
  page: string;
  raised: string;
  block: string;
  group: string;
  ink: string;
  muted: string;
  line: string;
  link: string;
  edge: string;
  calm: string; // of bars that are ready: the others shall be seen first
  state: Record<State, string>;
  mark: Record<State, string>; // on the state's colour
}

export function readColours(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  element.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const states = (suffix: string) => ({ ready: read("ready" + suffix), "in-progress": read("in-progress" + suffix), "not-ready": read("not-ready" + suffix), deleting: read("deleting" + suffix) });
  const colours = {
    page: read("page"), raised: read("raised"), block: read("block"), group: read("group"), ink: read("ink"), muted: read("muted"), line: read("line"), link: read("link"), edge: read("edge"), calm: read("calm"),
    state: states(""), mark: states("-on"),
  };
  probe.remove();
  return colours;
}

// pixel is a colour as a canvas keeps it in memory, on machines that begin with the lowest byte.
export function pixel(color: string): number {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
