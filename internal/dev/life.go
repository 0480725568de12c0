package dev

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// firstSign is how long a child may work before its user is told that it does.
const firstSign = 3 * time.Second

// signsOfLife tells, in lines of their own, that a child works, until stop is called: after three seconds, and then
// each time that twice as much has passed, since the child's own output comes in between.
func signsOfLife(ctx context.Context, h report.Handler, doing string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		begin := time.Now()
		for next := firstSign; ; next *= 2 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(next - time.Since(begin)):
				h.Handle(report.Note{Text: doing + " (" + next.String() + ")"})
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}
