import { useEffect, useState } from "preact/hooks";
import type { Item } from "./objects";
import { Slices } from "./slices";

// ordered sorts objects by namespace, kind and name. To sort ten thousand at once takes too long for one task.
export async function ordered(items: Item[], slices: Slices): Promise<Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = `${item.namespace ?? ""}\n${item.kind}`;
    const alike = groups.get(group);
    if (alike) alike.push(item);
    else groups.set(group, [item]);
  }
  await slices.pause();
  const all: Item[] = [];
  for (const group of [...groups.keys()].sort()) {
    all.push(...groups.get(group)!.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)));
    await slices.pause();
  }
  return all;
}

// useOrdered has the objects in order, those of before until the new order is known.
export function useOrdered(items: Item[]): Item[] {
  const [sorted, setSorted] = useState<Item[]>([]);
  useEffect(() => {
    let stale = false;
    void ordered(items, new Slices()).then((all) => {
      if (!stale) setSorted(all);
    });
    return () => {
      stale = true;
    };
  }, [items]);
  return sorted;
}
