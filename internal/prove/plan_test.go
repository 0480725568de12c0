package prove

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// referenceOf is one whose runs have had these requests.
func referenceOf(requests ...*Request) *Reference {
	ref := &Reference{refused: map[string]bool{}, counts: map[Point]int{}, canon: canon{names: known}}
	ref.count(requests, map[Point]int{})
	ref.requests = requests
	return ref
}

func write(step int, verb, group, name, object string) *Request {
	return &Request{step: step, verb: verb, of: resource{group, name}, namespace: "default", name: object, status: 200, effective: true}
}

// TestPlans: each effective write meets faults, the first of its sort in a step; what differs in the answer alone is
// tried once; writes without an effect and reads of caches meet none.
func TestPlans(t *testing.T) {
	requests := []*Request{
		write(0, "create", "", "services", "blog"),
		write(0, "create", "", "configmaps", "blog-x1y2z"),
		write(0, "create", "", "configmaps", "blog-a1b2c"),
		write(1, "update", "apps", "deployments", "blog"),
		write(1, "create", "", "services", "blog"),
		{step: 1, verb: "update", of: resource{"apps", "deployments"}, namespace: "default", name: "blog", status: 200},
		{step: 1, verb: "list", of: resource{"", "pods"}, status: 200},
		{step: 1, verb: "get", of: resource{"", "nodes"}, name: "n", status: 200, fresh: true},
	}
	ref := referenceOf(requests...)
	ref.open = map[watch]bool{{"", resource{"", "services"}}: true}
	kinds := map[Kind]int{}
	seen := map[string]bool{}
	for _, p := range plansFor(ref, []Step{{Name: "one"}, {Name: "two"}}, false) {
		kinds[p.Kind]++
		if seen[p.ID()] {
			t.Errorf("two plans are %s", p.ID())
		}
		seen[p.ID()] = true
		if text := p.Sentence([]Step{{Name: "one"}, {Name: "two"}}); text == string(p.Kind) || strings.Contains(text, "%!") {
			t.Errorf("%s: %s", p.Kind, text)
		}
	}
	want := map[Kind]int{Without: 1, Restarted: 1, Absent: 2, Unreachable: 2, Overlap: 2, Behind: 1, Merged: 1, Early: 1, Stale: 4, Lost: 4, Failure: 4, KilledAfter: 4, KilledBefore: 2, Conflict: 1, Overtaken: 1, Timeout: 3, Throttled: 3, TooMany: 3, ReadFailure: 1, Between: 1, Cut: 1}
	for kind, n := range want {
		if kinds[kind] != n {
			t.Errorf("%s: %d plans, want %d", kind, kinds[kind], n)
		}
	}
	if all := plansFor(ref, []Step{{Name: "one"}, {Name: "two"}}, true); len(all) <= len(seen) {
		t.Errorf("%d plans at all requests, %d at the first ones", len(all), len(seen))
	}
	if got := requests[2].point; got.Name != "blog-*" || got.Nth != 2 {
		t.Errorf("the second object with a random name is %+v", got)
	}
}

