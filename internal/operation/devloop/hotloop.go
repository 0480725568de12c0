package devloop

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/report"
)

// A hot loop is a manager that changes one object twenty times within two seconds, or writes it a hundred times.
// Controllers that do what their objects ask for come to rest after a few changes, and those that measure something do
// it every few seconds. Writes that change nothing call no controller, and may be one for each of many other objects.
const (
	hotWindow  = 2 * time.Second
	hotChanges = 20
	hotWrites  = 100
)

// mostStreaks bounds the objects that are counted at a time.
const mostStreaks = 1000

// uncounted are resources that are written often by their nature: reports, and locks that are renewed.
var uncounted = []string{"events", "leases"}

// writes counts what a manager writes to each object.
type writes map[written]*streak

// written is an object that a manager writes.
type written struct{ group, resource, namespace, name string }

// streak are the writes to an object within one window.
type streak struct {
	began          time.Time
	count, changed int
	version        string // after the last write
	shown          bool   // since the object was at rest
}

// add counts a request. It returns a finding when the request shows that the manager is in a hot loop, once until the
// object has been at rest.
func (w writes) add(r dev.Request, now time.Time) (f report.Finding, hot bool) {
	if r.Status/100 != 2 || !slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb) || r.Name == "" || slices.Contains(uncounted, r.Resource) {
		return f, false
	}
	object := written{r.Group, r.Resource, r.Namespace, r.Name}
	s := w[object]
	if s == nil {
		w.forget(now)
		if len(w) >= mostStreaks {
			return f, false
		}
		s = &streak{began: now}
		w[object] = s
	}
	if now.Sub(s.began) > hotWindow {
		*s = streak{began: now, version: s.version, shown: s.shown && s.isHot()}
	}
	s.count++
	if r.ResourceVersion != s.version {
		s.changed++
	}
	s.version = r.ResourceVersion
	if !s.isHot() || s.shown {
		return f, false
	}
	s.shown = true
	return s.finding(object, now), true
}

func (s *streak) isHot() bool { return s.changed >= hotChanges || s.count >= hotWrites }

// forget leaves out objects that are at rest.
func (w writes) forget(now time.Time) {
	for object, s := range w {
		if now.Sub(s.began) > 2*hotWindow {
			delete(w, object)
		}
	}
}

// finding says that the manager is in a hot loop, and how it gets out of it.
func (s *streak) finding(o written, now time.Time) report.Finding {
	name := permission{group: o.group, resource: o.resource}
	f := report.Finding{
		Rule:       report.RuleHotLoop,
		Message:    fmt.Sprintf("hot loop: the manager has written %s %s %d times within %s", named(name), namespaced(o), s.count, now.Sub(s.began).Round(time.Millisecond)),
		Suggestion: "write only what differs from what is there",
	}
	if s.changed >= hotChanges {
		f.Message += ", each time with another content, by which its controller is called again"
		f.Suggestion = "write only what follows from the spec, such as no time and no counter, or have the controller ignore its own writes: builder.WithPredicates(predicate.GenerationChangedPredicate{})"
	}
	return f
}

// namespaced is an object's name with its namespace.
func namespaced(o written) string {
	if o.namespace == "" {
		return o.name
	}
	return o.namespace + "/" + o.name
}
