package prove

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// A Point is a request of the operator in a run, the same in each run.
type Point struct {
	Operator    string // its name; empty if there is only one
	Step        int    // counts from 0
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string // also PREFIX*
	Nth         int    // of the requests of that sort in the step; counts from 1
}

// String is the point as users read it.
func (p Point) String() string {
	of := resource{p.Group, p.Resource}.String()
	if p.Subresource != "" {
		of += "/" + p.Subresource
	}
	text := p.Verb + " " + of + " " + strings.TrimPrefix(p.Namespace+"/"+p.Name, "/")
	if p.Operator != "" {
		text = p.Operator + ": " + text
	}
	if p.Nth == 0 {
		return text
	}
	return fmt.Sprintf("%s #%d", text, p.Nth)
}

// sort is the point without its number.
func (p Point) sort() Point {
	p.Nth = 0
	return p
}

// A Plan is a fault at a point, or one and another one behind it.
type Plan struct {
	Kind  Kind
	Point Point // of Merged and Early only the step counts
	Then  Kind  // the second fault; empty: there is none
	At    Point // where it is; of TimeTravel the step counts that is seen
}

// ID names a plan, in each run of the same scenario.
func (p Plan) ID() string {
	text := fmt.Sprintf("%s%d %s", p.Kind, p.Point.Step, p.Point)
	if p.Kind == TimeTravel {
		text += fmt.Sprintf(" %d%s", p.At.Step, p.At.Verb)
	}
	if p.Then != "" {
		text += fmt.Sprintf(" %s%d %s", p.Then, p.At.Step, p.At)
	}
	return shortID(text)
}

// second is the second fault as a plan of its own.
func (p Plan) second() Plan { return Plan{Kind: p.Then, Point: p.At} }

// in reports whether a fault is for a step.
func (p Plan) in(step int) bool { return p.Kind != "" && p.Point.Step == step }

// share is to which of n shares the plan belongs, from 1.
func (p Plan) share(n int) int {
	sum := sha256.Sum256([]byte(p.ID()))
	return 1 + int(binary.BigEndian.Uint32(sum[:]))%n
}

// shortID is a short text for a long one.
func shortID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// plans are those that are to be carried out.
func (p Proof) plans(ref *Reference) ([]Plan, error) {
	steps, replay := p.Scenario.Steps, p.Replay != ""
	plans := plansFor(ref, steps, p.All || replay)
	if p.Travel || replay {
		plans = append(plans, travelsFor(ref, steps)...)
	}
	if p.Depth > 1 || replay {
		plans = append(plans, pairsFor(ref)...)
	}
	plans = slices.DeleteFunc(plans, func(plan Plan) bool { return plan.Kind == Unreachable && !p.serves(plan.Point.Operator) })
	if replay {
		plans = slices.DeleteFunc(plans, func(plan Plan) bool { return plan.ID() != p.Replay })
		if len(plans) == 0 {
			return nil, fmt.Errorf("%w: %s", ErrNoPlan, p.Replay)
		}
		return plans[:1], nil
	}
	if p.Seed != 0 {
		drawn := func(plan Plan) string { return shortID(fmt.Sprintf("%d %s", p.Seed, plan.ID())) }
		slices.SortStableFunc(plans, func(a, b Plan) int { return strings.Compare(drawn(a), drawn(b)) })
	}
	if p.Shards > 1 {
		plans = slices.DeleteFunc(plans, func(plan Plan) bool { return plan.share(p.Shards) != p.Shard })
	}
	if p.Most > 0 && len(plans) > p.Most {
		plans = plans[:p.Most]
	}
	return plans, nil
}

// serves reports whether an operator serves webhooks.
func (p Proof) serves(operator string) bool {
	return slices.ContainsFunc(p.Clusters[0].Operators, func(o Operator) bool { return o.Name == operator && o.Interrupt != nil })
}

// plansFor are the faults for what a reference run has shown. Without all, only the first request of each sort in a
// step meets one, and what differs in the answer alone is tried once for each sort of write. Each write meets its first
// fault before any meets a second one, so that a run that is cut off has seen all of them.
func plansFor(ref *Reference, steps []Step, all bool) []Plan {
	p := planner{ref: ref, steps: steps, all: all, operators: ref.operators(), met: map[any]bool{}}
	p.add(0, Without, Point{})
	for _, name := range p.operators {
		p.add(0, Restarted, Point{Operator: name})
	}
	for i := range steps {
		p.step(i)
	}
	for n, r := range ref.requests {
		if r.point.Nth == 1 || all {
			p.request(n, r)
		}
	}
	return slices.Concat(p.rounds...)
}

// travelsFor are starts behind each step with what each earlier one looked like when it began: all, or only what it has
// changed first.
func travelsFor(ref *Reference, steps []Step) (travels []Plan) {
	for now := range steps {
		for past := range now {
			if steps[past].Exec != nil {
				continue
			}
			for _, name := range ref.operators() {
				travels = append(travels, Plan{Kind: TimeTravel, Point: Point{Operator: name, Step: now}, At: Point{Step: past}},
					Plan{Kind: TimeTravel, Point: Point{Operator: name, Step: now}, At: Point{Step: past, Verb: onlySubject}})
			}
		}
	}
	return travels
}

