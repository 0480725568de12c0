// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"
	"time"

	fleetv1 "example.com/fleet/api/fleet/v1"
)

// Of three members one is stopped, and started again. It is reported, costs one goroutine meanwhile, and comes back by
// itself. The others do not notice.
func TestOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	north, south, tower := newSite(t), newSite(t), newProgram(t)
	f.start()
	a, b, c := f.join("north", north.kubeconfig(t)), f.join("south", south.kubeconfig(t)), f.join("tower", tower.kubeconfig(t))
	f.waitFor(c, fleetv1.ReasonKindMissing)
	tower.install(t)
	f.waitFor(c, fleetv1.ReasonEngaged)
	since := []string{f.waitFor(a, fleetv1.ReasonEngaged).LastTransitionTime.String(), f.waitFor(b, fleetv1.ReasonEngaged).LastTransitionTime.String()}
	i := instance("early")
	create(t, tower.user, i)
	f.waitForInstance(tower.user, i, c, "")

	tower.stop()
	down := f.waitFor(c, fleetv1.ReasonUnreachable)
	if !strings.Contains(down.Message, "connection refused") || c.Status.Instances != nil {
		t.Errorf("%s, with %v instances", down.Message, c.Status.Instances)
	}
	// The member's own goroutine, and the five of an attempt to connect that may be under way.
	if n := goroutines(t, c); n > 6 {
		t.Errorf("%d goroutines work for a member that does not answer", n)
	}
	for s, cluster := range map[*site]*fleetv1.Cluster{north: a, south: b} {
		i := instance("meanwhile")
		create(t, s.user, i)
		f.waitForInstance(s.user, i, cluster, "")
	}

	tower.start(t)
	f.waitFor(c, fleetv1.ReasonEngaged)
	late := instance("late")
	create(t, tower.user, late)
	f.waitForInstance(tower.user, late, c, "")
	for n, cluster := range []*fleetv1.Cluster{a, b} {
		if now := f.waitFor(cluster, fleetv1.ReasonEngaged).LastTransitionTime.String(); now != since[n] {
			t.Errorf("%s was engaged since %s, now since %s", cluster.Name, since[n], now)
		}
	}
}

// A member falls silent: its connections stay open, and nothing comes. That is noticed, too, and does not hold up
// others.
func TestSilence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s, other := newSite(t), newSite(t)
	f.timing.Timeout = time.Second
	f.start()
	c := f.join("silent", s.kubeconfig(t))
	f.waitFor(c, fleetv1.ReasonEngaged)
	s.gate.silence(true)
	if ready := f.waitFor(c, fleetv1.ReasonUnreachable); !strings.Contains(ready.Message, "takes too long") {
		t.Errorf("the message is %q", ready.Message)
	}
	newcomer := f.join("newcomer", other.kubeconfig(t))
	f.waitFor(newcomer, fleetv1.ReasonEngaged)
	f.delete(newcomer)

	s.gate.silence(false)
	f.waitFor(c, fleetv1.ReasonEngaged)
	s.gate.stop()
	f.waitFor(c, fleetv1.ReasonUnreachable)
	f.delete(c)
	f.eventually("nothing is left of a member that was unreachable", func() (bool, error) {
		return goroutines(t, c) == 0 && s.gate.connections() == 0, nil
	})
}
