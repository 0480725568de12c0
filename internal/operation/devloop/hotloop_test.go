package devloop

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/dev"
)

// TestHotLoop: an object that is written again and again is named once, with what its writes do, and again only after
// it was at rest.
func TestHotLoop(t *testing.T) {
	update := dev.Request{Verb: "update", Group: "apps.example.com", Resource: "sites", Subresource: "status", Namespace: "default", Name: "blog", Status: 200}
	clock := time.Now()
	w := writes{}
	version := 0
	// write makes requests, one each step, and returns what is found.
	write := func(r dev.Request, times int, step time.Duration, changing bool) (found []string) {
		for range times {
			clock = clock.Add(step)
			if changing {
				version++
			}
			r.ResourceVersion = strconv.Itoa(version)
			if f, hot := w.add(r, clock); hot {
				found = append(found, f.Message+"; "+f.Suggestion)
			}
		}
		return found
	}
	found := write(update, 200, 15*time.Millisecond, true)
	if len(found) != 1 || !strings.Contains(found[0], "sites.apps.example.com default/blog 20 times within 285ms, each time with another content") {
		t.Errorf("a loop that changes the object: %q", found)
	}
	if found := write(update, 100, 200*time.Millisecond, true); found != nil {
		t.Errorf("five writes a second: %q", found)
	}
	if found := write(update, 300, 30*time.Millisecond, false); found != nil {
		t.Errorf("writes that change nothing: %q", found)
	}
	found = write(update, 200, 15*time.Millisecond, false)
	if len(found) != 1 || strings.Contains(found[0], "another content") || !strings.Contains(found[0], "write only what differs") {
		t.Errorf("a loop that changes nothing: %q", found)
	}
	for _, other := range []dev.Request{
		{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: "lock", Status: 200},
		{Verb: "patch", Resource: "events", Namespace: "default", Name: "blog.1", Status: 200},
		{Verb: "get", Resource: "configmaps", Namespace: "default", Name: "a", Status: 200},
		{Verb: "update", Resource: "configmaps", Namespace: "default", Name: "b", Status: 409},
	} {
		if found := write(other, 100, time.Millisecond, true); found != nil {
			t.Errorf("%s %s: %q", other.Verb, other.Resource, found)
		}
	}
}

// TestHotLoopOfMany: objects that are created one after the other are none, and are forgotten.
func TestHotLoopOfMany(t *testing.T) {
	w, clock := writes{}, time.Now()
	for i := range 5 * mostStreaks {
		clock = clock.Add(hotWindow / 100)
		r := dev.Request{Verb: "create", Resource: "pods", Namespace: "default", Name: strconv.Itoa(i), Status: 201, ResourceVersion: strconv.Itoa(i)}
		if f, hot := w.add(r, clock); hot {
			t.Fatal(f.Message)
		}
	}
	if len(w) > 250 {
		t.Errorf("%d objects are remembered", len(w))
	}
}
