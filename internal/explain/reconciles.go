package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// A Reconcile is one call of a controller's reconciler.
type Reconcile struct {
	ID         string            `json:"id"`
	Operator   string            `json:"operator,omitempty"`
	User       string            `json:"user,omitempty"`
	Controller string            `json:"controller,omitempty"`
	Object     *report.ObjectRef `json:"object,omitempty"`
	Began      time.Time         `json:"began"`
	Ended      time.Time         `json:"ended,omitzero"`   // zero: it runs, or its end is not in the record
	Result     Result            `json:"result,omitempty"` // empty: it is not in the record
	Error      string            `json:"error,omitempty"`
	Woken      string            `json:"woken,omitempty"` // by what, as far as time and object tell
	Requests   int               `json:"requests"`        // writes, too
	Writes     int               `json:"writes"`
	Lines      int               `json:"lines"`
	// Inferred says that the operator's log does not name the reconcile: it is made of what came together.
	Inferred bool `json:"inferred"`
}

// Result is how a reconcile has ended, as controller-runtime counts it.
type Result string

// The results of reconciles.
const (
	Succeeded     Result = "success"
	Failed        Result = "error"
	RequeuedSoon  Result = "requeue"
	RequeuedAfter Result = "requeue after"
)

const (
	// late is how long after a reconcile's beginning the line about it may come.
	late = 20 * time.Millisecond
	// early is how long after a reconcile's end its last request may end.
	early = 5 * time.Millisecond
	// apart is the time without a request between two reconciles whose operator does not log them.
	apart = 500 * time.Millisecond
	// wakes is how long before a reconcile what woke it may have come, if it is about another object.
	wakes = time.Second
)

// reconcile is one with its deeds.
type reconcile struct {
	Reconcile
	trace   string
	bounded bool  // its beginning is in the log
	deeds   []int // by number, in the order in which they were found
}

// during reports whether a request may be one of the reconcile.
func (r *reconcile) during(began, ended time.Time) bool {
	first, last := r.Began, r.Ended
	if !r.bounded { // its first and its last line are somewhere in it
		first, last = first.Add(-apart), last.Add(apart)
	}
	return !began.Add(late).Before(first) && (last.IsZero() || !ended.After(last.Add(early)))
}

// about reports whether an object is the one that is reconciled.
func (r *reconcile) about(o *protocol.RecordObject) bool {
	return r.Object != nil && o != nil && r.Object.Name == o.Name && r.Object.Namespace == o.Namespace
}

// reconciles are those of which entries of a record tell.
type reconciles struct {
	deeds  []Deed // by time
	all    []*reconcile
	traced map[string]*reconcile   // by the ID of their trace
	byUser map[string][]*reconcile // that lines name
}

// ofEntry are the deeds that belong to reconciles, by their number.
func (r *reconciles) ofEntry() map[uint64]Deed {
	all := map[uint64]Deed{}
	for _, d := range r.deeds {
		if d.Reconcile != "" {
			all[d.Seq] = d
		}
	}
	return all
}

// happened is when something came.
func happened(e protocol.RecordEntry) time.Time {
	if e.Logged.IsZero() {
		return e.At
	}
	return e.Logged
}

// reconcilesOf finds out to which reconciles entries belong: those that lines name, those of a trace, and then by time.
func reconcilesOf(entries []protocol.RecordEntry) *reconciles {
	r := &reconciles{}
	for _, e := range entries {
		r.deeds = append(r.deeds, Deed{RecordEntry: e, Who: author(e)})
	}
	slices.SortFunc(r.deeds, func(a, b Deed) int {
		return cmp.Or(happened(a.RecordEntry).Compare(happened(b.RecordEntry)), cmp.Compare(a.Seq, b.Seq))
	})
	r.logged()
	r.requested()
	r.bursts()
	r.effects()
	slices.SortStableFunc(r.all, func(a, b *reconcile) int { return a.Began.Compare(b.Began) })
	r.woken()
	return r
}

// add notes that a deed is part of a reconcile.
func (r *reconciles) add(i int, to *reconcile, inferred bool) {
	d := &r.deeds[i]
	d.Reconcile, d.Inferred = to.ID, inferred
	to.deeds = append(to.deeds, i)
	switch {
	case d.Kind == protocol.RecordLine:
		to.Lines++
	case d.Kind == protocol.RecordRequest:
		if to.Requests++; !reads(d.By.Verb) {
			to.Writes++
		}
	}
}

