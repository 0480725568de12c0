import { Store } from "./store";

// Session is whether the page may ask its server.
export type Session = { state: "opening" } | { state: "open" } | { state: "ended"; error?: string; next?: string };

export const session = new Store<Session>({ state: "opening" });

const stored = "key";

export function key(): string {
  return localStorage.getItem(stored) ?? "";
}

// takeToken removes the token from the address, so that neither the history nor a copied address has it.
export function takeToken(): string {
  const [route, query] = split(location.hash.slice(1));
  const words = new URLSearchParams(route.startsWith("/") ? query : route);
  const token = words.get("token") ?? "";
  if (!token) return "";
  words.delete("token");
  const rest = words.toString();
  history.replaceState(null, "", location.pathname + "#" + (route.startsWith("/") ? route : "/") + (rest ? "?" + rest : ""));
  return token;
}

function split(hash: string): [string, string] {
  const at = hash.indexOf("?");
  return at < 0 ? [hash, ""] : [hash.slice(0, at), hash.slice(at + 1)];
}

// openSession spends a token. Without one, or with one that is spent, the key of another tab counts.
export async function openSession(token: string): Promise<void> {
  if (token) {
    const answer = await fetch("/api/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
    const body = (await answer.json().catch(() => ({}))) as { key?: string; error?: string; next?: string };
    if (answer.ok && body.key) localStorage.setItem(stored, body.key);
    else if (!key()) return endSession(body.error, body.next);
  }
  if (!key()) return endSession();
  session.set({ state: "open" });
}

export function endSession(error?: string, next?: string) {
  session.set({ state: "ended", error, next });
}
