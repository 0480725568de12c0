package explain

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Work is what operators have done that the record knows: those whose requests pass a front door, as with
// `slipway dev`.
type Work struct {
	Operators   []OperatorWork   `json:"operators"`
	Controllers []ControllerWork `json:"controllers"`
	Since       time.Time        `json:"since"` // how far back the record was searched
	// Reconciles are the newest ones, the newest first.
	Reconciles []Reconcile `json:"reconciles"`
}

// OperatorWork is what one operator has done.
type OperatorWork struct {
	User string `json:"user"`
	// Woken are the events that its watches were sent.
	Woken []Tally `json:"woken"`
	// Reads are requests that no cache has answered.
	Reads  []Tally `json:"reads"`
	Writes []Tally `json:"writes"`
	// Idle are writes that changed nothing but managed fields.
	Idle      []Tally `json:"idle"`
	Conflicts []Tally `json:"conflicts"`
	Refused   []Tally `json:"refused"`
	// Cached are how many objects have come into its caches and not gone, without those that filled them at first.
	Cached   []Tally    `json:"cached"`
	Restless []Restless `json:"restless"` // objects that it writes again and again
}

// A Tally counts what is alike.
type Tally struct {
	What  string `json:"what"` // such as "update deployments.apps/status"
	Times int    `json:"times"`
}

// Restless is an object that is written often.
type Restless struct {
	Object report.ObjectRef `json:"object"`
	Times  int              `json:"times"`
	Fields []string         `json:"fields"` // that the newest write changed
}

const (
	// pagesOfWork bounds how many entries of a sort are looked at.
	pagesOfWork = 10
	// mostOperators bounds of how many operators the writes are looked at.
	mostOperators = 8
	// mostReconciles bounds the reconciles of an answer.
	mostReconciles = 500
	// oftenWritten is from how many writes on an object is named as restless.
	oftenWritten = 20
)

// Reconciles sums up what operators have done since a time, as far back as a bounded search of the record reaches.
func Reconciles(ctx context.Context, history History, since time.Time) (Work, error) {
	w := work{operators: map[string]*tallies{}, seen: map[uint64]bool{}}
	traffic := []string{protocol.RecordRequest, protocol.RecordDelivery, protocol.RecordLine}
	var err error
	if w.since, err = w.read(ctx, history, protocol.RecordQuery{Since: since, Kinds: traffic}); err != nil {
		return Work{}, err
	}
	logs := map[string]bool{}
	for _, e := range w.entries {
		logs[e.Operator] = true
	}
	delete(logs, "")
	for _, operator := range slices.Sorted(maps.Keys(logs))[:min(len(logs), mostOperators)] { // lines go further back than all that came with them
		if _, err := w.read(ctx, history, protocol.RecordQuery{Operator: operator, Since: since, Kinds: []string{protocol.RecordLine}}); err != nil {
			return Work{}, err
		}
	}
	users := slices.Sorted(maps.Keys(w.operators))
	for _, user := range users[:min(len(users), mostOperators)] {
		q := protocol.RecordQuery{User: user, Since: w.since, Kinds: []string{protocol.RecordWrite, protocol.RecordRefusal}}
		to, err := w.read(ctx, history, q)
		if err != nil {
			return Work{}, err
		}
		if to.After(w.since) {
			w.since = to
		}
	}
	return w.sum(), nil
}

// read counts the newest entries of an answer, and returns how far back it went.
func (w *work) read(ctx context.Context, history History, q protocol.RecordQuery) (to time.Time, err error) {
	q.Limit = mostEntries
	for range pagesOfWork {
		page, err := history.Record(ctx, q)
		if err != nil {
			return to, err
		}
		for _, e := range page.Entries {
			if !w.seen[e.Seq] {
				w.seen[e.Seq] = true
				w.entries = append(w.entries, e)
				w.count(e)
			}
		}
		if to, q.Before = page.SearchedTo, page.Next; page.Next == 0 {
			return q.Since, nil
		}
	}
	return to, nil
}

// work counts the entries of the record, the newest first.
type work struct {
	operators map[string]*tallies
	entries   []protocol.RecordEntry
	seen      map[uint64]bool // their numbers
	since     time.Time
}

