import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas } from "../graph/canvas";
import { Layout, nothing, type Picture } from "../graph/layout";
import { objects } from "../live";
import { useOrdered } from "../ordering";
import { type Item, states } from "../objects";
import { List } from "../parts/list";
import { Empty, Loading } from "../parts/small";
import { StateIcon, stateName, StateText } from "../parts/state";
import { go, objectHref, route, setQuery } from "../route";
import { Slices } from "../slices";
import { useStore } from "../store";
import { count, number } from "../words";
import { Typed } from "./timeline";

export function GraphView() {
  const { query } = useStore(route);
  const version = useStore(objects.changed);
  const synced = useStore(objects.synced);
  const filter = useMemo(() => readFilter(query), [query]);
  const items = useMemo(() => [...objects.byUID.values()].filter((o) => passes(filter, o)), [version, filter]);
  const picture = usePicture(items, filter.name, synced);
  const selected = query.get("at") ?? undefined;
  const listed = query.get("as") === "list";
  const open = (item: Item) => go(objectHref(item));
  return (
    <div class="view full graph-view">
      <h1 class="visually-hidden">Graph</h1>
      <Filters query={query} shown={items.length} />
      {items.length === 0 && synced ? (
        <Empty title={objects.byUID.size ? "No object matches." : "The cluster has no objects."}>{objects.byUID.size ? "Change the filters to see more." : ""}</Empty>
      ) : listed ? (
        <ObjectList items={items} />
      ) : (
        <div class="graph-area">
          {picture === nothing && <Loading what="objects" />}
          <Canvas picture={picture} selected={selected} fitted={filter.name} select={(uid) => setQuery({ at: uid })} open={open} />
          <Selected item={objects.byUID.get(selected ?? "")} />
          <Legend />
        </div>
      )}
    </div>
  );
}

// How often objects are arranged anew while others come and go, in milliseconds.
const [often, rarely, many] = [200, 1500, 2000];

// usePicture arranges the objects that are shown. State and text change in place; only other objects need another
// arrangement.
function usePicture(items: Item[], filter: string, ready: boolean): Picture {
  const [picture, setPicture] = useState<Picture>(nothing);
  const layout = useRef({ filter: "", layout: new Layout(), run: 0, structure: -1, at: 0 });
  useEffect(() => {
    const now = layout.current;
    if (!ready) return;
    if (now.filter !== filter) Object.assign(now, { filter, layout: new Layout(), structure: -1 });
    if (now.structure === objects.structure && filter === "" && picture !== nothing) {
      setPicture((p) => refreshed(p));
      return;
    }
    const run = ++now.run;
    const arrange = async () => {
      const structure = objects.structure;
      const p = await arranged(now.layout, items, () => now.run !== run);
      if (!p) return;
      Object.assign(now, { structure, at: performance.now() });
      setPicture(p);
    };
    const rest = now.structure < 0 ? 0 : Math.max(0, now.at + (items.length > many ? rarely : often) - performance.now());
    const timer = window.setTimeout(() => void arrange(), rest);
    return () => window.clearTimeout(timer);
  }, [items, filter, ready]);
  useEffect(() => () => void layout.current.run++, []);
  return picture;
}

let busy: Promise<unknown> = Promise.resolve();

// arranged does one arrangement at a time, since a layout remembers places.
function arranged(layout: Layout, items: Item[], stale: () => boolean): Promise<Picture | undefined> {
  const mine = busy.then(() => (stale() ? undefined : layout.arrange(items, new Slices())));
  busy = mine.catch(() => {});
  return mine;
}

// refreshed has the present objects in the places of a picture.
function refreshed(p: Picture): Picture {
  for (const node of p.nodes) node.item = node.tree.item = objects.byUID.get(node.item.uid) ?? node.item;
  return { ...p };
}

interface Filter {
  name: string; // differs if the filter does
  namespace: string;
  kind: string;
  states: string[];
  owned: string;
  text: string;
}

function readFilter(query: URLSearchParams): Filter {
  const f = { namespace: query.get("namespace") ?? "", kind: query.get("kind") ?? "", states: (query.get("state") ?? "").split(" ").filter(Boolean), owned: query.get("owned") ?? "", text: (query.get("text") ?? "").toLowerCase() };
  return { ...f, name: f.namespace || f.kind || f.states.length || f.owned || f.text ? JSON.stringify(f) : "" };
}

// clusterScoped is the filter for objects that are in no namespace.
const clusterScoped = "-";

function passes(f: Filter, o: Item): boolean {
  if (f.namespace && (o.namespace ?? clusterScoped) !== f.namespace) return false;
  if (f.kind && o.kind !== f.kind) return false;
  if (f.states.length && !f.states.includes(o.state)) return false;
  if (f.text && !o.words.includes(f.text)) return false;
  if (!f.owned) return true;
  const linked = !!o.owners?.length || objects.owns(o.uid);
  return linked === (f.owned === "yes");
}

