package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// progress is what a host tells of its components, in order.
type progress struct {
	mu   sync.Mutex
	told []string
}

func (p *progress) tell(component string, state protocol.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, component+" "+string(state))
}

func (p *progress) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

// at is when a component came into a state, as a place in the order; -1 for never.
func (p *progress) at(component string, state protocol.State) int {
	return slices.Index(p.all(), component+" "+string(state))
}

func quiet(string) *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestHost follows one host through its life.
func TestHost(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	p := &progress{}
	dir := t.TempDir()
	h, err := Start(ctx, Options{
		Dir: dir, Logger: quiet, Progress: p.tell,
		Main: Spec{Name: "test", Controllers: true, Nodes: node.Default(), Real: &Real{Program: filepath.Join(dir, "no-program")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			h.Stop()
		}
	}()
	life := life{h, p, dir}
	t.Run("each component starts when it can have what it needs", life.started)
	t.Run("of two with one name one comes", life.logical)
	t.Run("resets lead back, one after the other", life.reset)
	t.Run("what was kept is what they lead back to", life.keep)
	t.Run("two real nodes join at once, without a program", life.join)
	t.Run("a component that ends by itself names itself", life.fails)
	if t.Failed() {
		return
	}
	stopped = true
	h.Stop()
	t.Run("the last one to start is told to stop first, and the store ends last", life.stopped)
}

// life is a host in this test.
type life struct {
	*Host
	progress *progress
	dir      string
}

func (l life) client(t *testing.T, c *Cluster) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (l life) started(t *testing.T) {
	before := func(a string, aState protocol.State, b string, bState protocol.State) {
		t.Helper()
		if first, second := l.progress.at(a, aState), l.progress.at(b, bState); first < 0 || second < 0 || first > second {
			t.Errorf("%s is %s after %s is %s: %q", a, aState, b, bState, l.progress.all())
		}
	}
	before(protocol.Etcd, protocol.StateReady, protocol.APIServer, protocol.StateReady)
	for _, worker := range []string{protocol.Controllers, protocol.Scheduler, protocol.Nodes} {
		before(protocol.APIServer, protocol.StateReady, worker, protocol.StateStarting)
		before(worker, protocol.StateStarting, worker, protocol.StateReady)
	}
	doing := l.Doing(t.Context())
	if got := doing[protocol.Nodes]; got != "1 simulated node" {
		t.Errorf("nodes: %q", got)
	}
	for _, component := range []string{protocol.APIServer, protocol.Etcd, protocol.Controllers} {
		if doing[component] == "" {
			t.Errorf("nothing is said of %s: %v", component, doing)
		}
	}
	if err := l.Main().Nodes().StopNode("simulated-1"); err != nil {
		t.Fatal(err)
	}
	if got := l.Doing(t.Context())[protocol.Nodes]; got != "0 of 1 simulated node; stopped: simulated-1" {
		t.Errorf("a lost node: %q", got)
	}
	if _, err := l.client(t, l.Main()).CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("a cluster that is ready is of no use: %v", err)
	}
}

func (l life) logical(t *testing.T) {
	const name = "blue"
	type result struct {
		*Cluster
		error
	}
	results := make(chan result, 2)
	for range 2 {
		go func() {
			c, err := l.Add(t.Context(), Spec{Name: name})
			results <- result{c, err}
		}()
	}
	var made []*Cluster
	for range 2 {
		switch r := <-results; {
		case r.error == nil:
			made = append(made, r.Cluster)
		case !errors.Is(r.error, ErrExists):
			t.Errorf("the other one: %v", r.error)
		}
	}
	if len(made) != 1 {
		t.Fatalf("%d clusters have the name", len(made))
	}
	if c, err := l.Cluster(name); err != nil || c != made[0] || len(l.Logical()) != 1 {
		t.Errorf("it is not listed: %v", err)
	}
	if made[0].Nodes() != nil {
		t.Error("a cluster without controllers has nodes")
	}
	if c, err := l.Cluster(""); err != nil || c != l.Main() {
		t.Errorf("the main one: %v", err)
	}
	if err := l.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Cluster(name); !errors.Is(err, ErrUnknown) {
		t.Errorf("after its removal: %v", err)
	}
	if err := l.Remove(name); !errors.Is(err, ErrUnknown) {
		t.Errorf("a second removal: %v", err)
	}
	if snapshot, err := l.Store().Read(t.Context(), logicalPrefix+"/"); err != nil || len(snapshot.Pairs) != 0 {
		t.Errorf("%d keys are left, %v", len(snapshot.Pairs), err)
	}
	if _, err := os.Stat(made[0].dir); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
}

// makeMap makes an object that a reset is to remove.
func (l life) makeMap(t *testing.T, name string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/stay"}}}
	if _, err := l.client(t, l.Main()).CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (l life) hasMap(t *testing.T, name string) bool {
	t.Helper()
	_, err := l.client(t, l.Main()).CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func (l life) reset(t *testing.T) {
	for i := range 3 {
		l.makeMap(t, fmt.Sprint("made-", i))
	}
	outcomes, errs := [2]Outcome{}, [2]error{}
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { outcomes[i], errs[i] = l.Main().Reset(t.Context()) })
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if removed := outcomes[0].Removed + outcomes[1].Removed; removed < 3 || outcomes[0].Kept {
		t.Errorf("outcomes %+v", outcomes)
	}
	if l.hasMap(t, "made-1") {
		t.Error("it is still there")
	}
	if lost := l.Main().Nodes().Lost(); len(lost) != 0 {
		t.Errorf("nodes that were stopped are not back: %q", lost)
	}
}

func (l life) keep(t *testing.T) {
	l.makeMap(t, "kept")
	objects, err := l.Main().Keep(t.Context())
	if err != nil || objects == 0 {
		t.Fatalf("%d objects, %v", objects, err)
	}
	l.makeMap(t, "later")
	if err := l.client(t, l.Main()).CoreV1().Namespaces().Delete(t.Context(), metav1.NamespaceDefault, metav1.DeleteOptions{}); err == nil {
		t.Error("the namespace default can be deleted")
	}
	outcome, err := l.Main().Reset(t.Context())
	if err != nil || !outcome.Kept {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if !l.hasMap(t, "kept") || l.hasMap(t, "later") {
		t.Errorf("kept: %v, later: %v", l.hasMap(t, "kept"), l.hasMap(t, "later"))
	}
}

// join: there is no program, so that neither comes; each is told why, and nothing of them is left.
func (l life) join(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if name, already, err := l.Main().Join(t.Context(), l.Main().spec.Real.Program); err == nil || name != "" || already {
				t.Errorf("%q has joined (%v, %v)", name, already, err)
			}
		})
	}
	both.Wait()
	if k := l.Main().Kinds(); k != (Kinds{Simulated: 1}) {
		t.Errorf("the nodes are %v", k)
	}
	if list, err := l.client(t, l.Main()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Errorf("%d nodes are registered, %v", len(list.Items), err)
	}
	if _, err := l.Main().Reset(t.Context()); err != nil {
		t.Errorf("a reset after that: %v", err)
	}
}

