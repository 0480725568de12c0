import { useMemo, useState } from "preact/hooks";
import type { Entry } from "../contract";
import { type Question, useEntries } from "../entries";
import { count, moment } from "../words";
import { EntryRow } from "./entry";
import { List } from "./list";
import { Empty, Failure, Loading } from "./small";

// Pages that are looked through for entries that match before the user is asked.
const pagesAtOnce = 20;
const fewEntries = 30;

// EntryList shows entries of the record, the newest first. New ones wait while the user reads further down.
export function EntryList({ question, text = "", withoutObject, label }: { question: Question; text?: string; withoutObject?: boolean; label: string }) {
  const [top, setTop] = useState(true);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [asked, setAsked] = useState({ text, pages: 0 });
  const list = useEntries(question, !top);
  const lower = text.toLowerCase();
  const shown = useMemo(() => (lower ? list.entries.filter((e) => textOf(e).includes(lower)) : list.entries), [list.entries, lower]);
  const toggle = (e: Entry) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(e.seq)) next.add(e.seq);
      return next;
    });
  // Where few entries match, the record is searched a part at a time.
  const older = () => {
    const pages = asked.text === text ? asked.pages : 0;
    if (list.loading || list.done || (shown.length < fewEntries && pages >= pagesAtOnce)) return;
    setAsked({ text, pages: shown.length < fewEntries ? pages + 1 : 0 });
    list.older();
  };
  if (list.error && list.entries.length === 0) return <Failure error={list.error} again={list.again} />;
  if (shown.length === 0 && list.done && !list.loading) {
    return <Empty title={list.entries.length ? "No entry matches." : "Nothing is recorded here yet."}>{list.entries.length ? "Change the filters to see more." : "Entries appear here as they come."}</Empty>;
  }
  return (
    <div class="entry-list">
      {list.waiting > 0 && (
        <button
          type="button"
          class="button newer"
          onClick={() => {
            list.release();
            document.querySelector(".entry-list .list")?.scrollTo({ top: 0 });
          }}
        >
          {count(list.waiting, "new entry", "new entries")}
        </button>
      )}
      <List
        label={label}
        rows={shown}
        rowHeight={50}
        keyOf={(e) => e.seq}
        row={(e) => <EntryRow entry={e} open={open.has(e.seq)} toggle={() => toggle(e)} withoutObject={withoutObject} />}
        onEnter={toggle}
        onEnd={older}
        pages={list.pages}
        onScrolled={setTop}
        footer={<Foot list={list} older={() => { setAsked({ text, pages: 0 }); list.older(); }} />}
      />
    </div>
  );
}

function Foot({ list, older }: { list: ReturnType<typeof useEntries>; older(): void }) {
  if (list.error) return <Failure error={list.error} again={list.again} />;
  if (list.loading) return <Loading what="entries" />;
  if (list.done) return <p class="list-end muted">{list.searchedTo ? `The record was searched back to ${moment(list.searchedTo)}.` : "The record has nothing older."}</p>;
  return (
    <p class="list-end">
      <button type="button" class="button" onClick={older}>
        Look further back
      </button>
    </p>
  );
}

const texts = new WeakMap<Entry, string>();

// textOf is what a filter by text looks into.
function textOf(e: Entry): string {
  let text = texts.get(e);
  if (text === undefined) {
    const o = e.object;
    const changes = (e.changes ?? []).map((c) => `${c.path} ${JSON.stringify(c.before)?.slice(0, 500) ?? ""} ${JSON.stringify(c.after)?.slice(0, 500) ?? ""}`);
    text = [o?.kind, o?.resource, o?.namespace, o?.name, e.who, e.by?.user, e.by?.verb, e.type, e.reason, e.message, e.controller, ...changes].join(" ").toLowerCase();
    texts.set(e, text);
  }
  return text;
}
