package explain

import (
	"cmp"
	"slices"
	"time"

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
	TookMs     float64           `json:"tookMs,omitempty"`
	Requests   int               `json:"requests"` // writes, too
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
	group   string // of the object's kind, if it is known
	trace   string
	bounded bool  // its beginning is in the log
	deeds   []int // by number, in the order in which they were found
}

// during reports whether a request is within the time of the reconcile or, loosely, may have been.
func (r *reconcile) during(began, ended time.Time, loosely bool) bool {
	first, last := r.Began, r.Ended
	if !r.bounded { // its first and its last line are somewhere in it
		first = first.Add(-apart)
		if !last.IsZero() {
			last = last.Add(apart)
		}
	}
	if loosely {
		first = first.Add(-late)
		if !last.IsZero() {
			last = last.Add(early)
		}
	}
	return !began.Before(first) && (last.IsZero() || !ended.After(last))
}

// shared is how long a request and the reconcile have lasted at the same time.
func (r *reconcile) shared(began, ended time.Time) time.Duration {
	if began.Before(r.Began) {
		began = r.Began
	}
	if !r.Ended.IsZero() && ended.After(r.Ended) {
		ended = r.Ended
	}
	return ended.Sub(began)
}

// about reports whether an object is the one that is reconciled, as far as its group tells.
func (r *reconcile) about(o *protocol.RecordObject) bool {
	return r.Object != nil && o != nil && r.Object.Name == o.Name && r.Object.Namespace == o.Namespace && (r.group == "" || r.group == o.Group)
}

// reconciles are those of which entries of a record tell.
type reconciles struct {
	deeds  []Deed // by time
	all    []*reconcile
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
		r.deeds = append(r.deeds, Alone(e))
	}
	slices.SortFunc(r.deeds, byTime)
	r.logged()
	r.cutOff()
	r.requested()
	r.bursts()
	r.effects()
	slices.SortStableFunc(r.all, func(a, b *reconcile) int { return a.Began.Compare(b.Began) })
	r.woken()
	for _, one := range r.all {
		if one.bounded && !one.Ended.IsZero() {
			one.TookMs = milliseconds(one.Ended.Sub(one.Began))
		}
	}
	return r
}

func byTime(a, b Deed) int {
	return cmp.Or(happened(a.RecordEntry).Compare(happened(b.RecordEntry)), cmp.Compare(a.Seq, b.Seq))
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

// cutOff ends reconciles whose end is not in the log, as when the manager was killed: where the next one of the object
// begins, since a controller reconciles no object twice at once.
func (r *reconciles) cutOff() {
	type subject struct{ operator, controller, namespace, name string }
	open := map[subject]*reconcile{}
	for _, one := range r.all { // by their first lines
		if one.Object == nil || !one.bounded {
			continue
		}
		of := subject{one.Operator, one.Controller, one.Object.Namespace, one.Object.Name}
		if before := open[of]; before != nil && before.Ended.IsZero() {
			before.Ended = one.Began
		}
		open[of] = one
	}
}

// line takes what a line says of its reconcile.
func (r *reconcile) line(e protocol.RecordEntry) {
	if o := e.Object; o != nil && o.Name != "" && r.Object == nil {
		r.Object, r.group = &report.ObjectRef{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, o.Group
	}
	if e.By != nil {
		r.User, r.trace = cmp.Or(r.User, e.By.User), cmp.Or(r.trace, e.By.Trace)
	}
	said := devlog.Parse(e.Message)
	switch phase := said.Phase(); phase {
	case devlog.Begun:
		r.bounded = true
	case devlog.Within:
		if !r.bounded { // only what it logs by itself is there
			r.Ended = happened(e)
		}
	default:
		r.Ended, r.Result = happened(e), results[phase]
		if phase == devlog.Failed {
			r.Error = plainly(cmp.Or(said.Error, said.Message))
		}
	}
}

// results are those of the phases that end a reconcile.
var results = map[devlog.Phase]Result{devlog.Succeeded: Succeeded, devlog.Failed: Failed, devlog.Requeued: RequeuedSoon, devlog.RequeuedAfter: RequeuedAfter}
