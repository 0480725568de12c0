package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// traceOf is the ID of the trace in a header traceparent: https://www.w3.org/TR/trace-context/#traceparent-header.
func traceOf(parent string) string {
	if parts := strings.Split(parent, "-"); len(parts) >= 4 {
		return parts[1]
	}
	return ""
}

// requested gives requests to the reconciles that were found.
func (r *reconciles) requested() {
	r.byUser = map[string][]*reconcile{}
	for _, one := range r.all {
		r.byUser[one.User] = append(r.byUser[one.User], one)
	}
	for i, d := range r.deeds {
		if d.Kind != protocol.RecordRequest || d.By == nil {
			continue
		}
		if one, exact := r.of(d.RecordEntry); one != nil {
			r.add(i, one, !exact)
		}
	}
}

// of is the reconcile to which a request or its effect belongs: the one that names its trace, else the one that ran at
// its time and, of several, has its object; nil if none is certain. It is exact if no other one names the trace.
func (r *reconciles) of(e protocol.RecordEntry) (found *reconcile, exact bool) {
	trace := traceOf(e.By.Trace)
	candidates := slices.Clone(r.byUser[e.By.User])
	if trace != "" {
		traced := slices.DeleteFunc(slices.Clone(candidates), func(one *reconcile) bool { return one.trace != trace })
		if len(traced) == 1 {
			return traced[0], true
		}
		candidates = slices.DeleteFunc(candidates, func(one *reconcile) bool { return one.trace != trace && (one.trace != "" || len(traced) > 0) })
	}
	if isAside(e) {
		return nil, false
	}
	began := happened(e)
	ended := began.Add(time.Duration(e.LatencyMs * float64(time.Millisecond)))
	for _, loosely := range []bool{false, true} { // times are those at which lines came
		ran := slices.DeleteFunc(slices.Clone(candidates), func(one *reconcile) bool { return !one.during(began, ended, loosely) })
		if len(ran) > 1 {
			ran = slices.DeleteFunc(ran, func(one *reconcile) bool { return !one.about(e.Object) })
		}
		if len(ran) > 1 {
			slices.SortFunc(ran, func(a, b *reconcile) int { return cmp.Compare(b.shared(began, ended), a.shared(began, ended)) })
			if ran[0].shared(began, ended) > max(0, ran[1].shared(began, ended)) {
				ran = ran[:1]
			}
		}
		if len(ran) == 1 {
			return ran[0], false
		}
	}
	return nil, false
}

// aside are resources that managers ask for beside their reconciles: leases of leaders, Events, which are sent later,
// and the rights of who asks for metrics.
var aside = map[string]bool{"leases.coordination.k8s.io": true, "events": true, "events.events.k8s.io": true, "tokenreviews.authentication.k8s.io": true, "subjectaccessreviews.authorization.k8s.io": true}

// isAside reports whether a request is no reconcile's unless its trace says so.
func isAside(e protocol.RecordEntry) bool {
	o := e.Object
	return o == nil || e.By.Verb == "watch" || aside[strings.TrimSuffix(o.Resource+"."+o.Group, ".")]
}

// bursts makes reconciles of the requests of operators whose log names none: of those that follow each other closely.
func (r *reconciles) bursts() {
	named, last := map[string]bool{}, map[string]*reconcile{}
	for _, one := range r.all {
		named[one.User] = true
	}
	for i, d := range r.deeds {
		if d.Kind != protocol.RecordRequest || d.By == nil || d.By.Door == "" || named[d.By.User] || isAside(d.RecordEntry) {
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
		if d.By == nil || d.Object == nil || d.Reconcile != "" || d.Kind != protocol.RecordWrite && d.Kind != protocol.RecordRefusal {
			continue
		}
		number := d.Revision
		if d.Kind == protocol.RecordRefusal {
			number = int64(d.Status)
		}
		request, is := of[key(d, number)]
		if is && (d.Kind != protocol.RecordRefusal || d.At.Sub(r.deeds[request].At).Abs() < wakes) {
			r.add(i, byID[r.deeds[request].Reconcile], r.deeds[request].Inferred)
			r.deeds[i].Logged = r.deeds[request].Logged // it was recorded later
		} else if one, exact := r.of(d.RecordEntry); one != nil { // its request is not among the entries
			r.add(i, one, !exact)
		}
	}
}
