import type { Reconcile } from "../contract";
import { cluster, reconciles, reconcilesError } from "../live";
import { List } from "../parts/list";
import { Empty, Failure, Loading, RefLink, Time, Unrecorded } from "../parts/small";
import { go, reconcileHref, route, setQuery } from "../route";
import { useStore } from "../store";
import { count, cut, number, took } from "../words";

// mostListed is how many the server lists.
const mostListed = 500;

const results = ["success", "error", "requeue", "requeue after", "running"];

export function ReconcilesView() {
  const about = useStore(cluster);
  const work = useStore(reconciles);
  const error = useStore(reconcilesError);
  const { query } = useStore(route);
  if (about && !about.recorded) return <Unrecorded why={about.unrecorded} />;
  if (!work) return error ? <Failure error={error} /> : <Loading what="reconciles" />;
  const all = work.reconciles ?? [];
  const [operator, controller, result] = [query.get("operator") ?? "", query.get("controller") ?? "", query.get("result") ?? ""];
  const shown = all.filter((r) => (!operator || r.operator === operator) && (!controller || r.controller === controller) && (!result || resultOf(r) === result));
  const names = new Map<string, { operator: string; controller: string }>();
  for (const c of [...(work.controllers ?? []), ...all]) names.set(c.operator + "/" + (c.controller ?? ""), { operator: c.operator, controller: c.controller ?? "" });
  return (
    <div class="view full">
      <h1 class="visually-hidden">Reconciles</h1>
      <form class="filters reconciles-filters" role="search" aria-label="Filter reconciles" onSubmit={(e) => e.preventDefault()}>
        <label class="field">
          <span>Controller</span>
          <select value={controller || operator ? operator + "/" + controller : ""} onChange={(e) => setQuery({ operator: "", controller: "", ...names.get(e.currentTarget.value) })}>
            <option value="">all</option>
            {[...names.keys()].sort().map((name) => (
              <option key={name} value={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Result</span>
          <select value={result} onChange={(e) => setQuery({ result: e.currentTarget.value })}>
            <option value="">all</option>
            {results.map((r) => (
              <option key={r} value={r}>{r}</option>
            ))}
          </select>
        </label>
        <span class="muted">{said(shown.length, all.length)}</span>
      </form>
      {shown.length === 0 ? (
        <Empty title={all.length ? "No reconcile matches." : "No reconcile is recorded yet."}>{all.length ? "Change the filters to see more." : "The reconciles of operators that slipway dev runs appear here."}</Empty>
      ) : (
        <List label="Reconciles, the newest first" rows={shown} rowHeight={44} keyOf={(r) => r.id} onEnter={(r) => go(reconcileHref(r.id))} row={(r) => <Row reconcile={r} />} />
      )}
    </div>
  );
}

function said(shown: number, all: number): string {
  if (all < mostListed) return count(shown, "reconcile") + ", the newest first";
  return shown === all ? `the newest ${count(all, "reconcile")}` : `${number(shown)} of the newest ${count(all, "reconcile")}`;
}

export function resultOf(r: Reconcile): string {
  return !r.ended ? "running" : r.result || "unknown";
}

export function ResultBadge({ reconcile: r }: { reconcile: Reconcile }) {
  const result = resultOf(r);
  return <span class={"badge result " + result.replace(" ", "-") + (result === "error" ? " bad" : "")}>{result}</span>;
}

function Row({ reconcile: r }: { reconcile: Reconcile }) {
  return (
    <div class="reconcile-row">
      <Time at={r.began} />
      <ResultBadge reconcile={r} />
      <span class="took">{took(r)}</span>
      <div class="entry-text">
        <div class="entry-head">
          <a class="reconcile-link" href={reconcileHref(r.id)} tabIndex={-1}>
            {r.controller || r.operator}
          </a>
          {r.object && <RefLink to={r.object} />}
          {r.inferred && <Inferred />}
        </div>
        <p class="summary">
          <span class="muted">
            {count(r.requests, "request")}, {count(r.writes, "write")}, {count(r.lines, "line")}
          </span>
          {r.error ? <span class="error-text">{cut(r.error, 200)}</span> : r.woken && <span class="muted">woken by {r.woken}</span>}
        </p>
      </div>
    </div>
  );
}

export function Inferred() {
  return (
    <span class="inferred" title="Times and objects suggest where this reconcile begins and ends. The operator did not say so.">
      inferred
    </span>
  );
}
