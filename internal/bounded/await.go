package bounded

import "context"

// Await runs work of kustomize's, which takes no context, and returns its result, or the cause of ctx once that ends: a
// replacement can keep kustomize busy without end. Work that was not waited for goes on until the process ends, so
// the process is to end soon. While any work goes on, also such, git fetches over networks alone: see [fetching].
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := guarded(work)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// guarded runs work, which may have git fetch.
func guarded[T any](work func() (T, error)) (T, error) {
	defer fetching()()
	return work()
}
