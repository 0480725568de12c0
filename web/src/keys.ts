import { go } from "./route";
import { Store } from "./store";

// help is whether the list of keys is shown.
export const help = new Store(false);

const stored = "letters";

// letters is whether single letters are keys. Speech input types letters by mistake, so they can be switched off.
export const letters = new Store(localStorage.getItem(stored) !== "off");

export function setLetters(on: boolean) {
  letters.set(on);
  localStorage.setItem(stored, on ? "on" : "off");
}

const places: Record<string, string> = { o: "#/", g: "#/graph", t: "#/timeline", r: "#/reconciles" };

export function watchKeys() {
  window.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !letters.value || isEditing(e.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (e.key === "/") document.getElementById("search")?.focus();
    else if (e.key === "?") help.set(true);
    else if (e.key in places) go(places[e.key]!);
    else return;
    e.preventDefault();
  });
}

function isEditing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

export const keyTable: [string, [string, string][]][] = [
  ["Everywhere", [["/", "search"], ["o", "overview"], ["g", "graph"], ["t", "timeline"], ["r", "reconciles"], ["?", "these keys"], ["Esc", "close, clear"]]],
  ["Lists", [["↑ ↓ or k j", "row before, row after"], ["PgUp PgDn", "a page up, a page down"], ["Home End", "first row, last row"], ["Enter", "open or close the row"], ["Tab", "to the links of the row"]]],
  ["Graph", [["←", "owner"], ["→", "first object that it owns"], ["↑ ↓", "sibling before, sibling after"], ["n", "next object that is not ready"], ["Enter", "open the object"], ["+ −", "closer, farther"], ["0", "all objects"], ["Shift + arrows", "move the view"]]],
];