type tallies struct {
	door                                          bool // its requests pass a front door
	woken, reads, writes, idle, conflict, refused map[string]int
	objects                                       map[report.ObjectRef]*Restless
}

func (w *work) of(user string) *tallies {
	if w.operators[user] == nil {
		w.operators[user] = &tallies{woken: map[string]int{}, reads: map[string]int{}, writes: map[string]int{}, idle: map[string]int{}, conflict: map[string]int{}, refused: map[string]int{}, objects: map[report.ObjectRef]*Restless{}}
	}
	return w.operators[user]
}

// count adds an entry.
func (w *work) count(e protocol.RecordEntry) {
	if e.Kind == protocol.RecordLine || e.By == nil || e.By.User == "" || e.Object == nil {
		return
	}
	t := w.of(e.By.User)
	t.door = t.door || e.By.Door != ""
	resource := resourceText(e)
	what := e.By.Verb + " " + resource
	switch {
	case e.Kind == protocol.RecordDelivery:
		t.woken[e.Type+" "+resource]++
	case e.Kind == protocol.RecordRequest:
		if (e.By.Verb == "get" || e.By.Verb == "list") && e.Status < http.StatusBadRequest {
			t.reads[what]++
		}
	case e.Kind == protocol.RecordRefusal && e.Status == http.StatusConflict:
		t.conflict[what]++
	case e.Kind == protocol.RecordRefusal && e.Status != http.StatusNotFound:
		t.refused[what]++
	case e.Kind == protocol.RecordWrite && e.Idle:
		t.idle[what]++
	case e.Kind == protocol.RecordWrite:
		t.writes[what]++
		t.write(e)
	}
}

// resourceText is a resource with its group and subresource, as in deployments.apps/status.
func resourceText(e protocol.RecordEntry) string {
	if e.Object.Group == "" {
		return resourceOf(e)
	}
	return strings.Replace(resourceOf(e), e.Object.Resource, e.Object.Resource+"."+e.Object.Group, 1)
}

// write counts the writes of an object.
func (t *tallies) write(e protocol.RecordEntry) {
	ref := report.ObjectRef{Kind: cmp.Or(e.Object.Kind, e.Object.Resource), Namespace: e.Object.Namespace, Name: e.Object.Name}
	if t.objects[ref] == nil {
		t.objects[ref] = &Restless{Object: ref, Fields: []string{}}
		for _, c := range e.Changes {
			t.objects[ref].Fields = append(t.objects[ref].Fields, fieldText(c))
		}
	}
	t.objects[ref].Times++
}

// sum is what was counted, of the operators that pass a front door.
func (w *work) sum() Work {
	found := reconcilesOf(w.entries)
	all := Work{Operators: []OperatorWork{}, Controllers: found.controllers(), Since: w.since, Reconciles: []Reconcile{}}
	for _, one := range slices.Backward(found.all[max(0, len(found.all)-mostReconciles):]) {
		all.Reconciles = append(all.Reconciles, one.Reconcile)
	}
	for _, user := range slices.Sorted(maps.Keys(w.operators)) {
		t := w.operators[user]
		if !t.door {
			continue
		}
		o := OperatorWork{
			User: user, Woken: most(t.woken), Reads: most(t.reads), Writes: most(t.writes), Idle: most(t.idle), Conflicts: most(t.conflict), Refused: most(t.refused), Cached: most(found.cached(user)),
			Restless: []Restless{},
		}
		for _, r := range t.objects {
			if r.Times >= oftenWritten {
				o.Restless = append(o.Restless, *r)
			}
		}
		slices.SortFunc(o.Restless, func(a, b Restless) int { return cmp.Or(b.Times-a.Times, strings.Compare(a.Object.Name, b.Object.Name)) })
		all.Operators = append(all.Operators, o)
	}
	return all
}

// most are counts, the largest first.
func most(counts map[string]int) []Tally {
	all := []Tally{}
	for what, times := range counts {
		if times != 0 {
			all = append(all, Tally{what, times})
		}
	}
	slices.SortFunc(all, func(a, b Tally) int { return cmp.Or(b.Times-a.Times, strings.Compare(a.What, b.What)) })
	return all
}