// onlySubject marks the plans in which only the resource that a step changes shows the past.
const onlySubject = "list"

// pairsFor are faults at two writes: the second one meets what is done about the first one. Those that are near to each
// other come first. Both are of one operator.
func pairsFor(ref *Reference) (pairs []Plan) {
	kinds := []Kind{KilledAfter, Failure, Lost}
	var writes []Point
	for _, r := range ref.requests {
		if r.effective && r.point.Nth == 1 {
			writes = append(writes, r.point)
		}
	}
	for distance := 1; distance < len(writes); distance++ {
		for i := range len(writes) - distance {
			if writes[i].Operator != writes[i+distance].Operator {
				continue
			}
			for _, kind := range kinds {
				for _, then := range kinds {
					if len(pairs) < mostPairs {
						pairs = append(pairs, Plan{kind, writes[i], then, writes[i+distance]})
					}
				}
			}
		}
	}
	return pairs
}

// mostPairs bounds how many pairs of faults are tried.
const mostPairs = 5000

// A planner collects plans.
type planner struct {
	ref    *Reference
	steps  []Step
	all    bool
	rounds [][]Plan
	met    map[any]bool // what a fault is for once
	// operators are the names of those that have changed something.
	operators []string
}

func (p *planner) add(round int, kind Kind, at Point) {
	for len(p.rounds) <= round {
		p.rounds = append(p.rounds, nil)
	}
	p.rounds[round] = append(p.rounds[round], Plan{Kind: kind, Point: at})
}

// first reports whether something is met for the first time, or each time counts.
func (p *planner) first(what any) bool {
	if p.met[what] && !p.all {
		return false
	}
	p.met[what] = true
	return true
}

// early reports whether the step after one may come before the operator is at rest. What is applied to an object that
// is being deleted goes with it.
func (p *planner) early(step int) bool {
	return step+1 < len(p.steps) && mayComeEarly(p.steps, step+1) && !(p.steps[step].Delete != nil && p.steps[step].about() == p.steps[step+1].about())
}

// step adds the faults of a step as a whole.
func (p *planner) step(i int) {
	for _, name := range p.operators {
		if mayComeEarly(p.steps, i) {
			p.add(0, Absent, Point{Operator: name, Step: i})
			p.add(1, Unreachable, Point{Operator: name, Step: i})
		}
	}
	for _, of := range p.ref.twice[i] {
		p.add(1, Coalesced, Point{Operator: of.operator, Step: i, Verb: "watch", Group: of.group, Resource: of.name})
	}
	if !p.early(i) {
		return
	}
	p.add(0, Early, Point{Step: i})
	if p.steps[i].mayDelete() || p.steps[i+1].mayDelete() { // another object is seen, or none
		return
	}
	for _, name := range p.operators {
		p.add(0, Merged, Point{Operator: name, Step: i})
	}
}

// A met is what a kind of fault is tried for.
type met struct {
	kind Kind
	step int
	what any
}

// request adds the faults of a request, the nth of all.
func (p *planner) request(n int, r *Request) {
	if !r.writes() || !r.effective {
		for round, kind := range kindsOfRead(r) {
			p.add(round, kind, r.point)
		}
		return
	}
	kinds := []Kind{KilledAfter, Stale, Lost, Failure}
	if r.verb == "update" || r.verb == "patch" {
		kinds = append(kinds, Conflict)
	}
	if r.verb == "update" && !strings.Contains(r.point.Name, "*") { // a patch is not refused, and a random name is not known
		kinds = append(kinds, Overtaken)
	}
	seen := watch{r.operator, r.of}
	watched := p.ref.open[seen]
	if watched && p.first(met{Cut, 0, seen}) {
		kinds = append(kinds, Cut)
	}
	if watched && r.created && strings.Contains(r.point.Name, "*") && p.first(met{StaleLong, 0, seen}) {
		p.add(last, StaleLong, r.point)
	}
	if watched && p.early(r.step) {
		kinds = append(kinds, Behind)
	}
	if p.first(Point{Operator: r.operator, Verb: r.verb, Group: r.of.group, Resource: r.of.name, Subresource: r.subresource}) {
		kinds = append(kinds, Timeout, Throttled, TooMany)
	}
	if p.first(met{Overlap, r.step, r.operator}) { // between two writes of a process that dies all is as after the first of them
		kinds = append(kinds, KilledBefore, Overlap)
	}
	for round, kind := range kinds {
		if round < usual { // not all of them kill at a time: a spare process has to come up
			round = (round + n) % usual
		}
		p.add(round, kind, r.point)
	}
}

// last is the round of what takes long.
const last = 16

// usual is how many faults each write meets.
const usual = 4

// kindsOfRead are the faults that a request which changes nothing meets.
func kindsOfRead(r *Request) []Kind {
	switch {
	case r.writes() || !r.fresh:
		return nil
	case r.verb == "get":
		return []Kind{ReadFailure, Between}
	}
	return []Kind{ReadFailure}
}
