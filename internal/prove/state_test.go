package prove

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// object is an object of JSON.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

const (
	site    = `{"kind":"Site","metadata":{"namespace":"default","name":"blog","uid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","generation":3,"resourceVersion":"7"},"status":{"observedGeneration":3,"at":"2026-01-02T15:04:05Z"}}`
	later   = `{"kind":"Site","metadata":{"namespace":"default","name":"blog","uid":"7ba7b810-9dad-11d1-80b4-00c04fd430c8","generation":5,"resourceVersion":"9"},"status":{"observedGeneration":5,"at":"2026-01-02T15:05:06Z"}}`
	job     = `{"kind":"Job","metadata":{"namespace":"default","name":"backup-x7k2p","ownerReferences":[{"name":"blog","uid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}]},"spec":{"n":1}}`
	another = `{"kind":"Job","metadata":{"namespace":"default","name":"backup-q9w8e","ownerReferences":[{"name":"blog","uid":"7ba7b810-9dad-11d1-80b4-00c04fd430c8"}]},"spec":{"n":1}}`
)

// known are names that are the same in each run.
var known = names{stable: map[string]bool{"default/blog": true}}

// TestStatesAreAlike: two runs that differ in times, identities, generations and random names have one state.
func TestStatesAreAlike(t *testing.T) {
	c := canon{names: known}
	one := c.state([]map[string]any{object(t, site), object(t, job)}, nil)
	two := c.state([]map[string]any{object(t, another), object(t, later)}, nil)
	if d := one.differences(two, nil); len(d) > 0 {
		t.Errorf("they differ: %v", d)
	}
	if _, ok := one["Job default/backup-*0"]; !ok {
		t.Errorf("names that are random have no stable one: %q", slices.Sorted(maps.Keys(one)))
	}
	if got := one["Site default/blog"]["status.observedGeneration"]; got != "current" {
		t.Errorf("the observed generation is %q", got)
	}
}

