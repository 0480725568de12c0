// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	fleetv1 "example.com/fleet/api/fleet/v1"
	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
)

// many is how many instances come at once, and attempts how many writes each may cost: its status.
const (
	many     = 200
	attempts = 1
)

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
	s.account.FewWrites(t, many, attempts)
	f.waitForCount(c, many)
	o.stop()
	s.account.Restarted(t, func() {
		next := f.start()
		f.waitUntilEngaged(next, c)
		for _, i := range instances {
			if err := next.passOver(c, i)(t.Context()); err != nil {
				t.Error(err)
			}
		}
		next.stop()
	})
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

// scaleInstances is how many instances each member of TestScale has.
const scaleInstances = 50

var (
	scaleMembers = flag.Int("members", 24, "how many members TestScale has")
	figuresFile  = flag.String("figures", "", "the `file` into which TestScale writes its figures")
)

// figures are what TestScale measures. The benchmarks of the repository read them.
type figures struct {
	Members, Instances                  int
	Goroutines                          int   // for each member
	Memory                              int64 // heap and stacks for each, in bytes
	Alone, Created, Engaged, Registered time.Duration
	GoroutinesLeft                      int
	MemoryLeft                          int64 // of all
	Cluster                             int64 // resident memory of a member itself, in bytes; 0 where that is not known
}

// What a member costs: goroutines, memory and the time until it is engaged, for many members at once. Figures are in
// the README.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	empty := clusterMemory(t)
	sites := make([]*site, *scaleMembers)
	for n := range sites {
		sites[n] = newSite(t)
		fill(t, sites[n], scaleInstances)
	}
	f.timing.Probe, f.timing.Timeout = 30*time.Second, 10*time.Second // as in cmd/main.go
	o := f.start()
	f.waitFor(f.join("none", []byte("none")), fleetv1.ReasonKubeconfigInvalid) // the operator runs
	seen := figures{Members: len(sites), Instances: scaleInstances}
	began := time.Now()
	alone := f.joinDirectly("alone", sites[0])
	seen.Alone = f.waitForAll(o, []*fleetv1.Cluster{alone}, began)[0]
	f.delete(alone)
	f.waitForNothing(alone, sites[0].gate, goroutines(t, nil))
	before := measure(t)

	members := f.joinAll(o, sites, &seen)
	during := measure(t)
	seen.Goroutines, seen.Memory = goroutines(t, members[0]), (during.bytes-before.bytes)/int64(len(sites))
	seen.Cluster = (clusterMemory(t) - empty) / int64(len(sites))
	f.delete(asObjects(members)...)
	for n, c := range members {
		f.waitForNothing(c, sites[n].gate, before.goroutines)
	}
	after := measure(t)
	seen.GoroutinesLeft, seen.MemoryLeft = after.goroutines-before.goroutines, after.bytes-before.bytes
	seen.publish(t)
	if seen.Goroutines > 40 || seen.GoroutinesLeft > 0 || seen.MemoryLeft > (during.bytes-before.bytes)/4 {
		t.Errorf("the cost of a member is too much, or stays: %+v", seen)
	}
}

// joinAll makes a Cluster for each site, and waits until all instances are registered.
func (f *fixture) joinAll(o operator, sites []*site, seen *figures) []*fleetv1.Cluster {
	f.Helper()
	began := time.Now()
	members := make([]*fleetv1.Cluster, len(sites))
	for n, s := range sites {
		members[n] = f.joinDirectly(fmt.Sprintf("member-%d", n), s)
	}
	seen.Created = time.Since(began)
	seen.Engaged = slices.Max(f.waitForAll(o, members, began))
	for n, c := range members {
		f.waitForInstance(sites[n].user, instance(fmt.Sprintf("many-%d", scaleInstances-1)), c, "")
	}
	seen.Registered = time.Since(began)
	return members
}

// publish logs the figures, and writes them into the file that was asked for.
func (s figures) publish(t *testing.T) {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
	if *figuresFile == "" {
		return
	}
	if err := os.WriteFile(*figuresFile, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// clusterMemory is the resident memory of the programs that this process has started: that of the members. It is known
// on Linux.
func clusterMemory(t *testing.T) (bytes int64) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(children)) {
			bytes += resident(pid)
		}
	}
	return bytes
}

// resident is a process' resident memory; 0 when it has ended.
func resident(pid string) int64 {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "statm"))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
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