// logged finds the reconciles that operators name in their logs.
func (r *reconciles) logged() {
	named := map[[2]string]*reconcile{}
	for i, d := range r.deeds {
		if d.Kind != protocol.RecordLine || d.Reconcile == "" {
			continue
		}
		key := [2]string{d.Operator, d.Reconcile}
		if named[key] == nil {
			named[key] = &reconcile{Reconcile: Reconcile{ID: d.Reconcile, Operator: d.Operator, Controller: d.Controller, Began: happened(d.RecordEntry)}}
			r.all = append(r.all, named[key])
		}
		named[key].line(d.RecordEntry)
		r.add(i, named[key], false)
	}
}

// The lines with which controller-runtime begins and ends a reconcile: reconcileHandler in
// sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go.
const (
	beginLine        = "Reconciling"
	successLine      = "Reconcile successful"
	requeueLine      = "Reconcile done, requeueing"
	requeueAfterLine = "Reconcile done, requeueing after "
	errorLine        = "Reconciler error"
)

// line takes what a line says of its reconcile.
func (r *reconcile) line(e protocol.RecordEntry) {
	if o := e.Object; o != nil && o.Name != "" && r.Object == nil {
		r.Object = &report.ObjectRef{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	}
	if e.By != nil {
		r.User, r.trace = cmp.Or(r.User, e.By.User), cmp.Or(r.trace, e.By.Trace)
	}
	said := devlog.Parse(e.Message)
	at := happened(e)
	switch {
	case said.Message == beginLine:
		r.bounded = true
	case said.Message == successLine:
		r.Ended, r.Result = at, Succeeded
	case said.Message == requeueLine:
		r.Ended, r.Result = at, RequeuedSoon
	case strings.HasPrefix(said.Message, requeueAfterLine):
		r.Ended, r.Result = at, RequeuedAfter
	case said.Message == errorLine:
		r.Ended, r.Result, r.Error = at, Failed, plainly(cmp.Or(said.Error, said.Message))
	case !r.bounded: // only what it logs by itself is there
		r.Ended = at
	}
}

// traceOf is the ID of the trace in a header traceparent: https://www.w3.org/TR/trace-context/#traceparent-header.
func traceOf(parent string) string {
	if parts := strings.Split(parent, "-"); len(parts) >= 4 {
		return parts[1]
	}
	return ""
}

// requested gives requests to the reconciles that were found.
func (r *reconciles) requested() {
	r.traced, r.byUser = map[string]*reconcile{}, map[string][]*reconcile{}
	for _, one := range r.all {
		if one.trace != "" {
			r.traced[one.trace] = one
		}
		r.byUser[one.User] = append(r.byUser[one.User], one)
	}
	for i, d := range r.deeds {
		if d.Kind != protocol.RecordRequest || d.By == nil || d.By.Verb == "watch" || isLease(d.Object) {
			continue
		}
		if one, exact := r.of(d.RecordEntry); one != nil {
			r.add(i, one, !exact)
		}
	}
}

// of is the reconcile to which a request or its effect belongs, by its trace or else by its time; nil if it is not
// known.
func (r *reconciles) of(e protocol.RecordEntry) (found *reconcile, exact bool) {
	if one := r.traced[traceOf(e.By.Trace)]; one != nil {
		return one, true
	}
	return during(r.byUser[e.By.User], e), false
}

// isLease reports whether a request is about a lease, as those of leaders are.
func isLease(o *protocol.RecordObject) bool {
	return o == nil || o.Resource == "leases" && o.Group == "coordination.k8s.io"
}

// during is the reconcile in whose course a request was made; nil if it may be of several.
func during(all []*reconcile, e protocol.RecordEntry) (found *reconcile) {
	began := happened(e)
	ended := began.Add(time.Duration(e.LatencyMs * float64(time.Millisecond)))
	candidates := slices.DeleteFunc(slices.Clone(all), func(one *reconcile) bool { return !one.during(began, ended) })
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(candidates, func(one *reconcile) bool { return !one.about(e.Object) })
	}
	if len(candidates) != 1 {
		return nil
	}
	return candidates[0]
}

// bursts makes reconciles of the requests of operators whose log names none: of those that follow each other closely.
func (r *reconciles) bursts() {
	named, last := map[string]bool{}, map[string]*reconcile{}
	for _, one := range r.all {
		named[one.User] = true
	}
	for i, d := range r.deeds {
		if d.Kind != protocol.RecordRequest || d.By == nil || d.By.Door == "" || named[d.By.User] || d.By.Verb == "watch" || isLease(d.Object) {
			continue
		}
		began := happened(d.RecordEntry)
		one := last[d.By.User]
		if one == nil || began.Sub(one.Ended) > apart {
			one = &reconcile{Reconcile: Reconcile{ID: burstID(d.Seq), User: d.By.User, Began: began, Inferred: true}, bounded: true}
			last[d.By.User] = one
			r.all = append(r.all, one)
		}
		one.Ended = began.Add(time.Duration(d.LatencyMs * float64(time.Millisecond)))
		r.add(i, one, true)
	}
}

