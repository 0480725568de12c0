package prove

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

// TestKnowledge: plans and judgements are the same by what was written and read again.
func TestKnowledge(t *testing.T) {
	steps := []Step{{Name: "one"}, {Name: "two"}}
	ref := referenceOf(write(0, "create", "", "services", "blog"), write(1, "update", "apps", "deployments", "blog"), &Request{step: 1, verb: "get", of: resource{"", "nodes"}, name: "n", status: 200, fresh: true})
	ref.states = []state{{"Service default/blog": {"spec.x": "1"}}, {"Service default/blog": {"spec.x": "2"}}}
	ref.varies = []mask{{"Pod default/a": true}, {}}
	ref.took = []time.Duration{time.Second, 2 * time.Second}
	ref.pauses, ref.leftover, ref.warnings = []time.Duration{time.Second}, []string{"a"}, []string{"b"}
	ref.open, ref.watching, ref.refused = map[watch]bool{{"", resource{"", "services"}}: true}, map[watch]bool{{"two", resource{"apps", "deployments"}}: true}, map[string]bool{"get nodes": true}
	ref.counts, ref.twice = map[Point]int{{Verb: "create", Resource: "services"}: 2}, map[int][]watch{1: {{"two", resource{"apps", "deployments"}}}}
	encoded, err := json.Marshal(Knowledge{Key: make([]byte, 32), Events: true, Reference: ref})
	if err != nil {
		t.Fatal(err)
	}
	var read Knowledge
	if err := json.Unmarshal(encoded, &read); err != nil {
		t.Fatal(err)
	}
	got := read.Reference
	if !read.Events || len(read.Key) != 32 || !reflect.DeepEqual(plansFor(got, steps, true), plansFor(ref, steps, true)) {
		t.Errorf("other plans: %v", plansFor(got, steps, true))
	}
	same := reflect.DeepEqual(got.states, ref.states) && reflect.DeepEqual(got.varies, ref.varies) && reflect.DeepEqual(got.canon.stable, ref.canon.stable) && reflect.DeepEqual(got.counts, ref.counts) &&
		reflect.DeepEqual(got.twice, ref.twice) && reflect.DeepEqual(got.watching, ref.watching) && reflect.DeepEqual(got.open, ref.open) && reflect.DeepEqual(got.refused, ref.refused) && reflect.DeepEqual(got.leftover, ref.leftover) && reflect.DeepEqual(got.pauses, ref.pauses) && reflect.DeepEqual(got.took, ref.took)
	if !same {
		t.Errorf("%+v", got)
	}
	if err := read.fits(Scenario{Steps: steps}); err != nil {
		t.Error(err)
	}
	if err := read.fits(Scenario{Steps: steps[:1]}); !errors.Is(err, ErrKnowledge) {
		t.Errorf("fits another scenario: %v", err)
	}
}
