package ship

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errImpatient is the error of [poll] when time is up.
var errImpatient = errors.New("time is up")

// patienceOf is timeout, or the default.
func patienceOf(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return DefaultTimeout
	}
	return timeout
}

// poll asks until done says yes or fails, first often, then ten times a second,
// and gives up with errImpatient after patience. A watch would tell sooner by some milliseconds
// and break by far more ways.
func poll(ctx context.Context, patience time.Duration, done func(context.Context) (bool, error)) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return errImpatient
		case <-time.After(pause):
		}
	}
}

// condition is one entry of status.conditions.
type condition struct{ kind, status, reason, message string }

// conditions reads status.conditions of object, which may be nil.
func conditions(object *unstructured.Unstructured) []condition {
	if object == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var all []condition
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(name string) string { s, _ := fields[name].(string); return s }
		all = append(all, condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return all
}
