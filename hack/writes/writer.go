package main

import (
	"context"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// interval is the time between two requests.
const interval = 20 * time.Millisecond

// A writer writes CronJobs through both of their versions.
type writer struct {
	v1, v2   dynamic.ResourceInterface
	requests int
	failures []error
}

func cronJobs(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "batch.tutorial.kubebuilder.io", Version: version, Resource: "cronjobs"}
}

// write makes requests until ctx ends, and finishes the one that is under way then.
func (w *writer) write(ctx context.Context) {
	unbroken := context.WithoutCancel(ctx)
	begin, tick := time.Now(), time.NewTicker(interval)
	defer tick.Stop()
	for i := 0; ; i++ {
		name := fmt.Sprintf("writes-%d-%d", os.Getpid(), i)
		for _, step := range []func(context.Context, string) error{w.create, w.change, w.refuse, w.delete} {
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

// create has a CronJob of v1 validated and completed.
func (w *writer) create(ctx context.Context, name string) error {
	made, err := w.v1.Create(ctx, cronJob(name, "0 0 1 1 *"), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if policy, _, _ := unstructured.NestedString(made.Object, "spec", "concurrencyPolicy"); policy != "Allow" {
		return fmt.Errorf("create: the policy is %q, not the default", policy)
	}
	return nil
}

// change has a CronJob converted to v2 and back.
func (w *writer) change(ctx context.Context, name string) error {
	changed, err := w.v2.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"schedule":{"minute":"1"}}}`), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("change: %w", err)
	}
	if month, _, _ := unstructured.NestedString(changed.Object, "spec", "schedule", "month"); month != "1" {
		return fmt.Errorf("change: the month is %q", month)
	}
	return nil
}

// refuse tries to create a CronJob that is not valid.
func (w *writer) refuse(ctx context.Context, name string) error {
	if _, err := w.v1.Create(ctx, cronJob(name+"-bad", "never"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("create what is not valid: %w", err)
	}
	return nil
}

// delete deletes the CronJob.
func (w *writer) delete(ctx context.Context, name string) error {
	if err := w.v1.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// cronJob is one that never runs.
func cronJob(name, schedule string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch.tutorial.kubebuilder.io/v1",
		"kind":       "CronJob",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"schedule": schedule,
			"suspend":  true,
			"jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"restartPolicy": "Never",
				"containers":    []any{map[string]any{"name": "none", "image": "none"}},
			}}}},
		},
	}}
}