// TestKeysOfMapsAreAlike: the key of a map may have an identity or a random name in it, as a file of a ConfigMap that
// is named after an object.
func TestKeysOfMapsAreAlike(t *testing.T) {
	made := func(uid, name string) state {
		rule := `{"kind":"Rule","metadata":{"namespace":"default","name":"` + name + `","uid":"` + uid + `"}}`
		files := `{"kind":"ConfigMap","metadata":{"namespace":"default","name":"blog"},"data":{"default-` + name + `-` + uid + `.yaml":"a"}}`
		return canon{names: known}.state([]map[string]any{object(t, rule), object(t, files)}, nil)
	}
	one, two := made("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "alerts-x7k2p"), made("7ba7b810-9dad-11d1-80b4-00c04fd430c8", "alerts-q9w8e")
	if d := one.differences(two, nil); len(d) > 0 {
		t.Errorf("they differ: %v", d)
	}
}

// TestMemoriesDoNotCount: how many templates of pods controllers of Kubernetes have seen on the way is their pace.
func TestMemoriesDoNotCount(t *testing.T) {
	c := canon{names: learnNames(map[string]bool{"default/blog": true, "default/blog-aa": true}, map[string]bool{"default/blog": true, "default/blog-bb": true})}
	set := func(current string) map[string]any {
		return object(t, `{"kind":"StatefulSet","metadata":{"namespace":"default","name":"blog"},"status":{"updateRevision":"`+current+`"}}`)
	}
	revision := func(name string) map[string]any {
		return object(t, `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"namespace":"default","name":"`+name+`"}}`)
	}
	replicas := func(n string) map[string]any {
		return object(t, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"namespace":"default","name":"blog-cc","ownerReferences":[{"kind":"Deployment","name":"blog"}]},"spec":{"replicas":`+n+`}}`)
	}
	one := c.state([]map[string]any{set("blog-aa"), revision("blog-aa")}, nil)
	two := c.state([]map[string]any{set("blog-bb"), revision("blog-aa"), revision("blog-bb"), replicas("0")}, nil)
	if all := two.differences(one, nil); len(all) > 0 {
		t.Errorf("a template that was there for a while counts: %v", all)
	}
	if all := c.state([]map[string]any{set("blog-aa"), revision("blog-aa"), replicas("1")}, nil).differences(one, nil); len(all) != 1 {
		t.Errorf("a ReplicaSet with pods does not count: %v", all)
	}
}

// TestDifferences: what is missing, what is too much and what has another value is said so, objects first; what varies
// does not count.
func TestDifferences(t *testing.T) {
	want := state{"A a": {"spec.x": "1", "spec.y": "2"}, "B b": {"": presence}}
	got := state{"A a": {"spec.x": "3", "spec.z": "4"}, "C c": {"": presence}}
	var lines []string
	for _, d := range got.differences(want, nil) {
		lines = append(lines, d.String())
	}
	expected := []string{"B b is missing", "C c should not be there", "A a spec.x: 3, should be 1", "A a spec.y: missing, should be 2", "A a spec.z: 4, should not be there"}
	if !reflect.DeepEqual(lines, expected) {
		t.Errorf("%q", lines)
	}
	varies := mask{}
	varies.learn(got, want)
	if d := got.differences(want, varies); len(d) > 0 {
		t.Errorf("what was learned to vary counts: %v", d)
	}
	if d := (state{"A a": {"spec.x": "1", "spec.y": "9"}, "B b": {"": presence}}).differences(want, mask{"A a|spec.x": true}); len(d) != 1 {
		t.Errorf("a mask of one field covers another: %v", d)
	}
}

// TestOnlyWhatTheOperatorWritesCountsByField: other objects count by their existence.
func TestOnlyWhatTheOperatorWritesCountsByField(t *testing.T) {
	c := canon{names: known, strict: map[string]bool{"Site default/blog": true}}
	s := c.state([]map[string]any{object(t, site), object(t, job)}, []string{"/configmaps/default/gone"})
	if len(s["Site default/blog"]) < 3 || !reflect.DeepEqual(s["Job default/backup-*0"], map[string]string{"": presence}) || s["deleted /configmaps/default/gone"] == nil {
		t.Errorf("%v", s)
	}
}

// TestSecretsAreNotKept: a Secret's values are compared and never shown.
func TestSecretsAreNotKept(t *testing.T) {
	one, two := object(t, `{"kind":"Secret","metadata":{"name":"s"},"data":{"p":"aHVudGVyMg=="}}`), object(t, `{"kind":"Secret","metadata":{"name":"s"},"data":{"p":"b3RoZXI="}}`)
	hideSecret([]byte("key"), one)
	hideSecret([]byte("key"), two)
	a, b := canon{}.state([]map[string]any{one}, nil), canon{}.state([]map[string]any{two}, nil)
	d := a.differences(b, nil)
	if len(d) != 1 || strings.Contains(d[0].String(), "aHVudGVyMg") || strings.Contains(d[0].String(), "b3RoZXI") {
		t.Errorf("%v", d)
	}
}

// FuzzState: any object has a state, which differs from itself in nothing.
func FuzzState(f *testing.F) {
	for _, text := range []string{site, job, `{"metadata":1}`, `{"metadata":{"annotations":{"slipway.dev/prove-poke":"1"}},"a":[{"name":"x"},{"name":"x"}],"b":[],"c":{}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var o map[string]any
		if json.Unmarshal([]byte(text), &o) != nil || o == nil {
			t.Skip()
		}
		hideSecret(nil, o)
		c := canon{names: known}
		s := c.state([]map[string]any{o}, nil)
		if d := s.differences(c.state([]map[string]any{o}, nil), nil); len(d) > 0 {
			t.Errorf("%v", d)
		}
	})
}

// TestMasksOfAlikeObjects: what varies in an object varies in those that are alike, and in each step but for a status.
func TestMasksOfAlikeObjects(t *testing.T) {
	ref := &Reference{varies: []mask{{}, {}}}
	ref.varies[0].learn(state{"Pod d/w-*0": {"spec.args": "a b", "status.phase": "x"}}, state{"Pod d/w-*0": {"spec.args": "b a", "status.phase": "y"}})
	ref.spread()
	for _, c := range []struct {
		step          int
		object, field string
		want          bool
	}{
		{0, "Pod d/w-*1", "spec.args", true}, {1, "Pod d/w-*2", "spec.args", true}, {1, "Pod d/x-*0", "spec.args", false},
		{0, "Pod d/w-*1", "status.phase", true}, {1, "Pod d/w-*1", "status.phase", false}, {0, "Pod d/w-*1", "", false},
	} {
		if got := ref.varies[c.step].covers(c.object, c.field); got != c.want {
			t.Errorf("step %d, %s %s: %t", c.step+1, c.object, c.field, got)
		}
	}
}
