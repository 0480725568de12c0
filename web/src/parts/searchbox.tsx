import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { objects, reconciles } from "../live";
import { go } from "../route";
import { type Hit, search } from "../searching";
import { useStore } from "../store";
import { StateIcon } from "./state";

// SearchBox finds objects, controllers and reconciles while the user types.
export function SearchBox() {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const known = useStore(reconciles);
  useStore(objects.changed);
  const hits = open ? search(text, objects, known?.controllers ?? [], known?.reconciles ?? []) : [];
  const active = Math.min(at, hits.length - 1);
  useLayoutEffect(() => box.current?.querySelector(`#hit-${active}`)?.scrollIntoView({ block: "nearest" }), [active, text]);

  const choose = (hit: Hit | undefined) => {
    if (!hit) return;
    setOpen(false);
    setText("");
    input.current?.blur();
    go(hit.href);
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(active + 1, hits.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(active - 1, 0));
    else if (e.key === "Enter") choose(hits[active]);
    else if (e.key === "Escape") {
      if (text) setText("");
      else input.current?.blur();
      setOpen(false);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="search" ref={box} onFocusOut={(e) => !box.current?.contains(e.relatedTarget as Node) && setOpen(false)}>
      <input
        id="search"
        ref={input}
        type="search"
        placeholder="Search objects, controllers, reconciles"
        role="combobox"
        aria-label="Search objects, controllers and reconciles"
        aria-expanded={open && text !== ""}
        aria-controls="hits"
        aria-activedescendant={hits.length ? `hit-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onKeyDown={onKey}
      />
      <kbd aria-hidden="true">/</kbd>
      {open && text.trim() !== "" && (
        <div class="hits">
          <ul id="hits" data-text={text} role="listbox" aria-label="Results">
            {hits.map((hit, i) => (
              <li key={hit.href} id={`hit-${i}`} role="option" aria-selected={i === active}>
                <a
                  href={hit.href}
                  tabIndex={-1}
                  onMouseDown={(e) => e.preventDefault()}
                  onClick={(e) => {
                    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
                    e.preventDefault();
                    choose(hit);
                  }}
                >
                  {hit.item ? <StateIcon state={hit.item.state} /> : <span class="sort-mark" aria-hidden="true">{hit.sort === "controller" ? "⚙" : "↻"}</span>}
                  <span class="hit-title">{hit.title}</span>
                  <span class="hit-detail">{hit.detail}</span>
                </a>
              </li>
            ))}
          </ul>
          {hits.length === 0 && <p class="no-hit">Nothing has this in its name, kind or namespace.</p>}
          <p class="visually-hidden" role="status">{hits.length} results</p>
        </div>
      )}
    </div>
  );
}
