package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Reference is what runs without a fault have shown.
type Reference struct {
	states   []state         // at rest after each step
	varies   []mask          // by steps
	pauses   []time.Duration // by steps, see waited; the last ones may lack
	canon    canon
	watching map[watch]bool  // watches that each new process has before it works
	open     map[watch]bool  // watches that operators have in the end
	refused  map[string]bool // sorts of requests that the API server refuses
	counts   map[Point]int   // effective creates and deletes, at most
	requests []*Request      // that came in every run
	twice    map[int][]watch // by steps: of which an object changes more than once, and which an operator watches
	took     []time.Duration // by step
	leftover []string        // objects that are there after the last step, and were not before the first
	warnings []string        // what is no finding, and should not be
	scenario Scenario
}

// ErrUnfit says that an operator cannot be proved as it is.
var ErrUnfit = errors.New("it does not work without a fault")

// quickRuns are those that have no more patience than others.
const quickRuns = 2

// learn runs the scenario without a fault: twice at leisure for names and states, and then as other runs are.
func (w *worker) learn(ctx context.Context, doing func(string)) (*Reference, error) {
	var first, second *outcome
	for i, o := range []**outcome{&first, &second} {
		doing(fmt.Sprintf("learning: run %d of %d without a fault", i+1, 2+quickRuns))
		got, err := w.run(ctx, Plan{}, nil, false)
		if err != nil {
			return nil, err
		}
		if len(got.symptoms) > 0 {
			return nil, unfit(w.scenario, got.symptoms[0])
		}
		*o = got
	}
	ref := &Reference{scenario: w.scenario, counts: map[Point]int{}, watching: first.watching, open: first.open, refused: map[string]bool{}, pauses: longest(first.pauses, second.pauses)}
	maps.DeleteFunc(ref.watching, func(of watch, _ bool) bool { return !second.watching[of] })
	ref.name(w, first, second)
	for i := range first.raw {
		ref.states = append(ref.states, ref.canon.state(first.raw[i].objects, first.raw[i].gone))
		ref.varies = append(ref.varies, mask{})
		ref.took = append(ref.took, max(first.raw[i].after, second.raw[i].after))
		ref.varies[i].learn(ref.states[i], ref.canon.state(second.raw[i].objects, second.raw[i].gone))
	}
	seen := map[Point]int{}
	ref.count(first.requests, map[Point]int{})
	ref.count(second.requests, seen)
	for i := range quickRuns {
		doing(fmt.Sprintf("learning: run %d of %d without a fault", 3+i, 2+quickRuns))
		got, err := (&run{worker: w, ref: ref, learning: true, outcome: &outcome{}}).all(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range got.symptoms {
			if s.Oracle != Extra { // it varies
				return nil, unfit(w.scenario, s)
			}
		}
		for i, s := range got.states {
			ref.varies[i].learn(ref.states[i], s)
		}
		ref.count(got.requests, seen)
	}
	for _, r := range first.requests {
		if seen[r.point] == 1+quickRuns {
			ref.requests = append(ref.requests, r)
		}
	}
	ref.often(w, first.changes)
	ref.spread()
	ref.left()
	ref.warn(first)
	if !slices.ContainsFunc(ref.requests, func(r *Request) bool { return r.effective }) {
		why := "if it is slow to begin, the scenario needs more patience"
		if len(ref.refused) > 0 {
			why = "the API server refuses it: " + strings.Join(slices.Sorted(maps.Keys(ref.refused)), ", ")
		}
		return nil, fmt.Errorf("%w: it has changed nothing in any step; %s", ErrUnfit, why)
	}
	return ref, nil
}

// name learns which names are the same in both runs, and which objects the operator or the users write.
func (ref *Reference) name(w *worker, a, b *outcome) {
	in := func(o *outcome) map[string]bool {
		seen := map[string]bool{}
		for _, c := range o.changes {
			if c.object != nil {
				seen[metadata(c.object, "namespace")+"/"+metadata(c.object, "name")] = true
				items(c.object, "", func(list, name string) { seen[list+"/"+name] = true })
			}
		}
		for _, r := range o.requests {
			seen[r.namespace+"/"+r.name] = true
		}
		return seen
	}
	ref.canon = canon{names: learnNames(in(a), in(b)), strict: map[string]bool{}}
	for _, o := range []*outcome{a, b} {
		for _, r := range o.requests {
			if !r.effective {
				continue
			}
			for _, c := range o.changes {
				object := c.object
				if object == nil {
					object = c.before
				}
				if object != nil && c.revision > r.began && c.revision <= r.ended && c.isOf(r, w.world.kinds[r.of]) {
					ref.strictly(object)
				}
			}
		}
	}
	for _, s := range w.scenario.Steps {
		_, object := s.what()
		if _, o, err := w.driver.at(object); err == nil {
			ref.strictly(o.Object)
		}
	}
}

// often learns which resources a step changes more than once. That of the step's own object is left out: until it is
// seen nothing happens.
func (ref *Reference) often(w *worker, changes []change) {
	ref.twice = map[int][]watch{}
	times := map[string]int{}
	for _, c := range changes {
		if c.object == nil {
			continue
		}
		of := w.driver.resourceOf(c.object)
		_, subject := ref.scenario.Steps[c.step].what()
		at := fmt.Sprint(c.step, c.key)
		if times[at]++; times[at] != 2 || of == w.driver.resourceOf(subject) {
			continue
		}
		for _, name := range ref.operators() {
			if seen := (watch{name, of}); ref.open[seen] && !slices.Contains(ref.twice[c.step], seen) {
				ref.twice[c.step] = append(ref.twice[c.step], seen)
			}
		}
	}
}

// isStrict reports whether an object of a state counts by its fields.
func (ref *Reference) isStrict(id string) bool { return ref.canon.strict[alike(id)] }

func (ref *Reference) strictly(object map[string]any) {
	ref.canon.strict[ref.identify(object)] = true
}

// point is where a request is in the run, without its number.
func (ref *Reference) point(r *Request) Point {
	return Point{Operator: r.operator, Step: r.step, Verb: r.verb, Group: r.of.group, Resource: r.of.name, Subresource: r.subresource,
		Namespace: r.namespace, Name: ref.canon.canonical(r.namespace, r.name)}
}

// count numbers the requests of a run, notes what is refused, and notes the most that objects are created and deleted.
func (ref *Reference) count(requests []*Request, seen map[Point]int) {
	nth := map[Point]int{}
	for _, r := range requests {
		at := ref.point(r)
		if r.status == 403 {
			ref.refused[ref.whole(r).String()] = true
		}
		if r.dryRun {
			continue
		}
		nth[at]++
		r.point = at
		r.point.Nth = nth[at]
		seen[r.point]++
	}
	for at, n := range creations(ref, requests) {
		ref.counts[at] = max(ref.counts[at], n)
	}
}

// creations are how often objects were created and deleted.
func creations(ref *Reference, requests []*Request) map[Point]int {
	counts := map[Point]int{}
	for _, r := range requests {
		if r.effective && (r.created || r.deleted) {
			counts[ref.whole(r)]++
		}
	}
	return counts
}

// whole is the sort of a request, in whatever step.
func (ref *Reference) whole(r *Request) Point {
	at := ref.point(r)
	at.Step = 0
	return at
}

// compare returns how a state differs from that of the reference after a step.
func (ref *Reference) compare(s state, step int) []Difference {
	all := s.differences(ref.states[step], ref.varies[step])
	all = slices.DeleteFunc(all, func(d Difference) bool { return ref.ignored(d) })
	slices.SortStableFunc(all, func(a, b Difference) int { // what the operator writes is the cause of what follows from it
		follows := func(d Difference) int { return map[bool]int{true: 0, false: 1}[ref.isStrict(d.Object)] }
		return cmp.Compare(follows(a), follows(b))
	})
	return all
}

// varying is what differs between runs without a fault, after any step.
func (ref *Reference) varying() []string {
	all := map[string]bool{}
	for _, m := range ref.varies {
		for what := range m {
			all[strings.Replace(what, "|", " ", 1)] = true
		}
	}
	return sorted(slices.Collect(maps.Keys(all)))
}

// ignored reports whether the scenario says that something differs by nature.
func (ref *Reference) ignored(d Difference) bool {
	return slices.ContainsFunc(ref.scenario.Ignore, func(i Ignore) bool { return i.covers(d) })
}

// covers reports whether a difference is of what is ignored; one without a field is of a whole object.
func (i Ignore) covers(d Difference) bool {
	kind, name, _ := strings.Cut(d.Object, " ")
	if i.Kind != "" && i.Kind != kind || i.Name != "" && !matches(i.Name, name) {
		return false
	}
	return len(i.Fields) == 0 || slices.ContainsFunc(i.Fields, func(f string) bool {
		return d.Field == f || strings.HasPrefix(d.Field, f+".") || strings.HasPrefix(d.Field, f+"[")
	})
}

func matches(pattern, name string) bool {
	if prefix, any := strings.CutSuffix(pattern, "*"); any {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// spread has what varies in one step vary in each: two runs may be alike by chance. A status may vary for a while.
func (ref *Reference) spread() {
	for _, m := range ref.varies {
		for what := range m {
			if _, field, of := strings.Cut(what, "|"); of && !strings.HasPrefix(field, "status.") {
				for _, other := range ref.varies {
					other[what] = true
				}
			}
		}
	}
}

// left learns which objects runs without a fault leave.
func (ref *Reference) left() {
	last := ref.states[len(ref.states)-1]
	for object := range last {
		if !ref.varies[len(ref.varies)-1].covers(object, "") && !strings.HasPrefix(object, "deleted ") {
			ref.leftover = append(ref.leftover, object)
		}
	}
	slices.Sort(ref.leftover)
}

// unfit explains why an operator cannot be proved.
func unfit(scenario Scenario, s Symptom) error {
	why := fmt.Sprintf("step %d (%s): %s", s.Step+1, scenario.Steps[s.Step], s.Oracle)
	for _, d := range s.Details {
		why += "; " + d
	}
	return fmt.Errorf("%w: %s%s", ErrUnfit, why, list(s.Differences))
}

// list shows some differences in an error.
func list(differences []Difference) (text string) {
	for i, d := range differences {
		if i == shownDifferences {
			return text + "; …"
		}
		text += "; " + d.String()
	}
	return text
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}
