package engine

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

// TestStoppingIsToldBackwards: what began last is told first to be about to stop; what has ended is not.
func TestStoppingIsToldBackwards(t *testing.T) {
	var told []string
	c := &components{tell: func(component string, state protocol.State) { told = append(told, component+" "+string(state)) }}
	for _, name := range []string{"a", "b", "c"} {
		c.set(name, protocol.StateStarting)
	}
	c.set("a", protocol.StateReady)
	c.set("b", protocol.StateStopped)
	told = nil
	c.stopping()
	if want := []string{"c " + string(protocol.StateStopping), "a " + string(protocol.StateStopping)}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	(&components{}).set("nobody listens", protocol.StateStarting)
}

// TestEndOfAComponent: before the cluster's end it is a failure, which names the component; after that it is what was
// wanted.
func TestEndOfAComponent(t *testing.T) {
	problem := errors.New("out of luck")
	for name, tt := range map[string]struct {
		err     error
		stopped bool
		want    string // what failed; empty for nothing
	}{
		"with an error": {problem, false, "scheduler: out of luck"}, "without one": {nil, false, "scheduler: ended by itself"},
		"stopped": {nil, true, ""}, "stopped, with an error": {problem, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ended := false
			h := &Host{failed: make(chan error, 1)}
			c := &Cluster{fail: h.fail, components: &components{tell: func(_ string, s protocol.State) { ended = s == protocol.StateStopped }}}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c.run(ctx, protocol.Scheduler, func(context.Context) error {
				if tt.stopped {
					stop()
				}
				return tt.err
			})
			h.fail(errors.New("a consequence")) // the first counts
			err := <-h.Failed()
			if tt.want == "" {
				if !ended || err.Error() != "a consequence" {
					t.Errorf("ended %v; failed: %v", ended, err)
				}
				return
			}
			if e, ok := errors.AsType[*protocol.ComponentError](err); !ok || e.Component != protocol.Scheduler || err.Error() != tt.want || ended {
				t.Errorf("failed: %v, want %q", err, tt.want)
			}
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("the cause of %v is lost", err)
			}
		})
	}
}

// TestFailureOfALogicalCluster keeps the component and says in which cluster that is.
func TestFailureOfALogicalCluster(t *testing.T) {
	cause := errors.New("why")
	err := inLogical("blue", &protocol.ComponentError{Component: protocol.Scheduler, Err: cause})
	if e, ok := errors.AsType[*protocol.ComponentError](err); !ok || e.Component != protocol.Scheduler || e.Err.Error() != "logical cluster blue: why" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if err := inLogical("blue", cause); !errors.Is(err, cause) || err.Error() != "why" {
		t.Errorf("what is no component's: %v", err)
	}
}