func (l life) fails(t *testing.T) {
	problem := errors.New("out of luck")
	l.Main().workers.Go(func() {
		l.Main().run(l.Main().workersLife, protocol.Scheduler, func(context.Context) error { return problem })
	})
	select {
	case err := <-l.Failed():
		if e, ok := errors.AsType[*protocol.ComponentError](err); !ok || e.Component != protocol.Scheduler || !errors.Is(err, problem) {
			t.Errorf("failed: %v", err)
		}
	case <-time.After(testlimit.Hang):
		t.Error("nothing is told")
	}
}

func (l life) stopped(t *testing.T) {
	var stopping, began []string
	for _, line := range l.progress.all() {
		switch component, state, _ := strings.Cut(line, " "); protocol.State(state) {
		case protocol.StateStopping:
			stopping = append(stopping, component)
		case protocol.StateStarting:
			began = append(began, component)
		}
	}
	slices.Reverse(began)
	if !slices.Equal(stopping, began) {
		t.Errorf("told to stop: %q, want %q", stopping, began)
	}
	if all := l.progress.all(); all[len(all)-1] != protocol.Etcd+" "+string(protocol.StateStopped) {
		t.Errorf("the last that is told is %q", all[len(all)-1])
	}
	for _, worker := range []string{protocol.Controllers, protocol.Nodes} {
		if l.progress.at(worker, protocol.StateStopped) < 0 {
			t.Errorf("%s has not ended: %q", worker, l.progress.all())
		}
	}
	if _, err := l.Add(t.Context(), Spec{Name: "late"}); !errors.Is(err, ErrStopped) {
		t.Errorf("a logical cluster after the end: %v", err)
	}
}