// effects gives writes and refusals to the reconciles of their requests. A write has the revision that its request was
// answered; a refusal comes behind its request, or a moment before.
func (r *reconciles) effects() {
	type effect struct {
		user, group, resource, namespace, name string
		of                                     int64 // the revision, or the status
	}
	key := func(d Deed, of int64) effect {
		return effect{d.By.User, d.Object.Group, d.Object.Resource, d.Object.Namespace, d.Object.Name, of}
	}
	of := map[effect]int{}
	for i, d := range r.deeds {
		if d.Kind == protocol.RecordRequest && d.Reconcile != "" {
			number := d.Revision
			if d.Status >= 400 {
				number = int64(d.Status)
			}
			of[key(d, number)] = i
		}
	}
	byID := map[string]*reconcile{}
	for _, one := range r.all {
		byID[one.ID] = one
	}
	for i, d := range r.deeds {
		if d.By == nil || d.Object == nil || d.Kind != protocol.RecordWrite && d.Kind != protocol.RecordRefusal {
			continue
		}
		number := d.Revision
		if d.Kind == protocol.RecordRefusal {
			number = int64(d.Status)
		}
		request, is := of[key(d, number)]
		if is && (d.Kind != protocol.RecordRefusal || d.At.Sub(r.deeds[request].At).Abs() < wakes) {
			r.add(i, byID[r.deeds[request].Reconcile], r.deeds[request].Inferred)
		} else if one, exact := r.of(d.RecordEntry); one != nil { // its request is not among the entries
			r.add(i, one, !exact)
		}
	}
}

// woken finds what woke reconciles: the newest event that the operator was sent about the object since the reconcile
// before, else how that has ended, else an event about another object a moment before.
func (r *reconciles) woken() {
	type subject struct{ user, controller, namespace, name string }
	before := map[subject]*reconcile{}
	for _, one := range r.all {
		if one.Object == nil {
			continue
		}
		of := subject{one.User, one.Controller, one.Object.Namespace, one.Object.Name}
		last := before[of]
		before[of] = one
		own, other := r.delivered(one, last)
		switch {
		case own >= 0:
			one.Woken = eventText(r.deeds[own])
			r.add(own, one, true)
		case last != nil && last.Result == Failed:
			one.Woken = "the error of the reconcile before"
		case last != nil && last.Result != Succeeded && last.Result != "":
			one.Woken = "the reconcile before: " + string(last.Result)
		case other >= 0:
			one.Woken = eventText(r.deeds[other])
			r.add(other, one, true)
		}
	}
}

// delivered are the newest events before a reconcile: one about its object, behind the beginning of the reconcile
// before, and one about another object that woke no other reconcile; -1 if there is none.
func (r *reconciles) delivered(one, before *reconcile) (own, other int) {
	own, other = -1, -1
	end, _ := slices.BinarySearchFunc(r.deeds, one.Began, func(d Deed, at time.Time) int { return happened(d.RecordEntry).Compare(at) })
	for i := end - 1; i >= 0 && (own < 0 || other < 0); i-- {
		d := r.deeds[i]
		at := happened(d.RecordEntry)
		if before != nil && at.Before(before.Began) || one.Began.Sub(at) > time.Minute {
			break
		}
		if d.Kind != protocol.RecordDelivery || d.By == nil || d.By.User != one.User {
			continue
		}
		switch {
		case own < 0 && one.about(d.Object):
			own = i
		case other < 0 && d.Reconcile == "" && one.Began.Sub(at) < wakes && d.Object.Namespace == one.Object.Namespace:
			other = i
		}
	}
	return own, other
}

func eventText(d Deed) string {
	return d.Type + " " + resourceText(d.RecordEntry) + " " + strings.TrimPrefix(d.Object.Namespace+"/"+d.Object.Name, "/")
}

// grows is by how much an event of a watch makes a cache grow.
var grows = map[string]int{string(watch.Added): 1, string(watch.Deleted): -1}

// cached are how many objects more the newest watches of a user have brought than taken, by resource.
func (r *reconciles) cached(user string) map[string]int {
	counts := map[string]int{}
	for _, d := range r.deeds {
		switch {
		case d.By == nil || d.Object == nil || d.By.User != user:
		case d.Kind == protocol.RecordRequest && d.By.Verb == "watch":
			counts[resourceText(d.RecordEntry)] = 0
		case d.Kind == protocol.RecordDelivery:
			counts[resourceText(d.RecordEntry)] += grows[d.Type]
		}
	}
	return counts
}
