package workers

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// heard is what somebody is told of workers, in order.
type heard struct {
	mu   sync.Mutex
	told []string
}

func (h *heard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, text)
}

func (h *heard) options(group *sync.WaitGroup) Options {
	return Options{
		Changed: func(component string, state protocol.State) { h.add(string(state)) },
		See:     func(informed.View) { h.add("seen") },
		Failed:  func(e *protocol.ComponentError) { h.add("failed: " + e.Error()) },
		Go:      group.Go,
	}.withDefaults()
}

// TestLifeOfAWorker: what is told of a worker, and what its start returns, in each way in which it can go on and end.
func TestLifeOfAWorker(t *testing.T) {
	problem := errors.New("why")
	view := func() informed.Stores { return nil }
	untilEnd := func(ctx context.Context, started func(informed.View)) error {
		started(view)
		<-ctx.Done()
		return nil
	}
	states := func(more ...protocol.State) (all []string) {
		for _, s := range more {
			all = append(all, string(s))
		}
		return all
	}
	for name, tt := range map[string]struct {
		worker worker
		err    error    // of the start
		told   []string // until life ends and it has ended
	}{
		"runs until the end": {
			worker{run: untilEnd}, nil, append(append(states(protocol.StateStarting), "seen"), states(protocol.StateReady, protocol.StateStopped)...),
		},
		"without a view": {worker{run: func(ctx context.Context, started func(informed.View)) error {
			started(nil)
			<-ctx.Done()
			return nil
		}}, nil, states(protocol.StateStarting, protocol.StateReady, protocol.StateStopped)},
		"cannot be set up":         {worker{run: func(context.Context, func(informed.View)) error { return problem }}, problem, states(protocol.StateStarting)},
		"ends before it has begun": {worker{run: func(context.Context, func(informed.View)) error { return nil }}, errEnded, states(protocol.StateStarting)},
		"is of no use": {
			worker{run: untilEnd, useful: func(context.Context) error { return problem }}, problem, append(append(states(protocol.StateStarting), "seen"), states(protocol.StateStopped)...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var group sync.WaitGroup
			var h heard
			life, end := context.WithCancel(t.Context())
			defer end()
			tt.worker.component = protocol.Scheduler
			if err := h.options(&group).start(t.Context(), life, tt.worker); !errors.Is(err, tt.err) {
				t.Errorf("the start: %v, want %v", err, tt.err)
			}
			end()
			group.Wait()
			if !slices.Equal(h.told, tt.told) {
				t.Errorf("told %q, want %q", h.told, tt.told)
			}
		})
	}
}

// TestWorkerEndsByItself: once it has started, its end is told as the failure of the component, with why.
func TestWorkerEndsByItself(t *testing.T) {
	problem := errors.New("why")
	for want, err := range map[string]error{"failed: scheduler: why": problem, "failed: scheduler: ended by itself": nil} {
		var group sync.WaitGroup
		var h heard
		leave := make(chan struct{})
		startErr := h.options(&group).start(t.Context(), t.Context(), worker{component: protocol.Scheduler, run: func(_ context.Context, started func(informed.View)) error {
			started(nil)
			<-leave
			return err
		}})
		if startErr != nil {
			t.Fatal(startErr)
		}
		close(leave)
		group.Wait()
		if last := h.told[len(h.told)-1]; last != want {
			t.Errorf("told %q, want %q", h.told, want)
		}
	}
}

// TestStartIsBounded: who starts a worker that does not come waits no longer than he wants to.
func TestStartIsBounded(t *testing.T) {
	var group sync.WaitGroup
	var h heard
	life, end := context.WithCancel(t.Context())
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the test's reason")
	cancel(cause)
	err := h.options(&group).start(ctx, life, worker{run: func(ctx context.Context, _ func(informed.View)) error {
		<-ctx.Done()
		return nil
	}})
	if !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
	end()
	group.Wait()
}

// TestStartNamesTheWorker that does not start; the files that it needs are among what can be missing.
func TestStartNamesTheWorker(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	life, end := context.WithCancel(t.Context())
	defer end()
	var group sync.WaitGroup
	_, err := Start(ctx, life, Options{Client: &rest.Config{Host: "https://127.0.0.1:1"}, RootCA: filepath.Join(t.TempDir(), "absent"), Go: group.Go})
	e, ok := errors.AsType[*protocol.ComponentError](err)
	if !ok || e.Component != protocol.Controllers || !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), protocol.Controllers+": ") {
		t.Errorf("%v", err)
	}
	end()
	group.Wait()
}

// TestControllersConfig reads the cluster's files, and says which cannot be used.
func TestControllersConfig(t *testing.T) {
	files, err := pki.Ensure(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Client: &rest.Config{}, RootCA: files.CA, ServiceAccountKey: files.ServiceAccountKey, SigningCA: files.CA, SigningKey: files.CAKey}
	config, err := o.controllersConfig()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile(files.CA)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := config.ServiceAccountKey.(*ecdsa.PrivateKey); !ok || string(config.RootCA) != string(root) || config.CAFile != files.CA || config.CAKeyFile != files.CAKey {
		t.Errorf("%T, %s and %s", config.ServiceAccountKey, config.CAFile, config.CAKeyFile)
	}
	o.ServiceAccountKey = files.CA
	if _, err := o.controllersConfig(); err == nil || !strings.Contains(err.Error(), "service account key") {
		t.Errorf("a certificate in place of the key: %v", err)
	}
}