// TestChosenPlans: a seed draws the same plans each time, others than another seed; webhooks that an operator has not
// do not fail; caches show the past only if that is asked for.
func TestChosenPlans(t *testing.T) {
	ref := referenceOf(write(0, "create", "", "services", "blog"), write(1, "update", "", "services", "blog"), write(2, "delete", "", "services", "blog"))
	steps := []Step{{Name: "one"}, {Name: "two"}, {Name: "three"}}
	ids := func(p Proof) (ids []string) {
		p.Scenario.Steps, p.Clusters = steps, []Cluster{{Operators: []Operator{{}}}}
		plans, err := p.plans(ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range plans {
			if ids = append(ids, plan.ID()); plan.Kind == Unreachable || plan.Kind == TimeTravel && !p.Travel {
				t.Errorf("%s", plan.Sentence(steps))
			}
		}
		return ids
	}
	usual, travels := ids(Proof{}), ids(Proof{Travel: true})
	if len(travels) != len(usual)+6 { // each later step with each earlier one, in two ways
		t.Errorf("%d plans, %d with the past", len(usual), len(travels))
	}
	if slices.Sort(travels); len(slices.Compact(travels)) != len(usual)+6 {
		t.Error("two plans have one ID")
	}
	drawn := ids(Proof{Seed: 7, Most: 5})
	if len(drawn) != 5 || !slices.Equal(drawn, ids(Proof{Seed: 7, Most: 5})) || slices.Equal(drawn, ids(Proof{Seed: 8, Most: 5})) || slices.Equal(drawn, usual[:5]) {
		t.Errorf("drawn: %q", drawn)
	}
	if all := ids(Proof{Seed: 7}); len(all) != len(usual) {
		t.Errorf("%d plans are drawn from %d", len(all), len(usual))
	}
}

// TestPairs: each pair of writes meets pairs of faults, those near to each other first.
func TestPairs(t *testing.T) {
	ref := referenceOf(write(0, "create", "", "services", "blog"), write(0, "create", "", "configmaps", "blog"), write(1, "create", "", "secrets", "blog"))
	pairs := pairsFor(ref)
	steps := []Step{{Name: "one"}, {Name: "two"}}
	seen := map[string]bool{}
	for _, p := range pairs {
		if f, ok := p.secondFault(); !ok || f.Lasts {
			t.Errorf("%+v: %+v", p, f)
		}
		if text := p.Sentence(steps); seen[p.ID()] || !strings.Contains(text, "; then ") {
			t.Errorf("%+v: %s", p, text)
		}
		seen[p.ID()] = true
	}
	if len(pairs) != 3*9 || pairs[0].At.Resource != "configmaps" || pairs[26].At.Resource != "secrets" || pairs[26].Point.Resource != "services" {
		t.Errorf("%d pairs, from %+v to %+v", len(pairs), pairs[0], pairs[len(pairs)-1])
	}
}

// TestFaultsOfPlans: a door's fault is for the very request.
func TestFaultsOfPlans(t *testing.T) {
	at := Point{Step: 1, Verb: "create", Group: "apps", Resource: "deployments", Namespace: "default", Name: "blog", Nth: 3}
	for _, kind := range []Kind{KilledAfter, KilledBefore, Lost, Conflict, Failure, Timeout, Throttled, TooMany, Stale, StaleLong, Behind, ReadFailure, Between, Cut, Overlap, Overtaken} {
		f, ok := Plan{Kind: kind, Point: at}.fault()
		if !ok || f.Skip != 2 || f.Match.Group != "apps" || f.Match.Name != "blog" || f.Withhold && !f.Break && f.Answer == nil {
			t.Errorf("%s: %+v", kind, f)
		}
	}
	for _, kind := range []Kind{Without, Restarted, Absent, Coalesced, Merged, Early} {
		if _, ok := (Plan{Kind: kind, Point: at}).fault(); ok {
			t.Errorf("%s is the door's", kind)
		}
	}
}

// TestEarlySteps: a step comes early only if its object was applied before; commands never do.
func TestEarlySteps(t *testing.T) {
	named := func(kind, namespace string) map[string]any {
		return map[string]any{"kind": kind, "metadata": map[string]any{"name": "a", "namespace": namespace}}
	}
	steps := []Step{
		{Apply: named("Site", "")}, {Patch: named("Site", "default")}, {Patch: named("Site", "other")}, {Scale: &Scale{Object: named("Deployment", "")}},
		{Exec: []string{"kubectl", "wait", "a\nb"}}, {Delete: named("Deployment", "")},
	}
	ref := referenceOf()
	var early, merged []int
	for _, p := range plansFor(ref, steps, true) {
		if p.Kind == Early {
			early = append(early, p.Point.Step)
		}
		if p.Kind == Merged {
			merged = append(merged, p.Point.Step)
		}
	}
	if !slices.Equal(early, []int{0, 4}) || !slices.Equal(merged, []int{0}) {
		t.Errorf("early after %v, merged at %v", early, merged)
	}
	if got := steps[3].String() + ", " + steps[4].String(); got != "scale Deployment a, exec kubectl wait a↵b" {
		t.Error(got)
	}
}

// TestPlansOfOperators: of several operators each meets the faults; a single one has no name in the IDs of plans.
func TestPlansOfOperators(t *testing.T) {
	own, other := write(0, "create", "", "services", "blog"), write(0, "create", "", "services", "blog")
	own.operator, other.operator = "first", "second"
	ref := referenceOf(own, other)
	ref.twice = map[int][]watch{0: {{"second", resource{"", "pods"}}}}
	blog := map[string]any{"kind": "Site", "metadata": map[string]any{"name": "blog"}}
	steps := []Step{{Apply: blog}, {Patch: blog}}
	of := map[Kind][]string{}
	for _, p := range plansFor(ref, steps, false) {
		of[p.Kind] = append(of[p.Kind], p.Point.Operator)
		if text := p.Sentence(steps); p.Point.Operator != "" && !strings.Contains(text, p.Point.Operator) {
			t.Errorf("%s: %s", p.Kind, text)
		}
	}
	both := []string{"first", "second"}
	for kind, want := range map[Kind][]string{Without: {""}, Early: {""}, Restarted: both, Merged: both, Overlap: both, KilledBefore: both, Absent: {"first", "second", "first", "second"}, Coalesced: {"second"}} {
		if got := of[kind]; !slices.Equal(got, want) {
			t.Errorf("%s: plans for %q, want %q", kind, got, want)
		}
	}
	killed := Plan{Kind: KilledBefore, Point: other.point}
	if text := killed.Sentence(steps); text != "the operator second was killed before second: create services default/blog, in step 1 (apply Site blog)" {
		t.Error(text)
	}
	if pairs := pairsFor(ref); len(pairs) != 0 {
		t.Errorf("%d pairs of faults meet two operators", len(pairs))
	}
	if id := (Plan{Kind: KilledAfter, Point: Point{Verb: "create", Resource: "services", Namespace: "default", Name: "blog", Nth: 1}}).ID(); id != shortID("killed-after0 create services default/blog #1") {
		t.Error(id)
	}
}

// TestPatchedFields: a patch changes all but what names the object, and leaves the step as it is.
func TestPatchedFields(t *testing.T) {
	patch := map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "shop", "namespace": "default", "annotations": map[string]any{"host": nil}}, "spec": map[string]any{"x": "y"}}
	got, err := json.Marshal(Step{Patch: patch}.Fields())
	if want := `{"metadata":{"annotations":{"host":null}},"spec":{"x":"y"}}`; string(got) != want || err != nil {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
	if metadata(patch, "name") != "shop" {
		t.Errorf("the step is %v now", patch)
	}
	got, err = json.Marshal(Step{Patch: map[string]any{"metadata": map[string]any{"name": "shop"}}}.Fields())
	if string(got) != "{}" || err != nil {
		t.Errorf("%s (%v)", got, err)
	}
}
