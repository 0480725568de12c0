package certmanager

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhooks has the API server ask all webhooks, by their Service.
func (o operator) webhooks(t *testing.T) {
	t.Helper()
	var plain *unstructured.Unstructured
	eventually(t, "defaulting", func(ctx context.Context) error { // until the API server has heard of the authority
		plain = cronJob("v1", "@yearly")
		return o.Create(ctx, plain)
	})
	if policy, _, _ := unstructured.NestedString(plain.Object, "spec", "concurrencyPolicy"); policy != "Allow" {
		t.Errorf("the policy is %q, not the default", policy)
	}

	err := o.invalid(t, cronJob("v1", "never"))
	if fields := refused(err); len(fields) != 1 || fields[0] != "spec.schedule" {
		t.Errorf("a bad object: %v (fields %v)", err, fields)
	}

	var second *unstructured.Unstructured
	eventually(t, "conversion", func(ctx context.Context) error {
		second = cronJob("v2", map[string]any{"minute": "7", "hour": "3"})
		return o.Create(ctx, second)
	})
	first := cronJob("v1", "")
	eventually(t, "conversion back", func(ctx context.Context) error { return o.Get(ctx, client.ObjectKeyFromObject(second), first) })
	if schedule, _, _ := unstructured.NestedString(first.Object, "spec", "schedule"); schedule != "7 3 * * *" {
		t.Errorf("minute 7 and hour 3 of v2 are %q in v1", schedule)
	}
	o.invalid(t, cronJob("v2", map[string]any{"minute": "99"}))
}

// serving wants the API server to reach the webhooks at every call while change runs.
func (o operator) serving(t *testing.T, change func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	calls, failures := 0, make(chan error, 1)
	go func() {
		defer close(failures)
		for tick := time.NewTicker(200 * time.Millisecond); ; calls++ {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			if err := o.Create(ctx, cronJob("v1", "@yearly"), client.DryRunAll); err != nil && ctx.Err() == nil {
				failures <- fmt.Errorf("call %d: %w", calls, err)
				return
			}
		}
	}()
	defer func() {
		stop()
		if err := <-failures; err != nil || calls == 0 {
			t.Errorf("%d calls succeeded: %v", calls, err)
		}
	}()
	change()
}

// invalid waits until an object is refused for what is in it. Until then the manager that is asked may be one that was
// just killed.
func (o operator) invalid(t *testing.T, object *unstructured.Unstructured) (refusal error) {
	t.Helper()
	eventually(t, "a bad object", func(ctx context.Context) error {
		if refusal = o.Create(ctx, object, client.DryRunAll); apierrors.IsInvalid(refusal) {
			return nil
		}
		return fmt.Errorf("it is answered with %v", refusal)
	})
	return refusal
}

// refused are the fields on account of which an object was refused.
func refused(err error) (fields []string) {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// cronJob is a new one, which never runs here.
func cronJob(version string, schedule any) *unstructured.Unstructured {
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch.tutorial.kubebuilder.io/" + version, "kind": "CronJob",
		"spec": map[string]any{
			"schedule": schedule,
			"jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never",
				"containers":    []any{map[string]any{"name": "hello", "image": "example.com/hello:v1"}},
			}}}},
		},
	}}
	job.SetNamespace(metav1.NamespaceDefault)
	job.SetName(fmt.Sprintf("c-%d", time.Now().UnixNano()))
	return job
}
