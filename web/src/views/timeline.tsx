import { useEffect, useState } from "preact/hooks";
import { cluster, reconciles } from "../live";
import { EntryList } from "../parts/entrylist";
import { Empty, Unrecorded } from "../parts/small";
import { route, setQuery } from "../route";
import { useStore } from "../store";

const kinds: [string, string][] = [["write", "writes"], ["refusal", "refusals"], ["event", "events"], ["request", "requests"], ["delivery", "deliveries"], ["line", "log lines"], ["debug", "debug lines"], ["marker,gap", "cluster"]];
// Requests, deliveries and lines for debugging are many: they are shown when they are asked for.
const usual = ["write", "refusal", "event", "line", "marker,gap"];

export function TimelineView() {
  const { query } = useStore(route);
  const about = useStore(cluster);
  const chosen = query.has("kinds") ? query.get("kinds")!.split(" ").filter(Boolean) : usual;
  const text = query.get("text") ?? "";
  const users = (useStore(reconciles)?.operators ?? []).map((o) => o.user);
  if (about && !about.recorded) return <Unrecorded why={about.unrecorded} />;
  const choose = (kind: string, on: boolean) => {
    const next = kinds.map(([k]) => k).filter((k) => (k === kind ? on : chosen.includes(k)));
    setQuery({ kinds: next.join(" ") === usual.join(" ") ? undefined : next.join(" ") || " " });
  };
  const question = {
    kinds: chosen.length === kinds.length ? undefined : chosen.filter((k) => k !== "debug").join(","),
    debug: chosen.includes("debug"),
    user: query.get("user") ?? undefined,
    refused: query.has("refused"),
    resource: query.get("resource") ?? undefined,
    namespace: query.get("namespace") ?? undefined,
    name: query.get("name") ?? undefined,
  };
  return (
    <div class="view full">
      <h1 class="visually-hidden">Timeline</h1>
      <form class="filters timeline-filters" role="search" aria-label="Filter entries" onSubmit={(e) => e.preventDefault()}>
        <fieldset class="chips">
          <legend class="visually-hidden">Kinds of entries</legend>
          {kinds.map(([kind, title]) => (
            <label key={kind} class="chip">
              <input type="checkbox" checked={chosen.includes(kind)} onChange={(e) => choose(kind, e.currentTarget.checked)} />
              {title}
            </label>
          ))}
        </fieldset>
        <Typed name="text" label="Filter by text" value={text} />
        <Typed name="user" label="User, such as system:admin" value={query.get("user") ?? ""} known={users} />
        <label class="chip">
          <input type="checkbox" checked={query.has("refused")} onChange={(e) => setQuery({ refused: e.currentTarget.checked ? "yes" : undefined })} />
          only refused
        </label>
      </form>
      {chosen.length === 0 ? <Empty title="No kind is chosen.">Choose above what to show.</Empty> : <EntryList key={JSON.stringify(question)} question={question} text={text} label="Entries, the newest first" />}
    </div>
  );
}

// Typed is a filter that waits until the user pauses.
export function Typed({ name, label, value, known }: { name: string; label: string; value: string; known?: string[] }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = window.setTimeout(() => setQuery({ [name]: typed }), 200);
    return () => window.clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <input class="typed" type="search" placeholder={label} aria-label={label} value={typed} spellcheck={false} list={known && name + "-known"} onInput={(e) => setTyped(e.currentTarget.value)} />
      {known && (
        <datalist id={name + "-known"}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}
