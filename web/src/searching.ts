import type { ControllerWork, Reconcile } from "./contract";
import type { Item, Objects } from "./objects";
import { objectHref, reconcileHref } from "./route";

// A Hit is what a search has found.
export interface Hit {
  href: string;
  sort: "object" | "controller" | "reconcile";
  title: string;
  detail: string;
  item?: Item;
}

const most = 24;

// Ranks of a hit: the whole name, its beginning, a part of it, other words.
const ranks = 4;

// search looks for all words of a text in objects, controllers and reconciles.
export function search(text: string, objects: Objects, controllers: ControllerWork[], reconciles: Reconcile[]): Hit[] {
  const words = text.toLowerCase().split(/[\s/]+/).filter(Boolean);
  if (words.length === 0) return [];
  return [...findControllers(words, controllers), ...findObjects(words, objects), ...findReconciles(words, reconciles)].slice(0, most);
}

function findObjects(words: string[], objects: Objects): Hit[] {
  const last = words[words.length - 1]!;
  const found: Item[][] = Array.from({ length: ranks }, () => []);
  for (const item of objects.byUID.values()) {
    if (!words.every((w) => item.words.includes(w))) continue;
    const at = item.lowerName.indexOf(last);
    const rank = item.lowerName === last ? 0 : at === 0 ? 1 : at > 0 ? 2 : 3;
    if (found[rank]!.length < most) found[rank]!.push(item);
  }
  return found.flat().slice(0, most).map((item) => ({
    href: objectHref(item),
    sort: "object",
    title: item.name,
    detail: [item.kind, item.namespace].filter(Boolean).join(" · "),
    item,
  }));
}

function findControllers(words: string[], controllers: ControllerWork[]): Hit[] {
  return controllers
    .filter((c) => has(words, `controller ${c.operator} ${c.controller}`))
    .slice(0, 5)
    .map((c) => ({ href: controllerHref(c), sort: "controller", title: c.controller, detail: `controller of ${c.operator}` }));
}

function findReconciles(words: string[], reconciles: Reconcile[]): Hit[] {
  return reconciles
    .filter((r) => has(words, `reconcile ${r.id} ${r.controller ?? ""} ${r.object?.kind ?? ""} ${r.object?.namespace ?? ""} ${r.object?.name ?? ""}`))
    .slice(0, 10)
    .map((r) => ({ href: reconcileHref(r.id), sort: "reconcile", title: r.object?.name ?? r.id, detail: `reconcile of ${r.controller || r.operator}` }));
}

function has(words: string[], text: string): boolean {
  const lower = text.toLowerCase();
  return words.every((w) => lower.includes(w));
}

export function controllerHref(c: { operator: string; controller: string }): string {
  return "#/reconciles?" + new URLSearchParams({ operator: c.operator, controller: c.controller });
}
