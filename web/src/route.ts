import type { Obj, RecordObject } from "./contract";
import { Store } from "./store";

// A Route is what the fragment of the address names.
export interface Route {
  view: string;
  parts: string[];
  query: URLSearchParams;
}

export const route = new Store<Route>(parse(""));

export function parse(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const at = text.indexOf("?");
  const path = at < 0 ? text : text.slice(0, at);
  const [view = "", ...parts] = path.split("/").map(decode);
  return { view, parts, query: new URLSearchParams(at < 0 ? "" : text.slice(at + 1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function watchRoute() {
  const read = () => route.set(parse(location.hash));
  window.addEventListener("hashchange", read);
  read();
}

export function go(href: string) {
  location.hash = href;
}

// setQuery changes the query of the route that is shown. It makes no step for the Back button.
export function setQuery(changes: Record<string, string | undefined>) {
  const words = new URLSearchParams(route.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) words.set(name, value);
    else words.delete(name);
  }
  const query = words.toString();
  const path = location.hash.replace(/\?.*$/, "") || "#/";
  history.replaceState(null, "", path + (query ? "?" + query : ""));
  route.set(parse(location.hash));
}

// none stands for the namespace of an object that has none.
const none = "-";

export function objectHref(o: Pick<Obj, "resource" | "namespace" | "name">): string {
  return "#/object/" + [o.resource, o.namespace || none, o.name].map(encodeURIComponent).join("/");
}

export function recordObjectHref(o: RecordObject): string {
  return objectHref({ resource: fullResource(o), namespace: o.namespace, name: o.name ?? "" });
}

export function fullResource(o: RecordObject): string {
  return o.group ? o.resource + "." + o.group : o.resource;
}

export function reconcileHref(id: string): string {
  return "#/reconcile/" + encodeURIComponent(id);
}

// objectOf reads the parts of an object's route.
export function objectOf(parts: string[]): { resource: string; namespace: string; name: string } {
  const [resource = "", namespace = "", ...name] = parts;
  return { resource, namespace: namespace === none ? "" : namespace, name: name.join("/") };
}
