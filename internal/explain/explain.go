// Package explain finds out why an object of a cluster is as it is: whether it is ready, what keeps it from that, what
// belongs to it and who has changed it.
//
// A question gathers a scene: the object, what it owns, what it refers to, and what decides about it (its definition,
// webhooks, the operator). Each judge looks at one object of the scene and finds causes. The most specific cause is the
// answer. Nothing is written to the cluster.
package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A Question is about one object.
type Question struct {
	Kind      string // as users of kubectl name it: kind, plural, singular or short name, also with its group behind a dot
	Namespace string // empty: that of the kubeconfig
	Name      string
	Since     time.Duration // of changes; 0: all that the record has
	Field     string        // path of a field, such as .spec.replicas, whose history is asked for; empty: the object's
}

// An Answer says how an object is, and why.
type Answer struct {
	Object report.ObjectRef `json:"object"`
	// Resource is what has objects of its kind, such as deployments.apps.
	Resource string `json:"resource,omitempty"`
	State    State  `json:"state"`
	// Causes are why it is not ready or what will fail next, the most specific first. A ready object has those that
	// stay without effect on it so far.
	Causes  []Cause  `json:"causes"`
	Waiting string   `json:"waiting,omitempty"` // what an object in progress waits for
	Tree    []Member `json:"tree"`              // the object and what it owns, from the top
	More    int      `json:"more,omitempty"`    // members that the tree leaves out
	// References are what the object and its pods need.
	References []Reference `json:"references"`
	Changes    []Change    `json:"changes"`         // the newest first
	Field      *Field      `json:"field,omitempty"` // that was asked for
	Unrecorded string      `json:"unrecorded,omitempty"`
	Unknown    []string    `json:"unknown"` // what could not be read, and why
}

// State is how an object is.
type State string

// The states. An object in progress is one with which nothing is wrong so far.
const (
	Ready      State = "ready"
	InProgress State = "in-progress"
	NotReady   State = "not-ready"
	Deleting   State = "deleting"
	Stuck      State = "stuck" // its deletion does not end
	Missing    State = "missing"
)

// A Cause is why an object is not ready.
type Cause struct {
	Object    report.ObjectRef `json:"object"` // where it lies
	Reason    string           `json:"reason"` // as Kubernetes has it, or of the same form
	Message   string           `json:"message"`
	Container string           `json:"container,omitempty"`
	Probe     string           `json:"probe,omitempty"`
	Next      string           `json:"next,omitempty"` // a command that helps
	Log       []string         `json:"log,omitempty"`  // the end of the container's log

	weight weight
	depth  int
}

// weight is how much a cause explains: a symptom has less than what is behind it.
type weight int

const (
	symptom   weight = iota // what the object or an event says of itself
	operating               // the operator that should work on it does not: a ready object stays ready
	admission               // writes of it are refused: the same
	concrete                // what is wrong with this very object
	refused                 // a request about it was refused, and not repeated with success
)

// A Member is an object of the tree.
type Member struct {
	Object report.ObjectRef `json:"object"`
	State  State            `json:"state"`
	Text   string           `json:"text,omitempty"` // what its status says, in a few words
	Depth  int              `json:"depth"`
}

// A Reference is an object that another one names.
type Reference struct {
	Object  report.ObjectRef `json:"object"`
	By      report.ObjectRef `json:"by"`
	Field   string           `json:"field"`
	Missing bool             `json:"missing,omitempty"`
}

// A Field is what the record has of a field of the object.
type Field struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"` // absent if it was removed, or has not changed since the record begins
	By    string          `json:"by,omitempty"`    // who has changed it last
	At    time.Time       `json:"at,omitzero"`
}

