//go:build unix

package clusterctl_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// dock is a place for clusters of one test.
type dock struct {
	*clusterctl.Control
	t     *testing.T
	state string
	kube  string
	log   *events
	env   map[string]string
}

// events remembers what was told.
type events struct {
	mu   sync.Mutex
	all  []report.Event
	seen func(report.Event)
}

func (l *events) Handle(e report.Event) {
	l.mu.Lock()
	l.all = append(l.all, e)
	l.mu.Unlock()
	if l.seen != nil {
		l.seen(e)
	}
}

// brief is how long a program is waited for that cannot stop or answer.
const brief = 300 * time.Millisecond

// newDock makes a place whose clusters run the peer with the fault called mode.
func newDock(t *testing.T, mode string) *dock {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &dock{t: t, state: filepath.Join(t.TempDir(), "s"), kube: filepath.Join(t.TempDir(), "config"), log: &events{}}
	t.Setenv(peerMode, mode)
	source, err := filepath.Abs(filepath.Join("..", "..")) // a test that is compiled with -trimpath does not know it
	if err != nil {
		t.Fatal(err)
	}
	d.env = map[string]string{"SLIPWAY_SOURCE": source, "SLIPWAY_CLUSTER": own, "SLIPWAY_STATE": d.state, "KUBECONFIG": d.kube, "SLIPWAY_CACHE": t.TempDir()}
	d.Control = clusterctl.New(func(key string) string { return d.env[key] }, d.log)
	d.Hurry(time.Hour, time.Hour)
	t.Cleanup(func() { d.end() })
	return d
}

// end leaves nothing running, whatever a test did.
func (d *dock) end() {
	all, err := d.List(context.Background())
	if err != nil {
		d.t.Error(err)
	}
	for _, s := range all {
		if _, err := d.Stop(context.Background(), s.Name); err != nil {
			d.t.Error(err)
		}
	}
}

func (d *dock) start(o clusterctl.Options) *clusterctl.Status {
	d.t.Helper()
	return d.startNamed("", o)
}

func (d *dock) startNamed(name string, o clusterctl.Options) *clusterctl.Status {
	d.t.Helper()
	o.Timeout = cmp.Or(o.Timeout, testlimit.Hang)
	s, err := d.Start(d.t.Context(), name, o)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *dock) want(name string, state clusterctl.State) *clusterctl.Status {
	d.t.Helper()
	s, err := d.Status(d.t.Context(), name)
	if err != nil {
		d.t.Fatal(err)
	}
	if s.State != state {
		d.t.Fatalf("cluster %s is %s, want %s", name, s.State, state)
	}
	return s
}

// currentContext is what kubectl would use.
func (d *dock) currentContext() string {
	d.t.Helper()
	config, err := clientcmd.LoadFromFile(d.kube)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return config.CurrentContext
}

// userError returns the report.Error in err's chain.
func userError(t *testing.T, err error) *report.Error {
	t.Helper()
	e, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("not an error for users: %v", err)
	}
	return e
}

// gone waits until the process is no more; the test's end is the limit.
func gone(t *testing.T, pid int) {
	t.Helper()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-t.Context().Done():
			t.Fatalf("process %d still runs", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestLife(t *testing.T) {
	d := newDock(t, sound)
	d.want("", clusterctl.Stopped)
	s := d.start(clusterctl.Options{})
	if s.State != clusterctl.Running || s.Already || s.Server == "" || s.Context != "slipway-default" {
		t.Errorf("started: %+v", s)
	}
	if got := d.currentContext(); got != "slipway-default" {
		t.Errorf("current context %q", got)
	}
	again := d.start(clusterctl.Options{})
	if !again.Already || again.PID != s.PID {
		t.Errorf("second start: %+v", again)
	}
	path, text, err := d.Kubeconfig(t.Context(), "")
	if err != nil || string(text) != peerKubeconfig || filepath.Dir(path) != filepath.Join(d.state, "clusters", "default") {
		t.Errorf("kubeconfig at %s: %v\n%s", path, err, text)
	}
	stopped, err := d.Stop(t.Context(), "")
	if err != nil || stopped.Already {
		t.Errorf("stop: %+v, %v", stopped, err)
	}
	gone(t, s.PID)
	d.want("", clusterctl.Stopped)
	if got := d.currentContext(); got != "" {
		t.Errorf("current context %q after stop", got)
	}
	if again, err := d.Stop(t.Context(), ""); err != nil || !again.Already {
		t.Errorf("second stop: %+v, %v", again, err)
	}
}

func TestStateIsPrivate(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{})
	dir := filepath.Join(d.state, "clusters", "default")
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", dir, info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().IsRegular() && f.Name() != "lock" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(d.kube); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("user's kubeconfig: %v, %v", info.Mode(), err)
	}
}

