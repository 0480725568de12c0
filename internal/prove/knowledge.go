package prove

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"
)

// Knowledge is what runs without a fault have shown. As JSON it spares other processes that prove the same operator
// with the same scenario the learning. Those who read it can try values of Secrets.
type Knowledge struct {
	Key       []byte // of the digests of Secrets
	Events    bool   // the operator reads Events
	Reference *Reference
}

// ErrKnowledge says that a knowledge is not of the scenario.
var ErrKnowledge = errors.New("it is of another scenario")

// fits reports whether a scenario may be judged by the knowledge.
func (k *Knowledge) fits(s Scenario) error {
	ref := k.Reference
	if ref == nil || len(k.Key) != sha256.Size || len(s.Steps) == 0 || len(ref.states) != len(s.Steps) || len(ref.varies) != len(s.Steps) || len(ref.took) != len(s.Steps) {
		return ErrKnowledge
	}
	for _, r := range ref.requests {
		if r.step < 0 || r.step >= len(s.Steps) {
			return ErrKnowledge
		}
	}
	for _, d := range append(ref.took, ref.pauses...) {
		if d < 0 || d > longestStep {
			return ErrKnowledge
		}
	}
	ref.scenario = s
	return nil
}

// longestStep bounds the times that a knowledge has.
const longestStep = time.Hour

// knowledgeFile is a reference as JSON.
type knowledgeFile struct {
	States   []state
	Varies   []mask
	Pauses   []time.Duration
	Took     []time.Duration
	Stable   map[string]bool
	Patterns map[string][]string
	Strict   map[string]bool
	Watching []knownWatch
	Open     []knownWatch
	Refused  map[string]bool
	Counts   []knownCount
	Requests []knownRequest
	Twice    map[int][]knownWatch
	Leftover []string
	Warnings []string
}

type knownWatch struct{ Operator, Group, Name string }

type knownCount struct {
	Of    Point
	Times int
}

type knownRequest struct {
	Point              Point
	Effective, Created bool
	Fresh, DryRun      bool
}

// MarshalJSON writes a reference.
func (ref *Reference) MarshalJSON() ([]byte, error) {
	k := knowledgeFile{
		States: ref.states, Varies: ref.varies, Pauses: ref.pauses, Took: ref.took, Stable: ref.canon.stable, Patterns: ref.canon.patterns, Strict: ref.canon.strict,
		Watching: knownOf(ref.watching), Open: knownOf(ref.open), Refused: ref.refused, Twice: map[int][]knownWatch{}, Leftover: ref.leftover, Warnings: ref.warnings,
	}
	for of, n := range ref.counts {
		k.Counts = append(k.Counts, knownCount{of, n})
	}
	for _, r := range ref.requests {
		k.Requests = append(k.Requests, knownRequest{r.point, r.effective, r.created, r.fresh, r.dryRun})
	}
	for step, all := range ref.twice {
		for _, of := range all {
			k.Twice[step] = append(k.Twice[step], knownWatch{of.operator, of.group, of.name})
		}
	}
	return json.Marshal(k)
}

// UnmarshalJSON reads a reference.
func (ref *Reference) UnmarshalJSON(encoded []byte) error {
	var k knowledgeFile
	if err := json.Unmarshal(encoded, &k); err != nil {
		return err
	}
	*ref = Reference{
		states: k.States, varies: k.Varies, pauses: k.Pauses, took: k.Took, canon: canon{names: names{stable: k.Stable, patterns: k.Patterns}, strict: k.Strict},
		watching: map[watch]bool{}, open: map[watch]bool{}, refused: k.Refused, counts: map[Point]int{}, twice: map[int][]watch{}, leftover: k.Leftover, warnings: k.Warnings,
	}
	for into, all := range map[*map[watch]bool][]knownWatch{&ref.watching: k.Watching, &ref.open: k.Open} {
		for _, of := range all {
			(*into)[of.watch()] = true
		}
	}
	for _, c := range k.Counts {
		ref.counts[c.Of] = c.Times
	}
	for _, r := range k.Requests {
		at := r.Point
		ref.requests = append(ref.requests, &Request{operator: at.Operator, step: at.Step, verb: at.Verb, of: resource{at.Group, at.Resource}, subresource: at.Subresource, namespace: at.Namespace, name: at.Name,
			point: at, effective: r.Effective, created: r.Created, fresh: r.Fresh, dryRun: r.DryRun})
	}
	for step, all := range k.Twice {
		for _, of := range all {
			ref.twice[step] = append(ref.twice[step], of.watch())
		}
	}
	return nil
}

func (k knownWatch) watch() watch { return watch{k.Operator, resource{k.Group, k.Name}} }

// knownOf are the watches of a set.
func knownOf(set map[watch]bool) (all []knownWatch) {
	for of, in := range set {
		if in {
			all = append(all, knownWatch{of.operator, of.group, of.name})
		}
	}
	return all
}
