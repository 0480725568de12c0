import { diffArrays } from "diff";
import { useMemo, useState } from "preact/hooks";
import type { Change } from "../contract";
import { cut, number } from "../words";
import { yaml } from "../yaml";

// Lines of a value that are shown at first, and at most.
const firstLines = 14;
const mostLines = 4000;
const longestLine = 2000;

// A Pair is a line before and after, beside each other. One that is undefined is not there.
interface Pair {
  before?: string;
  after?: string;
  same: boolean;
}

// Diff shows the changes of an object.
export function Diff({ changes, more }: { changes: Change[]; more?: number }) {
  return (
    <div class="diff">
      {changes.map((c, i) => (
        <OneChange key={i} change={c} />
      ))}
      {!!more && <p class="muted">{number(more)} more changes are not shown: the record cuts long lists.</p>}
    </div>
  );
}

function OneChange({ change }: { change: Change }) {
  const [all, setAll] = useState(false);
  const pairs = useMemo(() => align(change), [change]);
  const shown = all ? pairs.slice(0, mostLines) : pairs.slice(0, firstLines);
  const rest = pairs.length - shown.length;
  const [hasBefore, hasAfter] = ["before" in change, "after" in change];
  const label = change.path || "the whole object";
  return (
    <table class={"change" + (hasBefore && hasAfter ? "" : " one-side")}>
      <caption>
        <code>{label}</code> <span class="muted">{!hasBefore ? "added" : !hasAfter ? "removed" : ""}</span>
      </caption>
      <thead class="visually-hidden">
        <tr>
          {hasBefore && <th scope="col">before</th>}
          {hasAfter && <th scope="col">after</th>}
        </tr>
      </thead>
      <tbody>
        {shown.map((p, i) => (
          <tr key={i}>
            {hasBefore && <Cell sort="before" text={p.before} same={p.same} />}
            {hasAfter && <Cell sort="after" text={p.after} same={p.same} />}
          </tr>
        ))}
      </tbody>
      {rest > 0 && (
        <tfoot>
          <tr>
            <td colSpan={hasBefore && hasAfter ? 2 : 1}>
              {all ? (
                <span class="muted">{number(rest)} more lines are not shown.</span>
              ) : (
                <button type="button" class="button small" onClick={() => setAll(true)}>
                  Show {number(Math.min(rest, mostLines))} more lines
                </button>
              )}
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function Cell({ sort, text, same }: { sort: "before" | "after"; text?: string; same: boolean }) {
  if (text === undefined) return <td class="blank" />;
  return (
    <td class={same ? "same" : sort}>
      <span class="sign" aria-hidden="true">
        {same ? " " : sort === "before" ? "−" : "+"}
      </span>
      {text}
    </td>
  );
}

// align puts lines that are alike beside each other.
function align(c: Change): Pair[] {
  if (!("before" in c)) return written(c.after).map((after) => ({ after, same: false }));
  if (!("after" in c)) return written(c.before).map((before) => ({ before, same: false }));
  const [before, after] = [written(c.before), written(c.after)];
  const parts = before.length + after.length > 2 ? diffArrays(before, after, { timeout: 30, maxEditLength: 1000 }) : undefined;
  if (!parts) return beside(before, after);
  const pairs: Pair[] = [];
  let removed: string[] = [];
  for (const part of parts) {
    if (part.removed) {
      removed.push(...part.value);
    } else if (part.added) {
      pairs.push(...beside(removed, part.value));
      removed = [];
    } else {
      pairs.push(...beside(removed, []));
      removed = [];
      pairs.push(...part.value.map((line) => ({ before: line, after: line, same: true })));
    }
  }
  return [...pairs, ...beside(removed, [])];
}

function beside(before: string[], after: string[]): Pair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => ({ before: before[i], after: after[i], same: false }));
}

// written are the lines of a value.
function written(value: unknown): string[] {
  return yaml(value).map((line) => cut(line, longestLine));
}

// inline is a change in one line.
export function inline(c: Change): { path: string; before?: string; after?: string } {
  const short = (v: unknown) => cut(JSON.stringify(v) ?? "", 60);
  return { path: c.path || "object", before: "before" in c ? short(c.before) : undefined, after: "after" in c ? short(c.after) : undefined };
}
