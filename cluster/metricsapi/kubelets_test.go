package metricsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// processor is a kubelet whose node uses half a processor, from the moment at which it is made.
type processor struct {
	begin time.Time
	mu    sync.Mutex
	asked int
	err   error
}

func (p *processor) read(context.Context, string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	now := time.Now()
	text := fmt.Sprintf("node_cpu_usage_seconds_total %f %d\nnode_memory_working_set_bytes 1\n", now.Sub(p.begin).Seconds()/2, now.UnixMilli())
	return io.NopCloser(strings.NewReader(text)), p.err
}

// TestKubeletsAreAskedLazily: nothing is asked at rest; the first client waits for a second reading, those at the same
// time wait with it, and those soon after get the same.
func TestKubeletsAreAskedLazily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processor{begin: time.Now()}
		k := newKubelets(p.read)
		time.Sleep(time.Hour)
		if p.asked != 0 {
			t.Errorf("asked %d times at rest", p.asked)
		}
		for _, step := range []struct {
			what   string
			pause  time.Duration
			asked  int           // since the step before
			waited time.Duration // of the client
		}{
			{what: "the first client", asked: 2, waited: shortest},
			{what: "soon after", pause: fresh / 2, asked: 0},
			{what: "a moment later", pause: fresh, asked: 1},
			{what: "still comparable", pause: keep - time.Second, asked: 1},
			{what: "much later", pause: 2 * keep, asked: 2, waited: shortest},
		} {
			time.Sleep(step.pause)
			before, begin := p.asked, time.Now()
			var clients sync.WaitGroup
			for range 10 {
				clients.Go(func() {
					m, ok := k.history(t.Context(), "n").node()
					if !ok || m.Usage.Cpu().MilliValue() != 500 {
						t.Errorf("%s: %v %v", step.what, ok, m.Usage)
					}
				})
			}
			clients.Wait()
			if asked, waited := p.asked-before, time.Since(begin); asked != step.asked || waited != step.waited {
				t.Errorf("%s: asked %d times and waited %s, want %d and %s", step.what, asked, waited, step.asked, step.waited)
			}
		}
	})
}

// TestKubeletsThatDoNotAnswer have no figures, until they do; a client that gives up does not wait for them.
func TestKubeletsThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processor{begin: time.Now(), err: errors.New("no connection")}
		k := newKubelets(p.read)
		if _, ok := k.history(t.Context(), "n").node(); ok {
			t.Error("figures without an answer")
		}
		p.err = nil
		short, cancel := context.WithTimeout(t.Context(), shortest/2)
		defer cancel()
		if _, ok := k.history(short, "n").node(); ok {
			t.Error("figures of one answer")
		}
		time.Sleep(shortest)
		if _, ok := k.history(t.Context(), "n").node(); !ok {
			t.Error("no figures of two answers")
		}
	})
}

// TestLargeAnswers are refused: a node may be hostile.
func TestLargeAnswers(t *testing.T) {
	endless := func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("# HELP a "), zeros{})), nil
	}
	if h := newKubelets(endless).history(t.Context(), "n"); h != nil {
		t.Errorf("%d readings of an answer without end", len(h))
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