// TestDialWaitsForTheStore: who connects early waits until the store has what its clients expect, or until he gives up.
func TestDialWaitsForTheStore(t *testing.T) {
	store, err := etcd.Start(t.Context(), etcd.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Stop()
	c := newComing()
	cause := errors.New("the test's reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := c.Dial(ctx, "tcp", "etcd"); !errors.Is(err, cause) {
		t.Errorf("before the store is there: %v", err)
	}
	dialled := make(chan error, 1)
	go func() {
		conn, err := c.Dial(t.Context(), "tcp", "etcd")
		if err == nil {
			err = conn.Close()
		}
		dialled <- err
	}()
	select {
	case err := <-dialled:
		t.Errorf("before the store is there: %v", err)
	default:
	}
	c.come(store)
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

// endedGround is a machine that is over when the channel is closed.
type endedGround struct {
	ground
	ended chan struct{}
}

func (g endedGround) Ended() <-chan struct{} { return g.ended }

func (endedGround) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	return nil, errors.New("dialled " + network + " " + address)
}

// TestReach: the way into the network of real nodes is there while their machine runs, and leads to their addresses
// alone.
func TestReach(t *testing.T) {
	r := &reach{}
	dial := func() string {
		_, err := r.DialContext(t.Context(), "tcp", "10.128.0.7:80")
		return err.Error()
	}
	const none = "connect to 10.128.0.7:80: there are no real nodes"
	if got := dial(); got != none || r.Has(netip.MustParseAddr("10.128.0.7")) {
		t.Errorf("before there is one: %s", got)
	}
	machine := endedGround{ended: make(chan struct{})}
	r.set(machine)
	r.lead([]netip.Prefix{netip.MustParsePrefix("10.128.0.0/24")})
	if got := dial(); got != "dialled tcp 10.128.0.7:80" {
		t.Error(got)
	}
	for ip, want := range map[string]bool{"10.128.0.7": true, "10.128.1.7": false} {
		if r.Has(netip.MustParseAddr(ip)) != want {
			t.Errorf("%s: want %v", ip, want)
		}
	}
	close(machine.ended)
	if got := dial(); got != none {
		t.Errorf("after its end: %s", got)
	}
}

var (
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	podsV1  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func changed(r schema.GroupVersionResource, name string, revision int64) rollback.Changed {
	return rollback.Changed{Object: baseline.Object{Resource: r, Namespace: "ns", Name: name}, Revision: revision}
}

// TestLatest: of each resource that can be listed the last revision counts.
func TestLatest(t *testing.T) {
	c := &changes{
		Removed:  []rollback.Changed{changed(podsV1, "a", 3), changed(widgets, "a", 9), changed(schema.GroupVersionResource{}, "unknown", 10)},
		Restored: []rollback.Changed{changed(podsV1, "b", 7), changed(widgets, "b", 5)},
	}
	if got, want := c.latest(), map[schema.GroupVersionResource]int64{podsV1: 7, widgets: 9}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDefinitions: a resource whose CRD is made anew and restored comes back, and does not go.
func TestDefinitions(t *testing.T) {
	gadgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	crd := func(established bool, defines ...schema.GroupVersionResource) rollback.Changed {
		return rollback.Changed{Object: baseline.Object{Established: established, Defines: defines}}
	}
	c := &changes{
		Removed:  []rollback.Changed{crd(true, widgets), crd(true, gadgets)},
		Restored: []rollback.Changed{crd(true, widgets), crd(false, podsV1)},
	}
	back, gone := c.definitions()
	if len(back) != 1 || len(gone) != 1 {
		t.Fatalf("back %v, gone %v", back, gone)
	}
	if _, ok := back[widgets]; !ok {
		t.Errorf("back are %v", back)
	}
	if _, ok := gone[gadgets]; !ok {
		t.Errorf("gone are %v", gone)
	}
}

// holding is an informer's store with an object of each of these revisions.
func holding(t *testing.T, name, revision string) cache.Store {
	t.Helper()
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if revision == "" {
		return store
	}
	if err := store.Add(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: revision}}); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestWhatInformersKnow: who follows a resource must know what was restored, and not what was removed, though perhaps
// what was made anew since.
func TestWhatInformersKnow(t *testing.T) {
	for _, tt := range []struct {
		name             string
		resource         schema.GroupVersionResource
		held             []string // by each informer; empty for nothing
		forgotten, known bool
	}{
		{"all know it as it is", widgets, []string{"5", "5"}, true, true},
		{"one is behind", widgets, []string{"5", "4"}, false, false},
		{"one does not know it", widgets, []string{"5", ""}, true, false},
		{"somebody has changed it since", widgets, []string{"6"}, true, true},
		{"nobody follows it", widgets, nil, true, true},
		{"a pod that not all follow", podsV1, []string{"5", ""}, true, true},
		{"a pod of which one is behind", podsV1, []string{"4", ""}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stores := informed.Stores{}
			for _, revision := range tt.held {
				stores.Add(tt.resource.GroupResource(), holding(t, "a", revision))
			}
			o := changed(tt.resource, "a", 5)
			if got := forgotten(stores, o); got != tt.forgotten {
				t.Errorf("forgotten: %v", got)
			}
			if got := known(stores, o); got != tt.known {
				t.Errorf("known: %v", got)
			}
		})
	}
}

// TestKnowledge: the views of all parts are put together each time, for informers come and go.
func TestKnowledge(t *testing.T) {
	c := &Cluster{}
	c.see(func() informed.Stores { return informed.Stores{widgets.GroupResource(): {holding(t, "a", "1")}} })
	c.see(func() informed.Stores { return informed.Stores{widgets.GroupResource(): {holding(t, "a", "2")}} })
	if got := c.knowledge().Revisions(widgets.GroupResource(), "ns", "a"); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("revisions %v", got)
	}
}

