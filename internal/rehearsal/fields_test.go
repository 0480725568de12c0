package rehearsal

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// object reads an object from YAML, with the numbers that a client gets.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = utiljson.Unmarshal(encoded, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestLeaves: values are known by paths that stay when a list is written in another order, if its items have keys.
func TestLeaves(t *testing.T) {
	leaves := leavesOf(object(t, `
metadata: {annotations: {example.com/a: x}}
spec:
  containers: [{name: app, image: a}, {name: side, image: b}]
  ports: [{port: 80}, {port: 443}]
  args: [one, two]
  mixed: [{name: a}, {other: b}]
  empty: {}
  none: null
`))
	want := []string{
		"metadata.annotations[example.com/a]", "spec.args[0]", "spec.args[1]", "spec.containers[app].image", "spec.containers[app].name",
		"spec.containers[side].image", "spec.containers[side].name", "spec.mixed[0].name", "spec.mixed[1].other", "spec.ports[443].port", "spec.ports[80].port",
	}
	if got := slices.Sorted(maps.Keys(leaves)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestEqual: values are the same if they mean the same.
func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b any
		want bool
	}{
		{int64(1), float64(1), true}, {"1000m", "1", true}, {"1Gi", "1024Mi", true}, {"60s", "1m0s", true}, {"a", "a", true},
		{int64(1), int64(2), false}, {"1", "2", false}, {"60s", "61s", false}, {"a", "b", false}, {"1.10", "1.1", false}, {"1e2000000000", "1", false}, {true, false, false}, {"60s", "a", false},
	} {
		if got := equal(test.a, test.b); got != test.want {
			t.Errorf("equal(%v, %v) = %v", test.a, test.b, got)
		}
	}
}

// TestChanges: what comes anew is no change, since defaults come anew.
func TestChanges(t *testing.T) {
	before := object(t, "spec: {same: 1, other: a, gone: x, items: [{name: a, v: 1}, {name: b, v: 2}]}")
	after := object(t, "spec: {same: 1.0, other: b, new: y, items: [{name: b, v: 2}, {name: a, v: 3}]}")
	var got []string
	for _, c := range changesBetween(before, after) {
		got = append(got, c.path+": "+text(c.before)+" → "+text(c.after))
	}
	want := []string{"spec.gone: x → null", "spec.items[a].v: 1 → 3", "spec.other: a → b"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// FuzzLeaves: any object has leaves, no object differs from itself, and each leaf that is removed is a change.
func FuzzLeaves(f *testing.F) {
	f.Add(`{"spec":{"a":[{"name":"x"},{"name":"y","b":[1,2]}],"c":{"d.e":null,"f":"1m"}}}`)
	f.Add(`{"a":[[],[[1]],{}],"":{"":0}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var one, other map[string]any
		if json.Unmarshal([]byte(text), &one) != nil || json.Unmarshal([]byte(text), &other) != nil {
			t.Skip()
		}
		if changes := changesBetween(one, other); len(changes) > 0 {
			t.Errorf("the object differs from itself: %v", changes)
		}
		if got, want := len(changesBetween(one, nil)), len(leavesOf(one)); got != want {
			t.Errorf("without any field there are %d changes of %d", got, want)
		}
	})
}

// TestManifests: each field of a sample is left out once.
func TestManifests(t *testing.T) {
	var got []string
	for _, m := range manifestsOf(unstructuredFrom(t, "apiVersion: a/v1\nkind: A\nmetadata: {name: a}\nspec: {one: 1, two: {three: {four: {five: 5}}, list: [{x: 1}]}}\nstatus: {s: 1}")) {
		got = append(got, m.without)
	}
	want := "|spec|spec.one|spec.two|spec.two.list|spec.two.three|spec.two.three.four"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}
