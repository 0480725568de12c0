package prove

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A Kind is a sort of fault.
type Kind string

// The kinds of faults. Each is something that a real API server, network or machine may do.
const (
	// Nothing fails. Such a run shows what an operator does wrong in any case.
	Without Kind = "nothing"
	// Death before a write.
	KilledBefore Kind = "killed-before"
	// Death after a write: a process may end at any time, and Kubernetes starts it again.
	KilledAfter Kind = "killed-after"
	// The write is done, and its answer is lost: a connection may end at any time.
	Lost Kind = "lost"
	// The watch of the resource lags behind the write: watches promise an order, no time.
	Stale Kind = "stale"
	// It lags for longer than clients wait for their caches, behind an object whose name is made at random: there is no
	// second one under a fixed name.
	StaleLong Kind = "stale-long"
	// It lags until the next step is done.
	Behind Kind = "behind"
	// The watch of the resource ends after the write: servers end watches at any time, and clients watch anew.
	Cut Kind = "watch-ended"
	// The watch of a resource shows what a step has changed of each object as one event, as to a client that watches
	// anew.
	Coalesced Kind = "coalesced"
	// 409, and no event of the object follows, as of a quota that others use up.
	Conflict Kind = "conflict"
	// Another client writes the object first: the server refuses an update until the operator has read the object
	// again. See Concurrency Control and Consistency in
	// https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md.
	Overtaken Kind = "overtaken"
	// 500: the store or a webhook fails for a while.
	Failure Kind = "failure"
	// 504: the server has given up; the write was not done.
	Timeout Kind = "timeout"
	// 429 with Retry-After, of priority and fairness.
	Throttled Kind = "throttled"
	// 429 without Retry-After, of a budget for evictions or a rate limit of admission.
	TooMany Kind = "too-many"
	// A read fails with 500.
	ReadFailure Kind = "read-failure"
	// Another client writes the object between its read and what the operator does about it.
	Between Kind = "written-meanwhile"
	// A second process works while the first one goes on, from a write on: a leader need not notice that it is none any
	// more, see https://pkg.go.dev/k8s.io/client-go/tools/leaderelection.
	Overlap Kind = "overlap"
	// The operator is started again while nothing is to do, after each step.
	Restarted Kind = "restarted"
	// The operator does not run while a step is done: it is updated, or its node is lost.
	Absent Kind = "absent"
	// The operator is started again after the step, and its caches show an earlier one first: a list that takes any
	// state may get one from an API server that lags. See Any in
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list.
	TimeTravel Kind = "time-travel"
	// The operator's webhooks are not reachable while it works on a step: a network fails, or their certificate is
	// renewed. See Failure policy in
	// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/.
	Unreachable Kind = "webhooks-down"
	// Two steps are seen as one event, as by a client that watches anew.
	Merged Kind = "merged"
	// The next step comes before the operator is at rest.
	Early Kind = "early"
)

// A Sort is a kind of fault and what happens by it.
type Sort struct {
	Kind Kind
	Text string
}

// Sorts are all kinds, in the order in which they are shown.
func Sorts() []Sort {
	return []Sort{
		{Without, "nothing fails"},
		{KilledBefore, "the operator is killed before the write"},
		{KilledAfter, "the operator is killed after the write"},
		{Lost, "the write is done, and its answer is lost"},
		{Stale, "the watch of the resource lags behind the write"},
		{StaleLong, "the watch of the resource lags behind the write for a long time"},
		{Behind, "the watch of the resource lags behind the write until the next step is done"},
		{Cut, "the watch of the resource ends after the write"},
		{Coalesced, "the watch of the resource shows the step's changes of each object as one"},
		{Conflict, "the write is answered 409"},
		{Overtaken, "another client writes the object before the write"},
		{Failure, "the write is answered 500 for a while"},
		{Timeout, "the write is answered 504"},
		{Throttled, "the write is answered 429 with Retry-After"},
		{TooMany, "the write is answered 429 without Retry-After"},
		{ReadFailure, "the read is answered 500"},
		{Between, "another client writes the object after the read"},
		{Overlap, "a second process of the operator works beside the first one"},
		{Restarted, "the operator is started again while nothing is to do"},
		{Absent, "the operator does not run while the step is done"},
		{Unreachable, "the operator's webhooks are not reachable while it works on the step"},
		{TimeTravel, "the operator is started again, and its caches show an earlier step first"},
		{Merged, "two steps are seen as one event"},
		{Early, "the next step comes before the operator is at rest"},
	}
}

