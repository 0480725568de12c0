package prove

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A Point is a request of the operator in a run, the same in each run.
type Point struct {
	Step        int // counts from 0
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

// A Kind is a sort of fault.
type Kind string

// The kinds of faults. Each is something that a real API server, network or machine may do.
const (
	// Death after a write: a process may end at any time, and Kubernetes starts it again.
	KilledAfter Kind = "killed-after"
	// Death before a write.
	KilledBefore Kind = "killed-before"
	// The write is done, and its answer is lost: a connection may end at any time.
	Lost Kind = "lost"
	// 409: another client has written the object; see Concurrency Control and Consistency in
	// https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md.
	Conflict Kind = "conflict"
	// 500: the store or a webhook has failed.
	Failure Kind = "failure"
	// 504: the server has given up; the write was not done.
	Timeout Kind = "timeout"
	// 429 with Retry-After, of priority and fairness.
	Throttled Kind = "throttled"
	// 429 without Retry-After, of a budget for evictions or a rate limit of admission.
	TooMany Kind = "too-many"
	// The watch of the resource lags behind the write: watches promise an order, no time.
	Stale Kind = "stale"
	// The watch of the resource ends after the write: servers end watches at any time, and clients watch anew.
	Cut Kind = "watch-ended"
	// A read fails with 500.
	ReadFailure Kind = "read-failure"
	// Another client writes the object between its read and what the operator does about it.
	Between Kind = "written-meanwhile"
	// The operator is started again while nothing is to do, after each step.
	Restarted Kind = "restarted"
	// Two steps are seen as one event, as by a client that watches anew.
	Merged Kind = "merged"
	// The next step comes before the operator is at rest.
	Early Kind = "early"
)

// A Plan is a fault at a point.
type Plan struct {
	Kind  Kind
	Point Point // of Merged and Early only the step counts
}

// ID names a plan, in each run of the same scenario.
func (p Plan) ID() string { return shortID(fmt.Sprintf("%s%d %s", p.Kind, p.Point.Step, p.Point)) }

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

// Sentence says what happens.
func (p Plan) Sentence(steps []Step) string {
	in := fmt.Sprintf("in step %d (%s)", p.Point.Step+1, steps[p.Point.Step])
	of := strings.TrimSuffix(p.Point.String(), " #1")
	switch p.Kind {
	case KilledAfter:
		return fmt.Sprintf("the operator was killed after %s, %s", of, in)
	case KilledBefore:
		return fmt.Sprintf("the operator was killed before %s, %s", of, in)
	case Lost:
		return fmt.Sprintf("%s was done and its answer was lost, %s", of, in)
	case Conflict, Failure, Timeout, Throttled, TooMany:
		return fmt.Sprintf("%s was answered %d, %s", of, answers[p.Kind].Status, in)
	case Cut:
		return fmt.Sprintf("the watch of %s ended after %s, %s", p.Point.Resource, of, in)
	case Between:
		return fmt.Sprintf("another client wrote the object after %s, %s", of, in)
	case ReadFailure:
		return fmt.Sprintf("%s failed once, %s", of, in)
	case Stale:
		return fmt.Sprintf("the watch of %s lagged behind %s, %s", p.Point.Resource, of, in)
	case Restarted:
		return "the operator was started again while nothing was to do, after each step"
	case Merged:
		return fmt.Sprintf("the operator saw the steps %d and %d as one event", p.Point.Step+1, p.Point.Step+2)
	case Early:
		return fmt.Sprintf("step %d came before the operator was at rest after step %d", p.Point.Step+2, p.Point.Step+1)
	}
	return string(p.Kind)
}

var answers = map[Kind]protocol.FaultAnswer{
	Conflict:    {Status: 409, Reason: "Conflict"},
	Failure:     {Status: 500, Reason: "InternalError"},
	ReadFailure: {Status: 500, Reason: "InternalError"},
	Timeout:     {Status: 504, Reason: "Timeout"},
	Throttled:   {Status: 429, Reason: "TooManyRequests", RetryAfter: 1},
	TooMany:     {Status: 429, Reason: "TooManyRequests"},
}

// fault is what the door has to do; ok is false if that is not the door's.
func (p Plan) fault() (f protocol.Fault, ok bool) {
	at := p.Point
	f = protocol.Fault{Name: string(p.Kind), Skip: at.Nth - 1, Match: protocol.FaultMatch{
		Verb: at.Verb, Group: at.Group, Resource: at.Resource, Subresource: at.Subresource, Namespace: at.Namespace, Name: prefix(at.Name)}}
	switch p.Kind {
	case KilledAfter:
		f.Break, f.Shut = true, true
	case KilledBefore:
		f.Withhold, f.Break, f.Shut = true, true, true
	case Lost:
		f.Break = true
	case Stale:
		f.Hold = true
	case Between:
		f.Stall = true
	case Cut: // the door only says when
	case Restarted, Merged, Early:
		return f, false
	default:
		answer := answers[p.Kind]
		f.Withhold, f.Answer = true, &answer
	}
	return f, true
}

// plansFor are the faults for what a reference run has shown. Without all, only the first request of each sort in a
// step meets one, and what differs in the answer alone is tried once for each sort of write. Each write meets its first
// fault before any meets a second one, so that a run that is cut off has seen all of them.
func plansFor(ref *Reference, steps []Step, all bool) []Plan {
	rounds := [][]Plan{{{Kind: Restarted}}}
	add := func(round int, p Plan) {
		for len(rounds) <= round {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], p)
	}
	for i := range len(steps) - 1 {
		if !mayComeEarly(steps, i+1) {
			continue
		}
		at := Point{Step: i}
		add(0, Plan{Early, at})
		if !steps[i].mayDelete() && !steps[i+1].mayDelete() { // else another object is seen, or none
			add(0, Plan{Merged, at})
		}
	}
	begun, answered, cut := map[int]bool{}, map[Point]bool{}, map[resource]bool{}
	for n, r := range ref.requests {
		if r.point.Nth > 1 && !all {
			continue
		}
		kinds := kindsFor(r)
		if !r.writes() || !r.effective {
			for round, kind := range kinds {
				add(round, Plan{kind, r.point})
			}
			continue
		}
		if !cut[r.of] && ref.open[r.of] || all {
			kinds = append(kinds, Cut)
			cut[r.of] = true
		}
		sort := Point{Verb: r.verb, Group: r.of.group, Resource: r.of.name, Subresource: r.subresource}
		if !answered[sort] || all {
			kinds = append(kinds, Timeout, Throttled, TooMany)
			answered[sort] = true
		}
		if !begun[r.step] || all { // between two writes of a process that dies all is as after the first of them
			kinds = append(kinds, KilledBefore)
			begun[r.step] = true
		}
		for round, kind := range kinds {
			if round < usual { // not all of them kill at a time: a spare process has to come up
				round = (round + n) % usual
			}
			add(round, Plan{kind, r.point})
		}
	}
	return slices.Concat(rounds...)
}

// usual is how many faults each write meets.
const usual = 4

// kindsFor are the faults that a request meets in any case.
func kindsFor(r *Request) []Kind {
	switch {
	case !r.writes() && r.fresh && r.verb == "get":
		return []Kind{ReadFailure, Between}
	case !r.writes() && r.fresh:
		return []Kind{ReadFailure}
	case !r.writes() || !r.effective:
		return nil
	}
	kinds := []Kind{KilledAfter, Stale, Lost, Failure}
	if r.verb == "update" || r.verb == "patch" {
		kinds = append(kinds, Conflict)
	}
	return kinds
}
