import { render } from "preact";
import { useEffect } from "preact/hooks";
import { watchKeys } from "./keys";
import { begin, objectStream, recordStream } from "./live";
import { Copy, Empty } from "./parts/small";
import { Shell } from "./parts/shell";
import { objectOf, type Route, route, watchRoute } from "./route";
import { nextTask } from "./slices";
import { openSession, session, takeToken } from "./session";
import { useStore } from "./store";
import { applyTheme } from "./theme";
import { GraphView } from "./views/graph";
import { ObjectView } from "./views/object";
import { Overview } from "./views/overview";
import { ReconcileView } from "./views/reconcile";
import { ReconcilesView } from "./views/reconciles";
import { TimelineView } from "./views/timeline";

function Page() {
  const now = useStore(session);
  if (now.state === "opening") return <p class="notice loading">Opening the session</p>;
  if (now.state === "ended") return <Ended error={now.error} next={now.next} />;
  return (
    <Shell>
      <View />
    </Shell>
  );
}

function View() {
  const at = useStore(route);
  const [title, view] = viewOf(at);
  const path = [at.view, ...at.parts].join("/");
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById("main")?.focus(); // what had it is gone
  }, [path]);
  useEffect(() => {
    document.title = title + " · slipway explain";
  }, [title]);
  return view;
}

function viewOf({ view, parts }: Route) {
  const object = objectOf(parts);
  const id = parts.join("/");
  if (view === "") return ["Overview", <Overview />] as const;
  if (view === "graph") return ["Graph", <GraphView />] as const;
  if (view === "timeline") return ["Timeline", <TimelineView />] as const;
  if (view === "reconciles") return ["Reconciles", <ReconcilesView />] as const;
  if (view === "reconcile" && id) return ["Reconcile " + id, <ReconcileView key={id} id={id} />] as const;
  if (view === "object" && object.name) return [object.name, <ObjectView key={id} {...object} />] as const;
  return ["Unknown address", <Empty title="This address names no view.">Choose a view above, or search with /.</Empty>] as const;
}

function Ended({ error, next }: { error?: string; next?: string }) {
  return (
    <main class="ended">
      <h1>This session has ended.</h1>
      <p>The command that served this page has ended, or the address was used before. An address opens one page.</p>
      {error && <p class="muted">The server said: {error}</p>}
      <p>This command opens a new one:</p>
      <Copy text={next || "slipway explain --web"} />
    </main>
  );
}

async function main() {
  const token = takeToken();
  applyTheme();
  await nextTask(); // to read the script has taken long enough
  watchRoute();
  watchKeys();
  render(<Page />, document.getElementById("page")!);
  session.subscribe(() => {
    if (session.value.state !== "ended") return;
    objectStream.stop();
    recordStream.stop();
  });
  for (let ms = 500; session.value.state === "opening"; ms = Math.min(ms * 2, 10_000)) {
    await openSession(token).catch(() => new Promise((done) => setTimeout(done, ms)));
  }
  if (session.value.state === "open") await begin();
}

void main();
