import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { help, keyTable, letters, setLetters } from "../keys";
import { cluster, objects, objectStream, recordStream } from "../live";
import { route } from "../route";
import { useStore } from "../store";
import type { Link } from "../stream";
import { nextTheme, theme } from "../theme";
import { count } from "../words";
import { SearchBox } from "./searchbox";

const tabs: [string, string, string][] = [["", "Overview", "o"], ["graph", "Graph", "g"], ["timeline", "Timeline", "t"], ["reconciles", "Reconciles", "r"]];
const parents: Record<string, string> = { reconcile: "reconciles" };

export function Shell({ children }: { children: ComponentChildren }) {
  const { view } = useStore(route);
  const about = useStore(cluster);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>
        To the content
      </a>
      <header class="bar">
        <a class="brand" href="#/" aria-label="slipway explain, overview">
          slipway <span>explain</span>
        </a>
        <nav aria-label="Views">
          {tabs.map(([name, title, letter]) => (
            <a key={name} href={"#/" + name} aria-current={(parents[view] ?? view) === name ? "page" : undefined} aria-keyshortcuts={letter}>
              {title}
            </a>
          ))}
        </nav>
        <SearchBox />
        <div class="tools">
          {about && <span class="context" title={about.version ? `${about.server} · Kubernetes ${about.version}` : about.server}>{about.context}</span>}
          <Connection />
          <ThemeButton />
          <button type="button" class="button icon" onClick={() => help.set(true)} aria-label="Keys" title="Keys (?)">
            ?
          </button>
        </div>
      </header>
      <Lost />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Keys />
    </>
  );
}

const themeNames = { system: "as the system", light: "light", dark: "dark" };

function ThemeButton() {
  const name = useStore(theme);
  return (
    <button type="button" class="button icon theme" onClick={nextTheme} aria-label={`Colours: ${themeNames[name]}`} title={`Colours: ${themeNames[name]}`}>
      <span aria-hidden="true">{name === "system" ? "◐" : name === "light" ? "☀" : "☾"}</span>
    </button>
  );
}

function useLost(): Link & { state: "lost" } | undefined {
  const links = [useStore(objectStream.link), useStore(recordStream.link)];
  return links.find((l) => l.state === "lost") as (Link & { state: "lost" }) | undefined;
}

function Connection() {
  const link = useStore(objectStream.link);
  const synced = useStore(objects.synced);
  useStore(objects.changed);
  const lost = useLost();
  const text = lost ? "not connected" : link.state !== "live" ? "connecting" : synced ? "live" : `reading, ${count(objects.byUID.size, "object")}`;
  return (
    <span class={"connection " + (lost ? "lost" : synced && link.state === "live" ? "live" : "connecting")} role="status">
      <span class="dot" aria-hidden="true" /> {text}
    </span>
  );
}

// Lost says that what is shown is no longer current.
function Lost() {
  const lost = useLost();
  const [, tick] = useState(0);
  useEffect(() => {
    if (!lost) return;
    const timer = window.setInterval(() => tick((n) => n + 1), 500);
    return () => window.clearInterval(timer);
  }, [!!lost]);
  if (!lost) return null;
  const seconds = Math.max(0, Math.ceil((lost.until - Date.now()) / 1000));
  return (
    <div class="banner lost">
      <span role="alert">
        <b>Connection lost.</b> {lost.error} The page shows what it last knew.
      </span>
      {lost.attempts > 3 && (
        <span>
          If its command has ended, <code>slipway explain --web</code> opens a new page.
        </span>
      )}
      <span class="muted">{seconds > 0 ? `Next attempt in ${seconds} s.` : "Connecting …"}</span>
      <button type="button" class="button small" onClick={() => { objectStream.retry(); recordStream.retry(); }}>
        Connect now
      </button>
    </div>
  );
}

function Keys() {
  const open = useStore(help);
  const on = useStore(letters);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={() => help.set(false)} onClick={(e) => e.target === dialog.current && help.set(false)}>
      <div class="keys-inside">
        <header>
          <h2 id="keys-title">Keys</h2>
          <button type="button" class="button icon" onClick={() => help.set(false)} aria-label="Close">×</button>
        </header>
        <div class="key-groups">
          {keyTable.map(([title, rows]) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {rows.map(([key, what]) => (
                  <div key={key}>
                    <dt>{key.split(" ").map((k) => (k === "or" || k === "+" && key.length > 3 ? <span key={k}> {k} </span> : <kbd key={k}>{k}</kbd>))}</dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <label>
          <input type="checkbox" checked={on} onChange={(e) => setLetters(e.currentTarget.checked)} /> Single letters are keys
        </label>
        <p class="muted"><a href="/licenses.txt" target="_blank" rel="noopener">Licenses of the libraries in this page</a></p>
      </div>
    </dialog>
  );
}
