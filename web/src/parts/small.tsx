import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Refused } from "../api";
import type { RecordObject, Ref } from "../contract";
import { objects } from "../live";
import { useStore } from "../store";
import { objectHref, recordObjectHref } from "../route";
import { clock, moment } from "../words";

// Copy shows a command that can be copied.
export function Copy({ text }: { text: string }) {
  const [said, say] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say("Select and copy it");
    }
    window.setTimeout(() => say(""), 2000);
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" class="button small" onClick={copy} aria-label={"Copy " + text}>
        {said || "Copy"}
      </button>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </div>
  );
}

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {clock(at)}
    </time>
  );
}

// ObjectName is how an object is named: kind, namespace, name.
function ObjectName({ kind, namespace, name }: { kind: string; namespace?: string; name?: string }) {
  return (
    <>
      <span class="kind">{kind}</span> {namespace && <span class="namespace">{namespace}/</span>}
      <span class="name">{name}</span>
    </>
  );
}

// RefLink links to an object that a text names by its kind, if the page knows it.
export function RefLink({ to }: { to: Ref }) {
  useStore(objects.synced);
  const item = objects.of(to);
  if (!item) return <span class="object"><ObjectName {...to} /></span>;
  return (
    <a class="object" href={objectHref(item)}>
      <ObjectName {...to} kind={item.kind} />
    </a>
  );
}

// RecordLink links to the object of an entry, also one that is gone.
export function RecordLink({ to }: { to: RecordObject }) {
  const kind = to.kind || to.resource;
  if (!to.name) return <span class="object"><ObjectName kind={kind} namespace={to.namespace} /></span>;
  return (
    <a class="object" href={recordObjectHref(to)}>
      <ObjectName kind={kind} namespace={to.namespace} name={to.name} />
    </a>
  );
}

export function Loading({ what }: { what: string }) {
  // What is there at once needs no notice that flashes up.
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), 250);
    return () => window.clearTimeout(timer);
  }, []);
  return <p class="notice loading" role="status">{late && <><span class="spinner" aria-hidden="true" /> Loading {what}</>}</p>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice empty">
      <p class="notice-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

// Failure shows what went wrong, what helps, and lets the user try again.
export function Failure({ error, again }: { error: Error; again?: () => void }) {
  const refused = error instanceof Refused;
  return (
    <div class="notice failure" role="alert">
      <p class="notice-title">{refused ? error.message : "The server does not answer."}</p>
      {refused && error.next && <Copy text={error.next} />}
      {!refused && <p>The page asks again when the connection is back.</p>}
      {again && <button type="button" class="button" onClick={again}>Try again</button>}
    </div>
  );
}

// Unrecorded says why there is no record.
export function Unrecorded({ why }: { why?: string }) {
  return (
    <Empty title="This cluster keeps no record.">
      {why || "Clusters that slipway cluster start or slipway dev starts record their writes, refusals and requests."}
    </Empty>
  );
}
