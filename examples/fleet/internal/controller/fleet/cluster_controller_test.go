// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "example.com/fleet/api/fleet/v1"
	"example.com/fleet/internal/controller/gpu"
)

// A member's life: its Secret comes late, its instances are registered, its labels change, its credentials are rotated,
// and it is deleted. Nothing of it is left in the operator then.
func TestLife(t *testing.T) {
	f := newFixture(t)
	s := newSite(t)
	o := f.start()
	c := f.cluster("life")
	f.create(c)
	f.waitFor(c, fleetv1.ReasonSecretMissing)
	f.wantEvent(c, fleetv1.ReasonSecretMissing)
	f.account.AtRest(t, o.pass(c))
	before := goroutines(t, nil)

	secret := f.secret("life", s.kubeconfig(t))
	i := instance("first")
	create(t, s.user, i)
	f.create(secret)
	f.waitFor(c, fleetv1.ReasonEngaged)
	f.waitForInstance(s.user, i, c, "")
	f.waitForCount(c, 1)
	f.wantEvent(c, fleetv1.ReasonEngaged)
	f.account.AtRest(t, o.pass(c))
	s.account.AtRest(t, o.passOver(c, i))

	c.Labels = map[string]string{gpu.RegionLabel: "north"}
	if err := f.user.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.waitForInstance(s.user, i, c, "north")
	second := instance("second")
	create(t, s.user, second)
	f.waitForInstance(s.user, second, c, "north")
	f.waitForCount(c, 2)

	gone := f.watchMemory(o, c)
	f.delete(c, secret)
	f.waitForNothing(c, s.gate, before)
	f.eventually("the member's memory is free", gone)
	hub.Cluster(t).WaitForEmpty(t, f.namespace)
	f.account.LeastPermissions(t)
	s.account.LeastPermissions(t)
}

// waitForCount waits until the status counts so many instances.
func (f *fixture) waitForCount(c *fleetv1.Cluster, n int64) {
	f.Helper()
	f.eventually(fmt.Sprint(c.Name, " has ", n), func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(c), c)
		return c.Status.Instances != nil && *c.Status.Instances == n, err
	})
}

// watchMemory returns what reports, after a collection, whether the memory of an engaged member was free to be used
// again. The client stands for all: the cluster, its cache and its controller lead to it.
func (f *fixture) watchMemory(o operator, c *fleetv1.Cluster) func() (bool, error) {
	f.Helper()
	cl, err := o.Fleet.Get(f.Context(), nameOf(client.ObjectKeyFromObject(c)))
	if err != nil {
		f.Fatal(err)
	}
	memory := weak.Make(cl.GetHTTPClient())
	return func() (bool, error) {
		runtime.GC()
		return memory.Value() == nil, nil
	}
}

// waitForNothing waits until nothing of a member runs, and no connection is open. There are no more goroutines than
// before it was engaged.
func (f *fixture) waitForNothing(c *fleetv1.Cluster, g *gate, before int) {
	f.Helper()
	n, all := 0, 0
	f.eventually(c.Name+" leaves nothing", func() (bool, error) {
		n, all = goroutines(f.T, c), goroutines(f.T, nil)
		return n == 0 && g.connections() == 0 && all <= before, nil
	})
}

// wantEvent waits for an event about a Cluster.
func (f *fixture) wantEvent(c *fleetv1.Cluster, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == c.UID
		}), err
	})
}

// Credentials that do not work are reported; others in the Secret take their place while the operator runs.
func TestRotation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := newSite(t)
	next := s.Account(t, "../../../config/member/role.yaml")
	f.start()
	bad := s.account.Config()
	bad.BearerToken = "wrong"
	c := f.join("rotated", kubeconfigOf(t, bad, s.gate))
	f.waitFor(c, fleetv1.ReasonUnauthorized)
	f.rotate(c, kubeconfigOf(t, s.Account(t).Config(), s.gate))
	f.waitFor(c, fleetv1.ReasonForbidden)

	f.rotate(c, s.kubeconfig(t))
	f.waitFor(c, fleetv1.ReasonEngaged)
	data := kubeconfigOf(t, next.Config(), s.gate)
	f.rotate(c, data)
	f.eventually("the new credentials are in use", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		return c.Status.KubeconfigHash == fmt.Sprintf("%x", sha256.Sum256(data)), err
	})
	i := instance("later")
	create(t, s.user, i)
	f.waitForInstance(s.user, i, c, "")
	if len(next.Requests(t)) == 0 {
		t.Error("the new account asked for nothing")
	}
	before := len(s.account.Requests(t))
	create(t, s.user, instance("latest"))
	f.waitForInstance(s.user, instance("latest"), c, "")
	if after := len(s.account.Requests(t)); after != before {
		t.Errorf("the old account asked %d times after the rotation", after-before)
	}

	f.rotate(c, []byte("no kubeconfig"))
	f.waitFor(c, fleetv1.ReasonKubeconfigInvalid)
	f.eventually("nothing runs without credentials", func() (bool, error) { return goroutines(t, c) == 0 && s.gate.connections() == 0, nil })
}

// Each write fails once, lost or unanswered, and the member is engaged all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := newSite(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(*testing.T) {
		n++
		c := f.join(fmt.Sprintf("interrupted-%d", n), s.kubeconfig(t))
		f.waitFor(c, fleetv1.ReasonEngaged)
		f.delete(c)
	})
}

// A new operator finds everything in order, and writes nothing: neither here nor in the members.
func TestRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := newSite(t)
	o := f.start()
	c := f.join("restart", s.kubeconfig(t))
	i := instance("kept")
	create(t, s.user, i)
	f.waitForInstance(s.user, i, c, "")
	f.waitForCount(c, 1)
	f.wantEvent(c, fleetv1.ReasonEngaged)
	o.stop()
	f.eventually("the stopped operator leaves nothing", func() (bool, error) { return goroutines(t, c) == 0 && s.gate.connections() == 0, nil })

	s.account.Restarted(t, func() {
		f.account.Restarted(t, func() {
			next := f.start()
			next.seen.WaitFor(t, client.ObjectKeyFromObject(c))
			f.waitUntilEngaged(next, c)
			if err := next.passOver(c, i)(t.Context()); err != nil {
				t.Error(err)
			}
			next.stop()
		})
	})
}

// waitUntilEngaged waits until an operator has engaged a member. The status does not tell: it stays while a new
// operator connects.
func (f *fixture) waitUntilEngaged(o operator, c *fleetv1.Cluster) {
	f.Helper()
	f.eventually(c.Name+" is engaged again", func() (bool, error) {
		_, err := o.Fleet.Get(f.Context(), nameOf(client.ObjectKeyFromObject(c)))
		return err == nil, nil
	})
}

// Two Clusters lead to one cluster: the instances stay with the first, and the second takes them over when the first
// has gone.
func TestSameClusterTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := newSite(t)
	o := f.start()
	first := f.join("first", s.kubeconfig(t))
	i := instance("one")
	create(t, s.user, i)
	f.waitForInstance(s.user, i, first, "")
	second := f.join("second", s.kubeconfig(t))
	f.waitFor(second, fleetv1.ReasonEngaged)
	s.account.AtRest(t, o.passOver(second, i))
	s.account.AtRest(t, o.passOver(first, i))

	f.delete(first)
	f.eventually("the first member has gone", func() (bool, error) { return goroutines(t, first) == 0, nil })
	if err := o.passOver(second, i)(t.Context()); err != nil {
		t.Error(err)
	}
	f.waitForInstance(s.user, i, second, "")
}