// A Change is an entry of the record, in short.
type Change struct {
	At     time.Time        `json:"at"`
	Object report.ObjectRef `json:"object"`
	By     string           `json:"by"`
	Verb   string           `json:"verb"`
	Fields []string         `json:"fields,omitempty"`
	Status int              `json:"status,omitempty"` // of a refused request
	Why    string           `json:"why,omitempty"`
	// Reconcile is the ID of the reconcile in which it was made, if it is known.
	Reconcile string `json:"reconcile,omitempty"`
	Inferred  bool   `json:"inferred,omitempty"` // only by time and object
}

// Explain answers a question. An object that is not there is an answer, too: it says what keeps it from being created.
func Explain(ctx context.Context, cluster *ship.Cluster, history History, q Question) (Answer, error) {
	s, err := gather(ctx, cluster, q)
	if err != nil {
		return Answer{}, err
	}
	s.judge(ctx)
	s.recall(ctx, history, q)
	if err := ctx.Err(); err != nil {
		return Answer{}, context.Cause(ctx)
	}
	return s.answer(), nil
}

// answer is the scene in short.
func (s *scene) answer() Answer {
	top := s.members[0]
	a := Answer{
		Object: s.ref, Resource: s.served.GroupResource().String(), State: top.state, Causes: []Cause{}, Tree: []Member{}, References: s.references, Changes: s.changes, Field: s.field,
		Unrecorded: s.unrecorded, Unknown: s.unknown, More: s.more,
	} // for programs, an empty list is a list
	for i, m := range s.members {
		if i < mostMembers {
			a.Tree = append(a.Tree, Member{m.ref(), m.state, m.text, m.depth})
		}
		a.Causes = append(a.Causes, m.deepest()...)
	}
	a.Causes = append(a.Causes, s.causes...)
	slices.SortStableFunc(a.Causes, func(x, y Cause) int { return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(y.depth, x.depth)) })
	said := map[string]bool{} // what an object says, those above it repeat
	a.Causes = slices.DeleteFunc(a.Causes, func(c Cause) bool {
		text := c.Reason + c.Message
		again := said[text]
		said[text] = true
		return again
	})
	a.settle(top)
	return a
}

// deepest are the causes in a member, without symptoms if there is more.
func (m *member) deepest() []Cause {
	if slices.ContainsFunc(m.causes, func(c Cause) bool { return c.weight > symptom }) {
		return slices.DeleteFunc(slices.Clone(m.causes), func(c Cause) bool { return c.weight == symptom })
	}
	return m.causes
}

// starts reports whether a member is a pod that starts as usual.
func starts(m Member) bool { return m.Object.Kind == podKind.Kind && m.State == InProgress }

// settle decides the state of the object by that of what it owns. What says itself that it is ready is ready.
func (a *Answer) settle(top *member) {
	heavier := func(than weight) bool {
		return slices.ContainsFunc(a.Causes, func(c Cause) bool { return c.weight > than })
	}
	below := a.Tree[min(1, len(a.Tree)):]
	switch {
	case a.State == Missing || a.State == Deleting || a.State == Stuck || top.says:
		return
	case heavier(admission), a.State == InProgress && slices.ContainsFunc(a.Causes, func(c Cause) bool { return c.weight == operating }):
		a.State = NotReady
	case a.State == Ready && slices.ContainsFunc(below, func(m Member) bool { return m.State == InProgress }),
		a.State == NotReady && !top.failed && slices.ContainsFunc(below, starts): // it says that it waits for them
		a.State = InProgress
	}
	if a.State == InProgress {
		for _, m := range slices.Backward(a.Tree) {
			if m.State == InProgress && m.Text != "" {
				a.Waiting = ship.RefText(m.Object) + ": " + m.Text
				return
			}
		}
	}
}

// plainWord is a name that is one word in any shell, and no flag.
var plainWord = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._/:=-]*$`)

// command is a command line with names. They are strangers', so there is none if one would be more than a word.
func command(format string, names ...string) string {
	words := make([]any, len(names))
	for i, name := range names {
		if !plainWord().MatchString(name) {
			return ""
		}
		words[i] = name
	}
	return fmt.Sprintf(format, words...)
}
