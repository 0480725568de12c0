package manager

import (
	"context"
	"errors"
	"testing"
)

// The work ends with the program and with the lease; only the latter is an error.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	untilDone := func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	}
	running, leading := t.Context(), t.Context()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := workWhile(ended, leading, untilDone); err != nil {
		t.Errorf("stopped: %v", err)
	}
	if err := workWhile(running, ended, untilDone); !errors.Is(err, ErrLost) {
		t.Errorf("the lease was lost: %v", err)
	}
}
