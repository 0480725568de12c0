import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ControllerWork, OperatorWork, Reconciles, State, Tally } from "../contract";
import { cluster, objects, reconciles, reconcilesError } from "../live";
import type { Item } from "../objects";
import { states } from "../objects";
import { List } from "../parts/list";
import { Empty, Failure, Loading, RefLink, Unrecorded } from "../parts/small";
import { StateIcon, stateName } from "../parts/state";
import { objectHref } from "../route";
import { controllerHref } from "../searching";
import { useStore } from "../store";
import { age, count, cut, duration, number } from "../words";

export function Overview() {
  const version = useStore(objects.changed);
  const synced = useStore(objects.synced);
  const bad = useMemo(() => unready(), [version]);
  return (
    <div class="overview">
      <h1>{headline(synced)}</h1>
      <Counts />
      <Missing />
      <div class="columns">
        <section class="panel unready" aria-labelledby="unready">
          <h2 id="unready">Not ready or in progress</h2>
          <Unready items={bad} synced={synced} />
        </section>
        <div class="stack">
          <section class="panel" aria-labelledby="controllers">
            <h2 id="controllers">Controllers</h2>
            <Work show={(work) => <Controllers work={work} />} />
          </section>
          <section class="panel" aria-labelledby="noticed">
            <h2 id="noticed">Requests of operators</h2>
            <Work show={(work) => <Operators operators={work.operators ?? []} />} />
          </section>
        </div>
      </div>
    </div>
  );
}

function headline(synced: boolean): string {
  const all = objects.byUID.size;
  if (!synced) return all ? `Reading objects: ${number(all)} so far` : "Reading objects";
  const bad = objects.counts["not-ready"];
  if (all === 0) return "The cluster has no objects";
  return bad ? `${number(bad)} of ${count(all, "object")} ${bad === 1 ? "is" : "are"} not ready` : `All ${count(all, "object")} are ready or in progress`;
}

function Counts() {
  return (
    <ul class="counts">
      {states.map((s: State) => (
        <li key={s}>
          <a class={"count " + s + (objects.counts[s] ? "" : " zero")} href={"#/graph?state=" + s}>
            <StateIcon state={s} />
            <b>{number(objects.counts[s])}</b> {stateName(s)}
          </a>
        </li>
      ))}
    </ul>
  );
}