// TestPathsOfResources: the core group has a path of its own.
func TestPathsOfResources(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{admin: client.CoreV1().RESTClient().(*rest.RESTClient)}
	for r, want := range map[schema.GroupVersionResource]string{podsV1: "/api/v1/pods", widgets: "/apis/example.com/v1/widgets"} {
		if got := c.list(r).URL(); got.Path != want || got.RawQuery != "limit=1" {
			t.Errorf("%v: %v", r, got)
		}
	}
}

// TestOfNode: what belongs to a node that has joined is its own, its kubelet's, and the Service for names; not what
// resembles it.
func TestOfNode(t *testing.T) {
	names := netip.MustParseAddr("10.0.0.10")
	for key, want := range map[string]bool{
		"/minions/real-1": true, "/leases/kube-node-lease/real-1": true, "/csinodes/real-1": true,
		"/services/specs/kube-system/kube-dns": true, "/services/endpoints/kube-system/kube-dns": true, "/ipaddresses/10.0.0.10": true,
		"/endpointslices/kube-system/kube-dns-x1": true,
		"/minions/real-10":                        false, "/leases/kube-system/real-1": false, "/ipaddresses/10.0.0.1": false, "/services/specs/default/kube-dns": false,
		"/endpointslices/default/kube-dns-x1": false, "/endpointslices/kube-system/kube-dnsmasq": false,
	} {
		if got := ofNode(key, "real-1", names); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}

// TestNamesOfLogicalClusters: a name is a DNS label, is taken by one that is being made or removed, and is not
// available once the host stops.
func TestNamesOfLogicalClusters(t *testing.T) {
	h := &Host{options: Options{Dir: t.TempDir()}, logical: map[string]*logical{}, failed: make(chan error, 1)}
	if _, err := h.Cluster("red"); !errors.Is(err, ErrUnknown) || err.Error() != `no such logical cluster: "red"; there are none` {
		t.Errorf("one that does not exist: %v", err)
	}
	l, err := h.enter(Spec{Name: "blue"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"": ErrName, "A": ErrName, "a.b": ErrName, "../x": ErrName, "blue": ErrExists} {
		if _, err := h.enter(Spec{Name: name}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	if _, err := h.Cluster("blue"); !errors.Is(err, ErrUnknown) || len(h.Logical()) != 0 {
		t.Errorf("one that is still being made: %v", err)
	}
	if err := h.Remove("blue"); !errors.Is(err, ErrUnknown) {
		t.Errorf("the removal of one that is still being made: %v", err)
	}
	l.ready = true
	if c, err := h.Cluster("blue"); err != nil || c != l.Cluster {
		t.Errorf("one that is ready: %v", err)
	}
	if _, err := h.Cluster("red"); err == nil || err.Error() != `no such logical cluster: "red"; there are: blue` {
		t.Errorf("another one: %v", err)
	}
	if err := h.RemoveThis(&Cluster{spec: Spec{Name: "blue"}}); !errors.Is(err, ErrUnknown) || len(h.Logical()) != 1 {
		t.Errorf("the removal of a former one of its name: %v", err)
	}
	l.fail(&protocol.ComponentError{Component: protocol.Nodes, Err: errors.New("why")})
	if err := <-h.Failed(); err.Error() != "nodes: logical cluster blue: why" {
		t.Errorf("its failure is the host's: %v", err)
	}
	h.close()
	if _, err := h.enter(Spec{Name: "green"}); !errors.Is(err, ErrStopped) {
		t.Errorf("once the host stops: %v", err)
	}
}
