package kubelet

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// TestPanicsAreReported: those that Kubernetes' parts catch, to end the process or not, and those of handlers of
// requests, which net/http catches.
func TestPanicsAreReported(t *testing.T) {
	handlers, flags, to := slices.Clone(utilruntime.PanicHandlers), log.Flags(), log.Writer()
	defer func() {
		utilruntime.PanicHandlers = handlers
		log.SetFlags(flags)
		log.SetOutput(to)
	}()
	out := &lockedBuffer{}
	reportPanics(out)
	for _, what := range []any{"first\nof two lines", http.ErrAbortHandler} {
		func() {
			defer func() { _ = recover() }() // which it makes again
			defer utilruntime.HandleCrash()
			panic(what)
		}()
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("in a handler") }))
	if answer, err := http.Get(server.URL); err == nil {
		_ = answer.Body.Close()
	}
	server.Close()
	log.Print("something else")
	var reported []string
	for line := range strings.Lines(out.String()) {
		if what, ok := strings.CutPrefix(line, nodeconfig.PanicMark); ok {
			reported = append(reported, what)
		}
	}
	if len(reported) != 2 || reported[0] != "first\n" || !strings.Contains(reported[1], "in a handler") || !strings.Contains(out.String(), "\nsomething else\n") {
		t.Errorf("reported: %q of\n%s", reported, out.String())
	}
}
