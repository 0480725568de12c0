import type { ComponentChildren } from "preact";
import type { Entry } from "../contract";
import { isRefused } from "../entries";
import { reconcileHref } from "../route";
import { cut, duration, number } from "../words";
import { Diff, inline } from "./diff";
import { RecordLink, Time } from "./small";

const labels: Record<string, string> = { write: "write", refusal: "refused", event: "event", marker: "cluster", gap: "gap", request: "request", delivery: "delivery", line: "log" };

// changesShown is how many changes a closed entry shows.
const changesShown = 2;

// EntryRow is an entry of the record: a line, and its details below when it is open.
export function EntryRow({ entry, open, toggle, withoutObject }: { entry: Entry; open: boolean; toggle(): void; withoutObject?: boolean }) {
  if (entry.kind === "gap" || entry.kind === "marker") return <Notice entry={entry} />;
  return (
    <div class={"entry" + (open ? " open" : "")}>
      <button type="button" class="opener" tabIndex={-1} aria-expanded={open} aria-label={(open ? "Close" : "Open") + " details"} onClick={toggle} />
      <Time at={entry.at} />
      <Badge entry={entry} />
      <div class="entry-text">
        <div class="entry-head">
          {!withoutObject && entry.object && <RecordLink to={entry.object} />}
          <span class="who">{entry.who || entry.operator || ""}</span>
          <span class="verb">{action(entry)}</span>
        </div>
        {!open && <Summary entry={entry} />}
        {open && <Details entry={entry} />}
      </div>
    </div>
  );
}

function Notice({ entry }: { entry: Entry }) {
  const text = entry.kind === "gap" ? gapText(entry) : markers[entry.type ?? ""] ?? entry.type ?? "";
  return (
    <div class={"entry break " + entry.kind}>
      <Time at={entry.at} />
      <span>{text}</span>
    </div>
  );
}

const markers: Record<string, string> = {
  began: "The cluster started, and its record began.",
  resetting: "The cluster is being reset.",
  reset: "The cluster was reset.",
  kept: "The cluster started again and kept its objects.",
};

function gapText(e: Entry): string {
  const what = e.missed ? `${number(e.missed)} entries are missing here.` : "Entries are missing here.";
  return e.message ? `${what} ${e.message}` : what;
}

export function Badge({ entry }: { entry: Entry }) {
  const refused = isRefused(entry);
  const bad = refused || (entry.kind === "line" && entry.level === "error") || (entry.kind === "event" && entry.type === "Warning");
  const label = entry.kind === "write" ? (entry.type ?? "write") : entry.kind === "line" ? entry.level || "log" : entry.kind === "event" && bad ? "warning" : (labels[entry.kind] ?? entry.kind);
  return <span class={`badge ${entry.kind} ${bad ? "bad" : ""} ${entry.type ?? ""}`}>{label}</span>;
}

function action(e: Entry): string {
  const verb = [e.by?.verb, e.by?.subresource].filter(Boolean).join(" ");
  const status = e.status ? String(e.status) : "";
  const took = e.latencyMs === undefined ? "" : duration(e.latencyMs);
  return [verb || (e.kind === "delivery" || e.kind === "event" ? e.type : ""), e.path, status, took].filter(Boolean).join(" · ");
}

// Summary is the essence of an entry in a line.
export function Summary({ entry: e }: { entry: Entry }) {
  if (e.kind === "write" && e.idle) return <p class="summary muted">changed nothing but managed fields</p>;
  if (e.message || e.reason) {
    const said = [e.reason, e.text ?? e.message].filter(Boolean).join(": ") + (e.count && e.count > 1 ? ` (${number(e.count)} times)` : "");
    return <p class={"summary" + (e.kind === "line" ? " mono" : "")}>{cut(said, 300)}</p>;
  }
  const changes = (e.changes ?? []).filter((c) => c.path);
  if (changes.length === 0) return e.keys?.length ? <p class="summary">{keysText(e)}</p> : null;
  const rest = changes.length - changesShown + (e.moreChanges ?? 0);
  return (
    <p class="summary mono">
      {changes.slice(0, changesShown).map((c, i) => {
        const one = inline(c);
        return (
          <span class="inline-change" key={i}>
            <span class="path">{one.path}</span> {one.before !== undefined && <del>{one.before}</del>} {one.before !== undefined && one.after !== undefined && "→ "}
            {one.after !== undefined && <ins>{one.after}</ins>}
          </span>
        );
      })}
      {rest > 0 && <span class="muted">{number(rest)} more</span>}
    </p>
  );
}

function keysText(e: Entry): string {
  return `values changed that are not recorded: ${(e.keys ?? []).join(", ")}`;
}

function Details({ entry: e }: { entry: Entry }) {
  return (
    <div class="details">
      {e.idle && <p>The write changed nothing but managed fields.</p>}
      {e.reason && <p class="reason">{e.reason}</p>}
      {e.message && <pre class="message">{e.message}</pre>}
      {e.unread && <p class="muted">{e.unread}</p>}
      {!!e.keys?.length && <p>{keysText(e)}</p>}
      {!!e.changes?.length && <Diff changes={e.changes} more={e.moreChanges} />}
      {e.decisions?.map((d, i) => (
        <p key={i}>
          <b>{d.plugin}</b> {d.effect} {d.text}
        </p>
      ))}
      <dl class="facts">
        <Fact name="user">{e.by?.user}</Fact>
        <Fact name="program">{e.by?.agent}</Fact>
        <Fact name="manager">{e.by?.manager}</Fact>
        <Fact name="controller">{e.controller}</Fact>
        <Fact name="times">{e.count && e.count > 1 ? number(e.count) : undefined}</Fact>
        <Fact name="reconcile">{e.reconcile ? <ReconcileLink id={e.reconcile} inferred={!!e.inferred} /> : undefined}</Fact>
        <Fact name="entry">{e.seq ? String(e.seq) : undefined}</Fact>
      </dl>
    </div>
  );
}

function ReconcileLink({ id, inferred }: { id: string; inferred: boolean }) {
  return (
    <>
      <a class="mono" href={reconcileHref(id)}>
        {id}
      </a>
      {inferred && <span class="inferred" title="The time and the object suggest it. The client did not name its reconcile.">inferred</span>}
    </>
  );
}

export function Fact({ name, children }: { name: string; children?: ComponentChildren }) {
  if (children === undefined || children === "" || children === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
