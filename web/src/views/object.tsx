import { useEffect, useState } from "preact/hooks";
import { get, query } from "../api";
import type { Answer, Cause } from "../contract";
import { cluster, objects, onEntries } from "../live";
import { EntryList } from "../parts/entrylist";
import { Copy, Failure, Loading, RefLink, Unrecorded } from "../parts/small";
import { StateIcon, StateText } from "../parts/state";
import { fullResource } from "../route";
import { later } from "../slices";
import { useStore } from "../store";
import { age, moment, number } from "../words";

type Names = { resource: string; namespace: string; name: string };

// How often the answer is asked for while the object changes.
const refreshMs = 1000;

export function ObjectView(names: Names) {
  const about = useStore(cluster);
  const [answer, error, again] = useAnswer(names);
  useStore(objects.changed);
  const item = objects.find(names.resource, names.namespace, names.name);
  return (
    <div class="view object-view">
      <header class="view-head">
        <p class="crumbs">
          {names.namespace && <><a href={"#/graph?" + new URLSearchParams({ namespace: names.namespace })}>{names.namespace}</a> / </>}
          <span>{answer?.object.kind ?? item?.kind ?? names.resource}</span>
        </p>
        <h1>{names.name}</h1>
        <p class="head-line">
          {(answer || item) && <StateText state={answer?.state ?? item!.state} />}
          {item && <span class="muted" title={moment(item.created)}>created {age(item.created)} ago</span>}
          {item && <a href={"#/graph?at=" + encodeURIComponent(item.uid)}>Show in the graph</a>}
        </p>
      </header>
      <div class="columns object-columns">
        <div class="stack">
          {error && !answer ? <Failure error={error} again={again} /> : answer ? <Explained answer={answer} /> : <Loading what="the causes" />}
        </div>
        <section class="panel history" aria-labelledby="history">
          <h2 id="history">Timeline</h2>
          {about && !about.recorded ? <Unrecorded why={about.unrecorded} /> : <EntryList key={JSON.stringify(names)} question={names} withoutObject label="Entries of this object, the newest first" />}
        </section>
      </div>
    </div>
  );
}

// useAnswer asks again when the object or what it owns changes.
function useAnswer(names: Names): [Answer | undefined, Error | undefined, () => void] {
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<Error>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const connection = new AbortController();
    const path = query("/api/explain", names);
    get<Answer>(path, connection.signal).then(
      (a) => {
        setAnswer(a);
        setError(undefined);
      },
      (e) => !connection.signal.aborted && setError(e),
    );
    return () => connection.abort();
  }, [round]);
  useEffect(() => {
    const again = later(refreshMs, () => setRound((n) => n + 1));
    const stop = onEntries((entries) => {
      if (entries.some((e) => e.object && fullResource(e.object) === names.resource && (e.object.namespace ?? "") === names.namespace && e.object.name === names.name)) again();
    });
    let shown = objects.find(names.resource, names.namespace, names.name);
    const watch = objects.changed.subscribe(() => {
      const now = objects.find(names.resource, names.namespace, names.name);
      if (now?.state !== shown?.state || now?.text !== shown?.text) again();
      shown = now;
    });
    return () => {
      stop();
      watch();
    };
  }, []);
  return [answer, error, () => setRound((n) => n + 1)];
}

function Explained({ answer: a }: { answer: Answer }) {
  const causes = a.causes ?? [];
  return (
    <>
      <section class="panel" aria-labelledby="causes">
        <h2 id="causes">{causes.length ? (causes.length === 1 ? "Cause" : "Causes") : "State"}</h2>
        {causes.map((c, i) => (
          <OneCause key={i} cause={c} first={i === 0} />
        ))}
        {causes.length === 0 && <p>{calm(a)}</p>}
        {a.waiting && <p class="waiting">{a.waiting}</p>}
      </section>
      {(a.tree?.length ?? 0) > 1 && (
        <section class="panel" aria-labelledby="tree">
          <h2 id="tree">What it owns</h2>
          <Tree answer={a} />
        </section>
      )}
      {!!a.references?.length && (
        <section class="panel" aria-labelledby="references">
          <h2 id="references">What it refers to</h2>
          <References answer={a} />
        </section>
      )}
      {!!a.unknown?.length && (
        <section class="panel" aria-labelledby="unknown">
          <h2 id="unknown">Not looked at</h2>
          <ul class="plain">{a.unknown.map((text) => <li key={text}>{text}</li>)}</ul>
        </section>
      )}
    </>
  );
}

const calmTexts: Record<string, string> = {
  ready: "It is ready, and nothing that explain looks at is wrong.",
  "in-progress": "It is in progress, and nothing is wrong so far.",
  missing: "It does not exist.",
};

function calm(a: Answer): string {
  return calmTexts[a.state] ?? "Explain knows no cause.";
}

function OneCause({ cause: c, first }: { cause: Cause; first: boolean }) {
  return (
    <article class={"cause" + (first ? " first" : "")}>
      <p class="cause-head">
        <b>{c.reason}</b> <RefLink to={c.object} /> {c.container && <span class="muted">container {c.container}</span>}
        {c.probe && <span class="muted">{c.probe} probe</span>}
      </p>
      <p class="cause-text">{c.message}</p>
      {c.next && <Copy text={c.next} />}
      {!!c.log?.length && (
        <figure class="log-end">
          <figcaption>end of the log</figcaption>
          <pre>{c.log.join("\n")}</pre>
        </figure>
      )}
    </article>
  );
}

function Tree({ answer: a }: { answer: Answer }) {
  return (
    <>
      <ul class="tree">
        {a.tree!.map((n, i) => (
          <li key={i} style={{ paddingInlineStart: n.depth * 20 + "px" }}>
            <StateIcon state={n.state} />
            <RefLink to={n.object} />
            <span class="tree-text">{n.text}</span>
          </li>
        ))}
      </ul>
      {!!a.more && <p class="muted">{number(a.more)} more objects are not listed.</p>}
    </>
  );
}

function References({ answer: a }: { answer: Answer }) {
  return (
    <ul class="plain references">
      {a.references!.map((r, i) => (
        <li key={i}>
          <RefLink to={r.object} /> {r.missing && <span class="badge bad">missing</span>}
          <span class="muted">
            {" "}
            by <code>{r.field}</code> of {r.by.kind} {r.by.name}
          </span>
        </li>
      ))}
    </ul>
  );
}
