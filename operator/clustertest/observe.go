package clustertest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// Observed is a client that notes which objects are read through it. A reconciler that gets one has begun a pass over
// each object that it read, so a test knows when a new manager has looked at all of them. Use [Observe].
type Observed struct {
	client.Client

	mu   sync.Mutex
	read map[client.ObjectKey]bool
}

// Observe returns a client that reads and writes through cl, such as a manager's.
func Observe(cl client.Client) *Observed {
	return &Observed{Client: cl, read: map[client.ObjectKey]bool{}}
}

// Get implements [client.Reader].
func (o *Observed) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	o.mu.Lock()
	o.read[key] = true
	o.mu.Unlock()
	return o.Client.Get(ctx, key, object, options...)
}

// observeTime bounds [Observed.WaitFor].
const observeTime = time.Minute

// WaitFor waits until all of these objects were read. Stop the manager afterwards to wait for the end of its passes.
func (o *Observed) WaitFor(t testing.TB, objects ...client.ObjectKey) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), observeTime)
	defer cancel()
	var missing []string
	err := until(ctx, func(context.Context) (bool, error) {
		missing = o.missing(objects)
		return len(missing) == 0, nil
	})
	if err != nil {
		fatal(t, &fault.Error{What: "the operator has not reconciled " + strings.Join(missing, ", "), Err: err})
	}
}

// missing returns which of the objects were not read.
func (o *Observed) missing(objects []client.ObjectKey) (missing []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range objects {
		if !o.read[key] {
			missing = append(missing, key.String())
		}
	}
	return missing
}