func TestSeveralClusters(t *testing.T) {
	d := newDock(t, sound)
	d.startNamed("a", clusterctl.Options{})
	d.startNamed("b", clusterctl.Options{})
	all, err := d.List(t.Context())
	if err != nil || len(all) != 2 || all[0].PID == all[1].PID {
		t.Fatalf("list: %+v, %v", all, err)
	}
	if _, err := d.Stop(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if got := d.currentContext(); got != "slipway-a" {
		t.Errorf("current context %q", got)
	}
	d.want("a", clusterctl.Running)
}

func TestTwoStartsAtOnce(t *testing.T) {
	d := newDock(t, sound)
	var wg sync.WaitGroup
	statuses := make([]*clusterctl.Status, 4)
	for i := range statuses {
		wg.Go(func() {
			s, err := d.Start(t.Context(), "", clusterctl.Options{})
			if err != nil {
				t.Error(err)
			}
			statuses[i] = s
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	created := 0
	for _, s := range statuses {
		if !s.Already {
			created++
		}
		if s.PID != statuses[0].PID {
			t.Errorf("processes %d and %d", s.PID, statuses[0].PID)
		}
	}
	if created != 1 {
		t.Errorf("%d of the starts created the cluster", created)
	}
}

func TestKilled(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	dead := d.want("", clusterctl.Died)
	e := userError(t, dead.Problem())
	if e.Next != "slipway cluster start" || !strings.Contains(e.Hint, "afloat") || e.Where != s.Log {
		t.Errorf("problem: %+v", e)
	}
	if _, _, err := d.Kubeconfig(t.Context(), ""); err == nil {
		t.Error("a dead cluster has a kubeconfig")
	}
	again := d.start(clusterctl.Options{})
	if again.Already || again.PID == s.PID {
		t.Errorf("start after death: %+v", again)
	}
	if _, err := d.Stop(t.Context(), ""); err != nil || d.currentContext() != "" {
		t.Errorf("stop: %v, current context %q", err, d.currentContext())
	}
}

func TestStopAfterDeath(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	if s, err := d.Stop(t.Context(), ""); err != nil || s.Already {
		t.Errorf("stop: %+v, %v", s, err)
	}
	d.want("", clusterctl.Stopped)
	if got := d.currentContext(); got != "" {
		t.Errorf("current context %q", got)
	}
}

func TestFrozenClusterIsKilled(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := syscall.Kill(s.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.Hurry(brief, brief)
	for { // a program with several threads may answer once more before the signal reaches all
		if s, err := d.Status(t.Context(), ""); err != nil || s.State != clusterctl.Running {
			break
		}
	}
	hung := d.want("", clusterctl.Hung)
	if e := userError(t, hung.Problem()); e.Next != "slipway cluster stop" {
		t.Errorf("problem: %+v", e)
	}
	if _, err := d.Start(t.Context(), "", clusterctl.Options{}); userError(t, err).Next != "slipway cluster stop" {
		t.Errorf("start: %v", err)
	}
	if _, err := d.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	d.want("", clusterctl.Stopped)
}

func TestStartFails(t *testing.T) {
	for _, tc := range []struct{ mode, err, hint string }{
		{crash, "exit status 3", "cannot find the sea"},
		{late, "exit status 4", "struck a rock"},
		{refuse, "no water", "fill the dock"},
		{foreign, "protocol 99", "same version as slipway"},
		{babble, "Hello, sailor!", "afloat"},
		{hang, "not ready in time", "afloat"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			d := newDock(t, tc.mode)
			o := clusterctl.Options{}
			if tc.mode == hang {
				o.Timeout = time.Second
			}
			_, err := d.Start(t.Context(), "", o)
			e := userError(t, err)
			for tc.mode == hang && !strings.Contains(e.Hint, tc.hint) { // its program did not begin in that time
				o.Timeout *= 2
				_, err = d.Start(t.Context(), "", o)
				e = userError(t, err)
			}
			if e.Err == nil || !strings.Contains(e.Err.Error(), tc.err) || !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("error: %+v", e)
			}
			d.want("", clusterctl.Stopped)
			if _, err := os.Stat(d.kube); err == nil {
				t.Error("a kubeconfig was written")
			}
		})
	}
}

// TestNothingIsLeft: a first start that fails before the program runs leaves no folder; one that fails later leaves
// what the program said, for its error names that.
func TestNothingIsLeft(t *testing.T) {
	d := newDock(t, sound)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken, err := strconv.Atoi(strings.TrimPrefix(l.Addr().String(), "127.0.0.1:"))
	if err != nil {
		t.Fatal(err)
	}
	left := func() []string {
		files, err := filepath.Glob(filepath.Join(d.state, "clusters", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		folders, err := filepath.Glob(filepath.Join(d.state, "clusters", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return append(folders, files...)
	}
	for _, o := range []clusterctl.Spec{{Port: taken}, {Port: taken, Durable: true}} {
		if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: o}); err == nil {
			t.Error("no error")
		}
		if got := left(); len(got) != 0 {
			t.Errorf("%+v leaves %v", o, got)
		}
	}
	t.Setenv(peerMode, crash)
	_, err = d.Start(t.Context(), "", clusterctl.Options{})
	if e := userError(t, err); !slices.Contains(left(), e.Where) {
		t.Errorf("its log, which the error names, does not exist: %v", left())
	}
	folder := filepath.Join(d.state, "clusters", "default")
	if got := left(); len(got) > 2 || got[0] != folder {
		t.Errorf("a crash leaves %v", got)
	}
}

func TestOutdatedProgramIsRefused(t *testing.T) {
	d := newDock(t, outdated)
	_, err := d.Start(t.Context(), "", clusterctl.Options{})
	if e := userError(t, err); !strings.Contains(e.What, "SLIPWAY_CLUSTER") || !strings.Contains(e.Err.Error(), "protocol 99") {
		t.Errorf("error: %+v", e)
	}
}

// TestInterruptedStart cancels at the first sign of life and wants nothing to
// stay, although the program ignores requests to end.
func TestInterruptedStart(t *testing.T) {
	for _, mode := range []string{hang, sound} {
		t.Run(mode, func(t *testing.T) {
			d := newDock(t, mode)
			ctx, cancel := context.WithCancel(t.Context())
			d.log.seen = func(e report.Event) {
				if _, ok := e.(report.Step); ok {
					cancel()
				}
			}
			_, err := d.Start(ctx, "", clusterctl.Options{})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error: %v", err)
			}
			d.want("", clusterctl.Stopped)
			if got := d.currentContext(); got != "" {
				t.Errorf("current context %q", got)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	d := newDock(t, sound)
	for _, name := range []string{"Upper", "../up", "-x", "a.b", strings.Repeat("x", 41)} {
		if _, err := d.Start(t.Context(), name, clusterctl.Options{}); userError(t, err).Where != name {
			t.Errorf("name %q: %v", name, err)
		}
	}
	if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Port: 70000}}); userError(t, err).Where != "--port" {
		t.Errorf("port: %v", err)
	}
}

func TestDurableStaysDurable(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
	data := filepath.Join(d.state, "clusters", "default", "etcd")
	if err := os.WriteFile(data, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		t.Helper()
		if _, err := d.Stop(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(data); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	d.start(clusterctl.Options{})
	if !slices.ContainsFunc(d.log.all, func(e report.Event) bool {
		n, ok := e.(report.Note)
		return ok && strings.Contains(n.Text, "continues with its data")
	}) {
		t.Error("no event reports that the data are kept")
	}
	stop()
}

func TestAssets(t *testing.T) {
	d := newDock(t, sound)
	for range 2 {
		dir, err := d.Assets(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		own, _ := os.Executable()
		for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
			if target, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err != nil || target != own {
				t.Errorf("%s: %s, %v", name, target, err)
			}
		}
	}
}

// TestStatusWhileEnding: a program that was killed keeps its lock until the system
// has taken it apart, and is not called hung meanwhile.
func TestStatusWhileEnding(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	lock := flock.New(filepath.Join(d.state, "clusters", "default", "lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatalf("lock: %v, %v", ok, err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = lock.Unlock() }) // when does not matter
	d.want("", clusterctl.Died)
}

// TestStopTellsNoStart: the story of the start, which every client is told, is no
// news to who stops a cluster.
func TestStopTellsNoStart(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{})
	d.log.all = nil
	if _, err := d.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, e := range d.log.all {
		if s, ok := e.(report.Step); ok {
			steps = append(steps, s.Name)
		}
	}
	if !slices.Equal(steps, []string{"stopping etcd"}) {
		t.Errorf("steps: %q", steps)
	}
}

// TestUnusableKubeconfig: what cannot be entered into the kubeconfig is not started.
func TestUnusableKubeconfig(t *testing.T) {
	d := newDock(t, sound)
	if err := os.WriteFile(d.kube, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := d.Start(t.Context(), "", clusterctl.Options{})
	if e := userError(t, err); e.Where != d.kube || e.Next == "" {
		t.Errorf("error: %+v", e)
	}
	if _, err := os.Stat(filepath.Join(d.state, "clusters", "default", "log")); err == nil {
		t.Error("the program was started")
	}
	d.start(clusterctl.Options{NoContext: true})
}