// Sentence says what happens.
func (p Plan) Sentence(steps []Step) string {
	if p.Then != "" {
		return Plan{Kind: p.Kind, Point: p.Point}.Sentence(steps) + "; then " + p.second().Sentence(steps)
	}
	text := p.sentence(steps)
	if p.Point.Operator != "" {
		text = strings.Replace(text, "the operator", "the operator "+p.Point.Operator, 1)
	}
	return text
}

func (p Plan) sentence(steps []Step) string {
	in := fmt.Sprintf("in step %d (%s)", p.Point.Step+1, steps[p.Point.Step])
	of := strings.TrimSuffix(p.Point.String(), " #1")
	switch p.Kind {
	case Without:
		return "nothing failed"
	case KilledAfter:
		return fmt.Sprintf("the operator was killed after %s, %s", of, in)
	case KilledBefore:
		return fmt.Sprintf("the operator was killed before %s, %s", of, in)
	case Lost:
		return fmt.Sprintf("%s was done and its answer was lost, %s", of, in)
	case Failure:
		return fmt.Sprintf("%s was answered 500 for a while, %s", of, in)
	case Conflict, Timeout, Throttled, TooMany:
		return fmt.Sprintf("%s was answered %d, %s", of, answers[p.Kind].Status, in)
	case Overtaken:
		return fmt.Sprintf("another client wrote the object before %s, %s", of, in)
	case Cut:
		return fmt.Sprintf("the watch of %s ended after %s, %s", p.Point.Resource, of, in)
	case Between:
		return fmt.Sprintf("another client wrote the object after %s, %s", of, in)
	case ReadFailure:
		return fmt.Sprintf("%s failed once, %s", of, in)
	case Stale:
		return fmt.Sprintf("the watch of %s lagged behind %s, %s", p.Point.Resource, of, in)
	case StaleLong:
		return fmt.Sprintf("the watch of %s lagged behind %s for %s, %s", p.Point.Resource, of, longLag, in)
	case Behind:
		return fmt.Sprintf("the watch of %s lagged behind %s, %s, until step %d was done", p.Point.Resource, of, in, p.Point.Step+2)
	case Coalesced:
		of = p.Point.Resource
		if p.Point.Operator != "" {
			of += " by the operator"
		}
		return fmt.Sprintf("the watch of %s showed the changes of each object as one event, %s", of, in)
	case Overlap:
		return fmt.Sprintf("a second process of the operator worked beside the first one from %s on, %s", of, in)
	case Restarted:
		return "the operator was started again while nothing was to do, after each step"
	case Unreachable:
		return "the operator's webhooks were not reachable while it worked, " + in
	case TimeTravel:
		whose := "its caches"
		if p.At.Verb == onlySubject {
			whose = "its cache of the step's kind"
		}
		return fmt.Sprintf("the operator was started again after step %d (%s), and %s showed step %d (%s) first", p.Point.Step+1, steps[p.Point.Step], whose, p.At.Step+1, steps[p.At.Step])
	case Absent:
		return fmt.Sprintf("the operator did not run while step %d (%s) was done", p.Point.Step+1, steps[p.Point.Step])
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
	case Stale, StaleLong, Behind:
		f.Hold = true
	case Between:
		f.Stall = true
	case Overtaken:
		f.Pause = true
	case Cut, Overlap: // the door only says when
	case Without, Restarted, Absent, Unreachable, TimeTravel, Coalesced, Merged, Early:
		return f, false
	case Conflict, Failure, ReadFailure, Timeout, Throttled, TooMany:
		answer := answers[p.Kind]
		f.Withhold, f.Answer = true, &answer
		f.Lasts = p.Kind == Failure && p.Then == ""
	}
	return f, true
}

// lags reports whether the fault is that a watch lags behind a write.
func (k Kind) lags() bool { return k == Stale || k == StaleLong || k == Behind }

// secondFault is what the door has to do for the second fault of a pair, once.
func (p Plan) secondFault() (f protocol.Fault, ok bool) {
	f, ok = p.second().fault()
	f.Lasts = false
	return f, ok
}

// mayWander reports whether the fault leads to the same state on another way, on which other objects may come and go.
func (k Kind) mayWander() bool {
	return k == Early || k == Merged || k == Absent || k == Behind || k == Coalesced
}

// skips reports whether the state after the first of two steps never is.
func (k Kind) skips() bool { return k == Early || k == Merged || k == Behind }
