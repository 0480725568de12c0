import assert from "node:assert/strict";
import { test } from "node:test";
import { plain, visible } from "../src/plain";
import { objectHref, objectOf, parse } from "../src/route";
import { age, count, duration, middle, number } from "../src/words";
import { yaml } from "../src/yaml";

test("control characters and marks of direction are visible", () => {
  assert.equal(visible("a\u202eb\u0007\u001b[31m\u200b\u{e0041}"), "a\\u202eb\\u0007\\u001b[31m\\u200b\\udb40\\udc41");
  assert.equal(visible("tabs\tand\nlines, ü, 漢字, 😀"), "tabs\tand\nlines, ü, 漢字, 😀");
});

test("all texts of a message are made visible, also keys", () => {
  const message = JSON.parse('{"a": ["\\u202e", {"\\u0007key": "x\\u0000"}], "__proto__": {"b": "\\u200f"}, "n": 1, "z": null}');
  assert.deepEqual(JSON.stringify(plain(message)), JSON.stringify(JSON.parse('{"a": ["\\\\u202e", {"\\\\u0007key": "x\\\\u0000"}], "__proto__": {"b": "\\\\u200f"}, "n": 1, "z": null}')));
  assert.equal(({} as { b?: string }).b, undefined);
});

test("values are written as YAML", () => {
  const value = { spec: { replicas: 3, image: "app:v1", on: "true", empty: {}, none: [], text: "a\nb\n", args: ["--x", { name: "a", ports: [1, 2] }] }, "strange: key": null };
  assert.deepEqual(yaml(value), [
    "spec:", "  replicas: 3", "  image: app:v1", '  "on": "true"', "  empty: {}", "  none: []", "  text: |", "    a", "    b", "  args:", '  - "--x"', "  - name: a", "    ports:", "    - 1", "    - 2", '"strange: key": null',
  ]);
  assert.deepEqual(yaml("two\nlines\n"), ["two", "lines"]);
  assert.deepEqual(yaml("12"), ['"12"']);
});

test("addresses lead back to their objects", () => {
  for (const o of [{ resource: "deployments.apps", namespace: "shop", name: "web" }, { resource: "nodes", namespace: "", name: "n" }, { resource: "clusterroles.rbac.authorization.k8s.io", namespace: "", name: "system:controller:a%b/../c" }]) {
    assert.deepEqual(objectOf(parse(objectHref(o)).parts), o);
  }
  assert.deepEqual(objectOf(parse("#/object/namespaces//default").parts), { resource: "namespaces", namespace: "", name: "default" });
  assert.equal(parse("#/graph?namespace=a%20b").query.get("namespace"), "a b");
  assert.deepEqual(parse("#/reconcile/%E0%A4%A").parts, ["%E0%A4%A"]);
});

test("numbers and times are short", () => {
  assert.equal(number(1234567), "1,234,567");
  assert.equal(count(1, "object"), "1 object");
  assert.deepEqual([4.12, 120, 1204, 61_000, 3_660_000, 200_000_000].map(duration), ["4.1 ms", "120 ms", "1.20 s", "1m01s", "1h01m", "2d"]);
  assert.deepEqual([0, 59_000, 61_000, 1_200_000].map((ms) => age(new Date(0).toISOString(), ms)), ["0s", "59s", "1m01s", "20m"]);
  assert.equal(middle("order-757-7fbf8fd88f-0bd40", 12), "order-…0bd40");
});
