package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/cluster/baseline"
)

const (
	// keepLimit bounds the wait for a state that does not change.
	keepLimit = 10 * time.Second
	// keepPause lies between two looks. What is the same in two of them is taken for settled: what the
	// server and the controllers do about an object, they do within milliseconds.
	keepPause = 25 * time.Millisecond
)

// Keep makes the present state the one that resets lead back to, and returns how many objects it
// has. It waits until no program changes it: a reset to a state on its way would be followed by the
// rest of the way each time.
func (c *Cluster) Keep(ctx context.Context) (objects int, err error) {
	c.resetting.Lock()
	defer c.resetting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	var state *baseline.Baseline
	var missing []string
	err = poll(ctx, keepPause, func() (bool, error) {
		now, err := c.store.Read(ctx, c.prefix+"/")
		if err != nil {
			return false, err
		}
		same := state != nil && state.Holds(now)
		state = baseline.Of(now, c.prefix)
		missing = c.unfinished(state)
		return same && len(missing) == 0, nil
	})
	switch {
	case err == nil:
		c.base, c.kept = state, true
		c.mark("kept")
		return state.Len(), nil
	case len(missing) > 0:
		slices.Sort(missing)
		return 0, fmt.Errorf("%w: without %s: %w", ErrIncomplete, strings.Join(missing, ", "), err)
	default:
		return 0, fmt.Errorf("%w: %w", ErrRestless, err)
	}
}

// unfinished lists the keys that the server and the controllers are still to write.
func (c *Cluster) unfinished(state *baseline.Baseline) []string {
	missing := state.Undecided()
	if c.spec.Controllers {
		missing = append(missing, state.Missing()...)
	}
	return missing
}
