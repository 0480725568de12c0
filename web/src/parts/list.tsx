import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { nextTask } from "../slices";
import { urgently } from "../rendering";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

// useVirtual keeps a virtualizer for the rows of an element that scrolls.
function useVirtual(scroller: RefObject<HTMLElement>, options: { count: number; rowHeight: number; keyOf(i: number): string | number }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const resolved = {
    count: options.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => options.rowHeight,
    getItemKey: options.keyOf,
    overscan: 4,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: (_: unknown, scrolls: boolean) => (scrolls ? urgently(() => redraw(0)) : redraw(0)),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(resolved));
  virtual.setOptions(resolved);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}

interface RowProps {
  name: string;
  index: number;
  of: number;
  start: number;
  active: boolean;
  measure(e: HTMLElement | null): void;
  focused(): void;
  children: ComponentChildren;
}

function Row(props: RowProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => props.measure(element.current), [props.name, props.index]);
  return (
    <div
      ref={element}
      class="row"
      role="listitem"
      aria-setsize={props.of}
      aria-posinset={props.index + 1}
      data-index={props.index}
      data-key={props.name}
      tabIndex={props.active ? 0 : -1}
      style={{ transform: `translateY(${props.start}px)` }}
      onFocusIn={props.focused}
    >
      {props.children}
    </div>
  );
}

// firstRows are drawn before all others, in a task of their own.
const firstRows = 6;

export interface ListProps<T> {
  label: string;
  rows: T[];
  keyOf(row: T): string | number;
  rowHeight: number;
  row(row: T, active: boolean): ComponentChildren;
  onEnter?(row: T): void;
  onEnd?(): void; // the last rows are shown
  pages?: number; // asked for so far: onEnd is called again when there are more
  onScrolled?(top: boolean): void;
  footer?: ComponentChildren;
}

// List shows rows of any number: only those in sight are elements. Arrow keys move among them.
export function List<T>(props: ListProps<T>) {
  const { rows } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtual(scroller, { count: rows.length, rowHeight: props.rowHeight, keyOf: (i) => props.keyOf(rows[i]!) });
  const [active, setActive] = useState<string | number | undefined>();
  const wanted = useRef<string | number | undefined>();
  const [settled, settle] = useState(false);
  useEffect(() => void nextTask().then(() => settle(true)), []);
  const items = settled ? virtual.getVirtualItems() : virtual.getVirtualItems().slice(0, firstRows);
  const at = Math.max(0, active === undefined ? 0 : rows.findIndex((r) => props.keyOf(r) === active));

  const last = items[items.length - 1]?.index ?? -1;
  useLayoutEffect(() => {
    if (last >= rows.length - 10) props.onEnd?.();
  }, [last, rows.length, props.pages]);

  // A row gets the focus once it is an element.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(String(wanted.current))}"]`);
    if (row) {
      wanted.current = undefined;
      row.focus({ preventScroll: true });
    }
  });

  const move = (to: number) => {
    const index = Math.min(Math.max(0, to), rows.length - 1);
    const row = rows[index];
    if (row === undefined) return;
    wanted.current = props.keyOf(row);
    setActive(props.keyOf(row));
    virtual.scrollToIndex(index, { align: "auto" });
  };

  const onKey = (e: KeyboardEvent) => {
    const inRow = (e.target as HTMLElement).dataset.key !== undefined;
    if (e.ctrlKey || e.metaKey || e.altKey || (!inRow && (e.target as HTMLElement) !== scroller.current && e.key !== "ArrowDown" && e.key !== "ArrowUp")) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / props.rowHeight) - 1);
    const to: Record<string, number> = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
    if (e.key in to) move(to[e.key]!);
    else if (e.key === "Enter" && inRow && props.onEnter) props.onEnter(rows[at]!);
    else return;
    e.preventDefault();
  };

  return (
    <div
      class="list"
      ref={scroller}
      role="list"
      aria-label={props.label}
      tabIndex={-1}
      onKeyDown={onKey}
      onScroll={props.onScrolled && ((e) => props.onScrolled!((e.currentTarget as HTMLElement).scrollTop < 4))}
    >
      <div class="list-all" style={{ height: virtual.getTotalSize() + "px" }}>
        {items.map((v) => {
          const row = rows[v.index];
          if (row === undefined) return null;
          const key = props.keyOf(row);
          return (
            <Row key={v.key} name={String(key)} index={v.index} of={rows.length} start={v.start} active={v.index === at} measure={virtual.measureElement} focused={() => setActive(key)}>
              {props.row(row, v.index === at)}
            </Row>
          );
        })}
      </div>
      {props.footer}
    </div>
  );
}
