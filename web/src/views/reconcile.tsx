import { useEffect, useState } from "preact/hooks";
import { get, query } from "../api";
import type { Entry, OneReconcile } from "../contract";
import { isRefused } from "../entries";
import { onEntries } from "../live";
import { Diff } from "../parts/diff";
import { Fact, Summary } from "../parts/entry";
import { Failure, Loading, RecordLink, RefLink } from "../parts/small";
import { later } from "../slices";
import { count, duration, moment, took } from "../words";
import { Inferred, ResultBadge } from "./reconciles";

export function ReconcileView({ id }: { id: string }) {
  const [one, setOne] = useState<OneReconcile>();
  const [error, setError] = useState<Error>();
  const read = () => get<OneReconcile>(query("/api/reconcile", { id })).then((r) => { setOne(r); setError(undefined); }, setError);
  useEffect(() => {
    void read();
  }, [id]);
  const running = one !== undefined && !one.reconcile.ended;
  useEffect(() => {
    if (!running) return;
    return onEntries(later(1000, () => void read()));
  }, [running]);
  if (error && !one) return <Failure error={error} again={read} />;
  if (!one) return <Loading what="the reconcile" />;
  return (
    <div class="view reconcile">
      <Head one={one} />
      <Columns one={one} />
    </div>
  );
}

function Head({ one: { reconcile: r } }: { one: OneReconcile }) {
  return (
    <header class="view-head">
      <p class="crumbs"><a href="#/reconciles">Reconciles</a></p>
      <h1>
        {r.controller || r.operator} {r.object && <>· <RefLink to={r.object} /></>}
      </h1>
      <dl class="facts">
        <Fact name="result"><ResultBadge reconcile={r} />{r.inferred ? <Inferred /> : <span class="muted"> exact</span>}</Fact>
        <Fact name="began"><span class="mono">{moment(r.began)}</span></Fact>
        <Fact name="took">{took(r)}</Fact>
        <Fact name="woken by">{r.woken}</Fact>
        <Fact name="operator">{r.operator}</Fact>
        <Fact name="user">{r.user}</Fact>
        <Fact name="id"><span class="mono">{r.id}</span></Fact>
      </dl>
      {r.error && <pre class="message bad">{r.error}</pre>}
    </header>
  );
}

// Columns has requests and writes on the left, log lines on the right, each at its time.
function Columns({ one }: { one: OneReconcile }) {
  const entries = one.entries ?? [];
  const lines = entries.filter((e) => e.kind === "line").length;
  return (
    <div class="beside" role="table" aria-label="Requests and log lines by time">
      <div role="row" class="beside-head">
        <span role="columnheader">time</span>
        <span role="columnheader">{count(entries.length - lines, "request and write", "requests and writes")}</span>
        <span role="columnheader">{count(lines, "log line")}</span>
      </div>
      {entries.length === 0 && <p class="muted">Neither a request nor a log line belongs to it.</p>}
      {entries.map((e, i) => (
        <div role="row" class="beside-row" key={e.seq || i}>
          <span role="cell" class="offset" title={moment(timeOf(e))}>{offset(one.reconcile.began, timeOf(e))}</span>
          <div role="cell" class="left">{e.kind !== "line" && <Request entry={e} />}</div>
          <div role="cell" class="right">{e.kind === "line" && <Line entry={e} />}</div>
        </div>
      ))}
    </div>
  );
}

function timeOf(e: Entry): string {
  return e.logged ?? e.at;
}

function offset(began: string, at: string): string {
  const ms = new Date(at).getTime() - new Date(began).getTime();
  return (ms < 0 ? "−" : "+") + duration(Math.abs(ms));
}

function Line({ entry: e }: { entry: Entry }) {
  return (
    <p class={"log " + (e.level ?? "")}>
      {e.level && <b>{e.level}</b>} {e.text ?? e.message}
    </p>
  );
}

function Request({ entry: e }: { entry: Entry }) {
  const [open, setOpen] = useState(false);
  const has = !!e.changes?.length;
  const refused = isRefused(e);
  return (
    <div class={"step " + e.kind + (refused ? " bad" : "")}>
      <p class="step-head">
        <b>{e.kind === "delivery" ? `woken: ${e.type ?? ""}` : [e.by?.verb ?? e.type, e.by?.subresource].filter(Boolean).join(" ")}</b>
        {e.object && <RecordLink to={e.object} />}
        {e.status !== undefined && <span class={"status" + (refused ? " bad" : "")}>{e.status}</span>}
        {e.latencyMs !== undefined && <span class="took">{duration(e.latencyMs)}</span>}
        {e.inferred && <Inferred />}
        {has && (
          <button type="button" class="button small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Close" : count(e.changes!.length + (e.moreChanges ?? 0), "change")}
          </button>
        )}
      </p>
      {open ? <Diff changes={e.changes!} more={e.moreChanges} /> : <Summary entry={e} />}
    </div>
  );
}
