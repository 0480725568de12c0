package explain

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/slipway-dev/slipway/internal/protocol"
)

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

// filling is how long after a watch has begun what it is sent fills the cache.
const filling = 5 * time.Second

// cached are how many objects have come into the caches of a user, and not gone, by resource. Those with which a watch
// fills a cache do not count.
func (r *reconciles) cached(user string) map[string]int {
	counts, began, known := map[string]int{}, map[string]time.Time{}, map[string]bool{}
	for _, d := range r.deeds {
		if d.By == nil || d.Object == nil || d.By.User != user {
			continue
		}
		resource, at := resourceText(d.RecordEntry), happened(d.RecordEntry)
		object := resource + " " + d.Object.Namespace + "/" + d.Object.Name
		switch {
		case d.Kind == protocol.RecordRequest && d.By.Verb == "watch":
			began[resource] = at
		case d.Kind == protocol.RecordDelivery && d.Type == string(watch.Deleted):
			if known[object] {
				counts[resource]--
			}
			delete(known, object)
		case d.Kind == protocol.RecordDelivery && d.Type == string(watch.Added) && !known[object]:
			if known[object] = at.Sub(began[resource]) > filling; known[object] {
				counts[resource]++
			}
		}
	}
	return counts
}
