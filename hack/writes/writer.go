package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// interval is the time between two requests.
const interval = 20 * time.Millisecond

// A step is a request about the object of a name.
type step func(ctx context.Context, name string) error

// A writer makes requests.
type writer struct {
	steps    []step // for each name
	requests int
	failures []error
}

// write makes requests until ctx ends, and finishes the one that is under way then.
func (w *writer) write(ctx context.Context) {
	unbroken := context.WithoutCancel(ctx)
	begin, tick := time.Now(), time.NewTicker(interval)
	defer tick.Stop()
	for i := 0; ; i++ {
		name := fmt.Sprintf("writes-%d-%d", os.Getpid(), i)
		for _, step := range w.steps {
			if err := step(unbroken, name); err != nil {
				w.failures = append(w.failures, fmt.Errorf("%.2fs: request %d: %w", time.Since(begin).Seconds(), w.requests, err))
			}
			w.requests++
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}