// Missing lists the kinds that cannot be read.
function Missing() {
  const unknown = useStore(objects.unknown);
  if (unknown.length === 0) return null;
  return (
    <details class="missing">
      <summary>{unknown.length === 1 ? "Something cannot be read, so it is missing here or old" : `${number(unknown.length)} kinds cannot be read, so their objects are missing here or old`}</summary>
      <ul>
        {unknown.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </details>
  );
}

const order: Record<string, number> = { "not-ready": 0, deleting: 1, "in-progress": 2 };

// unready are the objects that are not ready, the gravest and newest first. An owner is left out if one that it owns is
// the reason.
function unready(): Item[] {
  const all: Item[] = [];
  for (const o of objects.byUID.values()) {
    if (o.state !== "ready" && !objects.ownedBy(o.uid).some((c) => c.state !== "ready" && order[c.state]! <= order[o.state]!)) all.push(o);
  }
  return all.sort((a, b) => order[a.state]! - order[b.state]! || (a.created < b.created ? 1 : a.created > b.created ? -1 : a.name < b.name ? -1 : 1));
}

function Unready({ items, synced }: { items: Item[]; synced: boolean }) {
  if (items.length === 0) return synced ? <Empty title="Every object is ready." /> : <Loading what="objects" />;
  const open = (o: Item) => (location.hash = objectHref(o));
  return (
    <List
      label="Objects that are not ready, without owners of such objects"
      rows={items}
      rowHeight={46}
      keyOf={(o) => o.uid}
      onEnter={open}
      row={(o) => (
        <div class="unready-row">
          <StateIcon state={o.state} />
          <div>
            <a class="object" href={objectHref(o)} tabIndex={-1}>
              <span class="kind">{o.kind}</span> {o.namespace && <span class="namespace">{o.namespace}/</span>}
              <span class="name">{o.name}</span>
            </a>
            <span class="age" title={o.created}>{age(o.created)}</span>
            <Root of={o} />
            <p class="why">{o.text ? cut(o.text, 240) : stateName(o.state)}</p>
          </div>
        </div>
      )}
    />
  );
}

// Root links to the owner above all others.
function Root({ of }: { of: Item }) {
  let root = of;
  for (let depth = 0, owner: Item | undefined = of; owner && depth < 20; depth++, owner = objects.ownersOf(owner)[0]) root = owner;
  if (root === of) return null;
  return (
    <span class="of">
      {" of "}
      <a class="object" href={objectHref(root)} tabIndex={-1}>
        <span class="kind">{root.kind}</span> <span class="name">{root.name}</span>
      </a>
    </span>
  );
}

// Work shows what depends on the record.
function Work({ show }: { show(work: Reconciles): ComponentChildren }) {
  const about = useStore(cluster);
  const work = useStore(reconciles);
  const error = useStore(reconcilesError);
  if (about && !about.recorded) return <Unrecorded why={about.unrecorded} />;
  if (!work && error) return <Failure error={error} />;
  if (!work) return <Loading what="the record" />;
  return <>{show(work)}</>;
}

function Controllers({ work }: { work: Reconciles }) {
  const all = work.controllers ?? [];
  if (all.length === 0) return <Empty title="No controller has reconciled yet.">Operators that slipway dev runs appear here.</Empty>;
  return (
    <div class="table-scroll">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">controller</th>
            <th scope="col" class="n">reconciles</th>
            <th scope="col" class="n">per min</th>
            <th scope="col" class="n">median</th>
            <th scope="col" class="n">p95</th>
            <th scope="col">results</th>
          </tr>
        </thead>
        {all.map((c) => (
          <ControllerRows key={c.operator + " " + c.controller} work={c} />
        ))}
      </table>
      <p class="muted small">in the last {age(work.since)}</p>
    </div>
  );
}

function ControllerRows({ work: c }: { work: ControllerWork }) {
  return (
    <tbody>
      <tr>
        <th scope="row">
          <a href={controllerHref(c)}>
            <span class="namespace">{c.operator}/</span>
            {c.controller || "(no name)"}
          </a>
        </th>
        <td class="n">{number(c.reconciles)}</td>
        <td class="n">{c.perMinute.toFixed(c.perMinute < 10 ? 1 : 0)}</td>
        <td class="n">{duration(c.medianMs)}</td>
        <td class="n">{duration(c.p95Ms)}</td>
        <td>
          <Results results={c.results ?? {}} />
        </td>
      </tr>
      {c.newest && (
        <tr class="newest">
          <td colSpan={6}>
            <span class="bad-mark" aria-hidden="true">▲</span> {count(c.errors, "error")}
            {c.kinds && c.kinds.length > 1 ? ` of ${c.kinds.length} kinds` : ""}, the newest: <span class="mono">{cut(c.newest, 300)}</span>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Results({ results }: { results: Record<string, number> }) {
  return (
    <span class="results">
      {Object.entries(results).map(([name, n]) => (
        <span key={name} class={"result " + name.replace(" ", "-")}>
          {name || "none"} {number(n)}
        </span>
      ))}
    </span>
  );
}

const noticed: ["refused" | "conflicts" | "idle" | "reads" | "cached", string, string][] = [
  ["refused", "refused", "The API server refuses these requests."],
  ["conflicts", "conflicts", "The object had changed since it was read."],
  ["idle", "idle writes", "These writes change nothing but managed fields."],
  ["reads", "reads past the cache", "No cache has answered these reads."],
  ["cached", "caches grew by", "So many objects have come into the caches of the operator and not gone, without those that filled them."],
];

function Operators({ operators }: { operators: OperatorWork[] }) {
  const some = operators.filter((o) => o.restless?.length || noticed.some(([key]) => o[key]?.length));
  if (some.length === 0) return <Empty title="No request stands out.">Refused requests, conflicts, idle writes and reads past the cache appear here.</Empty>;
  return (
    <div class="operators">
      {some.map((o) => (
        <section key={o.user}>
          <h3 class="mono">{o.user}</h3>
          <dl>
            {noticed.map(([key, title, why]) => o[key]?.length ? <Tallies key={key} title={title} why={why} tallies={o[key]!} bad={key === "refused"} /> : null)}
            {!!o.restless?.length && (
              <div>
                <dt title="These objects are written again and again.">restless objects</dt>
                <dd>
                  {o.restless.slice(0, 8).map((r, i) => (
                    <p key={i}>
                      <RefLink to={r.object} /> <span class="times">{count(r.times, "write")}</span> <span class="muted mono">{cut((r.fields ?? []).join(", "), 120)}</span>
                    </p>
                  ))}
                </dd>
              </div>
            )}
          </dl>
        </section>
      ))}
    </div>
  );
}

function Tallies({ title, why, tallies, bad }: { title: string; why: string; tallies: Tally[]; bad: boolean }) {
  return (
    <div>
      <dt title={why} class={bad ? "bad" : ""}>
        {title}
      </dt>
      <dd>
        {tallies.slice(0, 8).map((t) => (
          <p key={t.what}>
            <span class="mono">{t.what}</span> <span class="times">{title === "caches grew by" ? number(t.times) : count(t.times, "time")}</span>
          </p>
        ))}
        {tallies.length > 8 && <p class="muted">{number(tallies.length - 8)} more</p>}
      </dd>
    </div>
  );
}