function Filters({ query, shown }: { query: URLSearchParams; shown: number }) {
  const version = useStore(objects.changed);
  const [namespaces, kinds] = useMemo(() => names(), [version]);
  const chosen = (query.get("state") ?? "").split(" ").filter(Boolean);
  const listed = query.get("as") === "list";
  return (
    <form class="filters" role="search" aria-label="Filter objects" onSubmit={(e) => e.preventDefault()}>
      <Choice label="Namespace" name="namespace" value={query.get("namespace") ?? ""} options={namespaces} />
      <Choice label="Kind" name="kind" value={query.get("kind") ?? ""} options={kinds} />
      <Choice label="Owners" name="owned" value={query.get("owned") ?? ""} options={[["yes", "owner or owned"], ["no", "alone"]]} />
      <fieldset class="chips">
        <legend class="visually-hidden">States</legend>
        {states.map((s) => (
          <label key={s} class="chip">
            <input
              type="checkbox"
              checked={chosen.includes(s)}
              onChange={(e) => setQuery({ state: states.filter((one) => (one === s ? e.currentTarget.checked : chosen.includes(one))).join(" ") })}
            />
            <StateIcon state={s} /> {stateName(s)}
          </label>
        ))}
      </fieldset>
      <Typed name="text" label="Filter by text" value={query.get("text") ?? ""} />
      <div class="shown">
        <span class="muted">{shown === objects.byUID.size ? count(shown, "object") : `${number(shown)} of ${number(objects.byUID.size)}`}</span>
        <span class="switch" role="group" aria-label="Show as">
          <button type="button" aria-pressed={!listed} onClick={() => setQuery({ as: undefined })}>Graph</button>
          <button type="button" aria-pressed={listed} onClick={() => setQuery({ as: "list" })}>List</button>
        </span>
      </div>
    </form>
  );
}

function names(): [[string, string][], [string, string][]] {
  const [namespaces, kinds] = [new Set<string>(), new Set<string>()];
  for (const o of objects.byUID.values()) {
    namespaces.add(o.namespace ?? clusterScoped);
    kinds.add(o.kind);
  }
  return [[...namespaces].sort().map((n) => [n, n === clusterScoped ? "no namespace" : n]), [...kinds].sort().map((k) => [k, k])];
}

function Choice({ label, name, value, options }: { label: string; name: string; value: string; options: [string, string][] }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(e) => setQuery({ [name]: e.currentTarget.value })}>
        <option value="">all</option>
        {options.map(([v, text]) => (
          <option key={v} value={v}>{text}</option>
        ))}
      </select>
    </label>
  );
}

// Selected is what the object at hand is, with its link.
function Selected({ item }: { item: Item | undefined }) {
  return (
    <aside id="graph-selected" class={"selected" + (item ? "" : " none")} aria-live="polite" aria-label="Selected object">
      {item && (
        <>
          <p class="muted">{[item.kind, item.namespace].filter(Boolean).join(" · ")}</p>
          <p>
            <a href={objectHref(item)}>{item.name}</a>
          </p>
          <p>
            <StateText state={item.state} /> {item.text && <span class="why">{item.text}</span>}
          </p>
          <p class="muted">{[relation("owned by", objects.ownersOf(item)), relation("owns", objects.ownedBy(item.uid))].filter(Boolean).join("; ")}</p>
        </>
      )}
    </aside>
  );
}

function relation(verb: string, items: Item[]): string {
  if (items.length === 0) return "";
  return items.length === 1 ? `${verb} ${items[0]!.kind} ${items[0]!.name}` : `${verb} ${count(items.length, "object")}`;
}

function Legend() {
  return (
    <ul class="legend" aria-label="States">
      {states.map((s) => (
        <li key={s}>
          <StateText state={s} />
        </li>
      ))}
    </ul>
  );
}

function ObjectList({ items }: { items: Item[] }) {
  const sorted = useOrdered(items);
  return (
    <List
      label="Objects"
      rows={sorted}
      rowHeight={32}
      keyOf={(o) => o.uid}
      onEnter={(o) => go(objectHref(o))}
      row={(o) => (
        <div class="object-row">
          <StateIcon state={o.state} />
          <a class="object" href={objectHref(o)} tabIndex={-1}>
            <span class="kind">{o.kind}</span> {o.namespace && <span class="namespace">{o.namespace}/</span>}
            <span class="name">{o.name}</span>
          </a>
          <span class="why">{o.text}</span>
        </div>
      )}
    />
  );
}