// TestStartFails: the error names the component that could not start and keeps why, and nothing is left that would
// hinder the next start.
func TestStartFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		name, component string
		prepare         func(t *testing.T, o *Options)
		is              error // may be nil
	}{
		{"port in use", protocol.APIServer, func(_ *testing.T, o *Options) { o.Main.Port = taken.Addr().(*net.TCPAddr).Port }, syscall.EADDRINUSE},
		{"a file where the keys are to be", protocol.APIServer, func(t *testing.T, o *Options) {
			o.Durable = true
			write(t, filepath.Join(o.Dir, "pki"), "")
		}, syscall.ENOTDIR},
		{"a flag that the server does not know", protocol.APIServer, func(_ *testing.T, o *Options) { o.Main.APIServerFlags = []string{"--no-such-flag"} }, nil},
		{"real nodes without their program", protocol.Nodes, func(_ *testing.T, o *Options) {
			o.Main.Controllers, o.Main.RealNodes, o.Main.Real = true, node.Default(), &Real{Program: filepath.Join(o.Dir, "none", "slipway-node")}
		}, os.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
			defer cancel()
			o := Options{Dir: t.TempDir(), Logger: quiet, Main: Spec{Name: "test"}}
			tt.prepare(t, &o)
			for range 2 { // the second start meets what the first has left
				h, err := Start(ctx, o)
				if err == nil {
					h.Stop()
					t.Fatal("it starts")
				}
				if e, ok := errors.AsType[*protocol.ComponentError](err); !ok || e.Component != tt.component || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("error %v, want one of %s that is %v", err, tt.component, tt.is)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// child is a folder in the environment of a process that runs one test of these for another.
const child = "SLIPWAY_TEST_CHILD"

// inChild has the test run in a process of its own, and returns the folder that is for it if this is that one. An API
// server whose start is given up cannot be stopped: what is left of it would still write files, and end the process of
// the other tests when it gives up itself.
func inChild(t *testing.T) (dir string, is bool) {
	t.Helper()
	if dir := os.Getenv(child); dir != "" {
		return dir, true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	again.Env = append(os.Environ(), child+"="+t.TempDir())
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return "", false
}

// TestStoreFailsToStart: the API server, which starts at the same time, is not waited for.
func TestStoreFailsToStart(t *testing.T) {
	dir, is := inChild(t)
	if !is {
		return
	}
	o := Options{Dir: dir, Durable: true, Logger: quiet, Main: Spec{Name: "test"}}
	write(t, filepath.Join(o.Dir, "etcd"), "") // where its folder is to be
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	_, err := Start(ctx, o)
	if e, ok := errors.AsType[*protocol.ComponentError](err); !ok || e.Component != protocol.Etcd {
		t.Errorf("error %v, want one of etcd", err)
	}
	if ctx.Err() != nil {
		t.Error("it was waited for")
	}
}

// TestStopDuringStart: a start whose context ends gives up with the reason, and its folder is free for the next one.
func TestStopDuringStart(t *testing.T) {
	dir, is := inChild(t)
	if !is {
		return
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the test's reason")
	o := Options{Dir: dir, Durable: true, Logger: quiet, Main: Spec{Name: "test"}}
	o.Progress = func(component string, state protocol.State) {
		if component == protocol.Etcd && state == protocol.StateReady {
			cancel(cause)
		}
	}
	if h, err := Start(ctx, o); !errors.Is(err, cause) {
		if err == nil {
			h.Stop()
		}
		t.Fatalf("%v, want %v", err, cause)
	}
	o.Progress = nil
	again, limit := context.WithTimeout(t.Context(), testlimit.Hang)
	defer limit()
	h, err := Start(again, o)
	if err != nil {
		t.Fatalf("the next start: %v", err)
	}
	h.Stop()
}
