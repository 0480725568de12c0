// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	fleetv1 "example.com/fleet/api/fleet/v1"
	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
)

// many is how many instances come at once.
const many = 200

// Many instances at once cost one write each, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	s := newSite(t)
	o := f.start()
	c := f.join("many", s.kubeconfig(t))
	f.waitFor(c, fleetv1.ReasonEngaged)
	instances := fill(t, s, many)
	for _, i := range instances {
		f.waitForInstance(s.user, i, c, "")
	}
	written, conflicts := 0, 0
	for _, q := range s.account.Requests(t) {
		if q.Writes() {
			written++
		}
		if q.Conflict() {
			conflicts++
		}
	}
	t.Logf("%d instances: %d writes, %d conflicts", many, written, conflicts)
	if written > many || conflicts > 0 {
		t.Errorf("%d instances cost %d writes with %d conflicts", many, written, conflicts)
	}
	f.waitForCount(c, many)
	o.stop()
	writes := s.account.Writes(t, func() {
		next := f.start()
		f.eventually("the member is engaged again", func() (bool, error) {
			_, err := next.Fleet.Get(t.Context(), nameOf(client.ObjectKeyFromObject(c)))
			return err == nil, nil
		})
		for _, i := range instances {
			if err := next.passOver(c, i)(t.Context()); err != nil {
				t.Error(err)
			}
		}
		next.stop()
	})
	if len(writes) > 0 {
		t.Errorf("a new operator wrote %d times, first: %s", len(writes), writes[0])
	}
}

// fill makes instances in a site.
func fill(t *testing.T, s *site, n int) []*gpuv1beta1.VGPUInstance {
	t.Helper()
	instances := make([]*gpuv1beta1.VGPUInstance, n)
	for k := range instances {
		instances[k] = instance(fmt.Sprintf("many-%d", k))
		create(t, s.user, instances[k])
	}
	return instances
}

// What a member costs: so many members, with so many instances each, come at once, and go at once.
const (
	scaleMembers   = 24
	scaleInstances = 50
)

func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	sites := make([]*site, scaleMembers)
	for n := range sites {
		sites[n] = newSite(t)
		fill(t, sites[n], scaleInstances)
	}
	f.timing.Probe, f.timing.Timeout = 30*time.Second, 10*time.Second // as in cmd/main.go
	o := f.start()
	f.waitFor(f.join("none", []byte("none")), fleetv1.ReasonKubeconfigInvalid) // the operator runs
	began := time.Now()
	alone := f.joinDirectly("alone", sites[0])
	t.Logf("one alone: engaged after %v", f.waitForAll(o, []*fleetv1.Cluster{alone}, began)[0])
	f.delete(alone)
	f.waitForNothing(alone, sites[0].gate, goroutines(t, nil))
	before := measure(t)

	began = time.Now()
	members := make([]*fleetv1.Cluster, scaleMembers)
	for n, s := range sites {
		members[n] = f.joinDirectly(fmt.Sprintf("member-%d", n), s)
	}
	joined := time.Since(began)
	times := f.waitForAll(o, members, began)
	for n, c := range members {
		f.waitForInstance(sites[n].user, instance(fmt.Sprintf("many-%d", scaleInstances-1)), c, "")
	}
	registered := time.Since(began)
	during, perMember := measure(t), goroutines(t, members[0])
	f.delete(asObjects(members)...)
	for n, c := range members {
		f.waitForNothing(c, sites[n].gate, before.goroutines)
	}
	after := measure(t)
	t.Logf("%d members at once, with %d instances each: created in %v, all engaged after %v, all instances registered after %v",
		scaleMembers, scaleInstances, joined, times[scaleMembers-1], registered)
	t.Logf("each: %d goroutines, %d KiB of heap and stacks", perMember, (during.bytes-before.bytes)/scaleMembers/1024)
	t.Logf("after all were deleted: %d goroutines and %d KiB in all more than before", after.goroutines-before.goroutines, (after.bytes-before.bytes)/1024)
	if perMember > 40 {
		t.Errorf("%d goroutines for a member", perMember)
	}
	if left := after.bytes - before.bytes; left > (during.bytes-before.bytes)/4 {
		t.Errorf("%d bytes are left of %d", left, during.bytes-before.bytes)
	}
}

// joinDirectly makes a Cluster for a site, around its gate, which would be measured with the operator.
func (f *fixture) joinDirectly(name string, s *site) *fleetv1.Cluster {
	f.Helper()
	server, err := url.Parse(s.account.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	return f.join(name, kubeconfigOf(f.T, s.account.Config(), &gate{address: server.Host}))
}

// waitForAll waits until all members are engaged, and returns when each was.
func (f *fixture) waitForAll(o operator, members []*fleetv1.Cluster, began time.Time) []time.Duration {
	f.Helper()
	times := map[multicluster.ClusterName]time.Duration{}
	f.eventually("all are engaged", func() (bool, error) {
		for _, c := range members {
			name := nameOf(client.ObjectKeyFromObject(c))
			if _, err := o.Fleet.Get(f.Context(), name); err == nil && times[name] == 0 {
				times[name] = time.Since(began)
			}
		}
		return len(times) == len(members), nil
	})
	return slices.Sorted(maps.Values(times))
}

// usage is what the process uses.
type usage struct {
	goroutines int
	bytes      int64
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC() // what the first has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{goroutines(t, nil), int64(m.HeapAlloc + m.StackInuse)}
}

func asObjects(clusters []*fleetv1.Cluster) []client.Object {
	objects := make([]client.Object, len(clusters))
	for n, c := range clusters {
		objects[n] = c
	}
	return objects
}
