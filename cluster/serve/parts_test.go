package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// TestFailure: the event names the component without saying it twice, and what helps where that is known.
func TestFailure(t *testing.T) {
	plain := errors.New("why")
	for name, tt := range map[string]struct {
		err  error
		want protocol.Failed
	}{
		"of nobody":        {plain, protocol.Failed{Component: protocol.Configuration, Error: "why"}},
		"of a component":   {&protocol.ComponentError{Component: protocol.Scheduler, Err: plain}, protocol.Failed{Component: protocol.Scheduler, Error: "why"}},
		"wrapped":          {fmt.Errorf("start: %w", &protocol.ComponentError{Component: protocol.Nodes, Err: plain}), protocol.Failed{Component: protocol.Nodes, Error: "why"}},
		"a port in use":    {&protocol.ComponentError{Component: protocol.APIServer, Err: syscall.EADDRINUSE}, protocol.Failed{Component: protocol.APIServer, Error: syscall.EADDRINUSE.Error(), Hint: "choose another port, or 0 for a free one"}},
		"a flag":           {&protocol.ComponentError{Component: protocol.APIServer, Err: &apiserver.FlagError{Err: plain}}, protocol.Failed{Component: protocol.APIServer, Error: "API server flags: why", Hint: "see the flags of kube-apiserver"}},
		"no configuration": {fmt.Errorf("%w: x", protocol.ErrConfig), protocol.Failed{Component: protocol.Configuration, Error: "invalid configuration: x", Hint: "see docs/inside/protocol.md for the configuration"}},
	} {
		if got := failure(tt.err); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	for err, want := range map[error]string{
		errLocked: "stop the cluster that uses this folder", syscall.ENOSPC: "the disk is full", fs.ErrPermission: "must belong to you", etcd.ErrData: "replace the folder",
	} {
		if got := hint(fmt.Errorf("deep: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestLastWords: the first fatal message is remembered without klog's header and stack, and all is passed on.
func TestLastWords(t *testing.T) {
	for name, tt := range map[string]struct {
		written []string
		want    string
	}{
		"nothing fatal": {[]string{"E0102 03:04:05.6 7 a.go:8] an error\n"}, "it gave up"},
		"fatal":         {[]string{"I0102 a.go:8] before\n", "F0102 03:04:05.6 7 hooks.go:8] hook failed: why\ngoroutine 1:\n"}, "hook failed: why"},
		"two":           {[]string{"F0102 a.go:8] first\n", "F0102 a.go:9] second\n"}, "first"},
		"no header":     {[]string{"Fatal without a header\n"}, "Fatal without a header"},
		"empty":         {[]string{"F0102 a.go:8] \n"}, "it gave up"},
	} {
		var b bytes.Buffer
		l := &lastWords{w: &b}
		for _, text := range tt.written {
			if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		if got := l.fatal().Error(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if b.String() != strings.Join(tt.written, "") {
			t.Errorf("%s: %q is passed on", name, b.String())
		}
	}
}

// bare is a session that nobody listens to.
func bare() (s *session, exits chan int, stderr *bytes.Buffer) {
	exits, stderr = make(chan int, 1), &bytes.Buffer{}
	s = &session{
		Options: Options{Stderr: stderr, Exit: func(status int) { exits <- status }},
		log:     protocol.NewLog(), status: newStatus(time.Now()), flushed: make(chan struct{}),
	}
	return s, exits, stderr
}

// published are a closed log's events.
func published(t *testing.T, s *session) string {
	t.Helper()
	var all []byte
	if err := s.log.Follow(t.Context(), func(line []byte) error {
		all = append(all, line...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// TestGivingUp: a component that gives up ends the process and is told, with where to look; once the cluster is to
// stop, that is no failure.
func TestGivingUp(t *testing.T) {
	s, exits, stderr := bare()
	s.fatal(t.Context(), protocol.Etcd, errors.New("why"))
	if status := <-exits; status != statusFailed {
		t.Errorf("exit status %d", status)
	}
	if got := published(t, s); !strings.Contains(got, `"component":"etcd"`) || !strings.Contains(got, "the log of etcd has the details") {
		t.Errorf("told %s", got)
	}
	if !strings.Contains(stderr.String(), "etcd: why") {
		t.Errorf("people read %q", stderr)
	}
	s, exits, stderr = bare()
	over, stop := context.WithCancel(t.Context())
	stop()
	s.fatal(over, protocol.Etcd, errors.New("why"))
	if len(exits) != 0 || stderr.Len() != 0 {
		t.Errorf("after the end: %d exits, %q", len(exits), stderr)
	}
}

// TestEnd: only a reason to stop is a success.
func TestEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
		event  string
	}{
		"by request":        {stopReason(protocol.ByRequest), statusOK, `"event":"stopped","reason":"request"`},
		"by signal":         {fmt.Errorf("because: %w", stopReason(protocol.BySignal)), statusOK, `"reason":"signal"`},
		"a component ended": {&protocol.ComponentError{Component: protocol.Scheduler, Err: errors.New("why")}, statusFailed, `"component":"scheduler"`},
	} {
		s, _, _ := bare()
		if status := s.end(tt.err); status != tt.status {
			t.Errorf("%s: exit status %d, want %d", name, status, tt.status)
		}
		if got := published(t, s); !strings.Contains(got, tt.event) {
			t.Errorf("%s: told %s, want %s", name, got, tt.event)
		}
	}
}

// TestHardStop: a cluster that hangs when it is to stop ends all the same, for the reason for which it was to.
func TestHardStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, exits, _ := bare()
		ctx, stop := context.WithCancelCause(t.Context())
		context.AfterFunc(ctx, s.hardStop(ctx))
		begin := time.Now()
		stop(stopReason(protocol.BySignal))
		if status := <-exits; status != statusOK || time.Since(begin) < stopLimit {
			t.Errorf("exit status %d after %v", status, time.Since(begin))
		}
	})
}

// TestStatus: it is that of the moment, and a cluster that is about to stop is not ready.
func TestStatus(t *testing.T) {
	s := newStatus(time.Now())
	if now := s.snapshot(); now.Ready || now.PID != os.Getpid() || len(now.Components) != 0 {
		t.Errorf("at first: %+v", now)
	}
	s.set("a", protocol.StateStarting)
	s.set("b", protocol.StateStarting)
	s.set("a", protocol.StateReady)
	s.ready(protocol.Ready{Server: "https://x", Kubeconfig: "/k", Registry: "r"})
	now := s.snapshot()
	if !now.Ready || now.Server != "https://x" || now.Kubeconfig != "/k" || now.Registry != "r" {
		t.Errorf("ready: %+v", now)
	}
	if want := []protocol.Component{{Name: "a", State: protocol.StateReady}, {Name: "b", State: protocol.StateStarting}}; !slices.Equal(now.Components, want) {
		t.Errorf("components %+v", now.Components)
	}
	describe(now.Components, map[string]string{"a": "busy", "b": "busy"})
	if now.Components[0].Message != "busy" || now.Components[1].Message != "" {
		t.Errorf("only what runs does something: %+v", now.Components)
	}
	if again := s.snapshot(); again.Components[0].Message != "" {
		t.Error("a snapshot changes with another one")
	}
	if s.set("a", protocol.StateStopping); s.snapshot().Ready {
		t.Error("it stops, and is ready")
	}
}

func TestStateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	lock, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := openState(dir); !errors.Is(err, errLocked) || !errors.Is(err, errState) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second time: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := openState(dir)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	defer again.Close()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a folder that others could read: %v, %v", info, err)
	}
}

// TestSettle: who records gives up with its time.
func TestSettle(t *testing.T) {
	store, err := etcd.Start(t.Context(), etcd.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Stop()
	cause := errors.New("the test's reason")
	for range testlimit.Hang / settled { // a machine may be so busy that the store has settled before
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		_, err := settle(ctx, store)
		if errors.Is(err, cause) {
			return
		}
		if err != nil {
			t.Fatalf("%v, want %v", err, cause)
		}
	}
	t.Error("it never gives up")
}

// TestAddresses: a status has so many addresses, and counts the others.
func TestAddresses(t *testing.T) {
	all := slices.Repeat([]engine.Address{{Kind: "Service", Protocol: "UDP", Port: 53, Problem: "words"}}, mostAddresses+2)
	first, more := addresses(all)
	if len(first) != mostAddresses || more != 2 || first[0].Protocol != "UDP" || first[0].Problem != "words" {
		t.Errorf("%d addresses, %d more", len(first), more)
	}
	if first, more := addresses(nil); first != nil || more != 0 {
		t.Errorf("of none: %v, %d more", first, more)
	}
}
