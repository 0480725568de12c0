package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// cronJobs are those of examples/cronjob, in both versions.
type cronJobs struct{ v1, v2 dynamic.ResourceInterface }

func newCronJobs(client dynamic.Interface) cronJobs {
	in := func(version string) dynamic.ResourceInterface {
		return client.Resource(schema.GroupVersionResource{Group: "batch.tutorial.kubebuilder.io", Version: version, Resource: "cronjobs"}).Namespace("default")
	}
	return cronJobs{in("v1"), in("v2")}
}

func (c cronJobs) steps() []step { return []step{c.create, c.change, c.refuse, c.delete} }

// create has a CronJob of v1 validated and completed.
func (c cronJobs) create(ctx context.Context, name string) error {
	made, err := c.v1.Create(ctx, cronJob(name, "0 0 1 1 *"), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if policy, _, _ := unstructured.NestedString(made.Object, "spec", "concurrencyPolicy"); policy != "Allow" {
		return fmt.Errorf("create: the policy is %q, not the default", policy)
	}
	return nil
}

// change has a CronJob converted to v2 and back.
func (c cronJobs) change(ctx context.Context, name string) error {
	changed, err := c.v2.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"schedule":{"minute":"1"}}}`), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("change: %w", err)
	}
	if month, _, _ := unstructured.NestedString(changed.Object, "spec", "schedule", "month"); month != "1" {
		return fmt.Errorf("change: the month is %q", month)
	}
	return nil
}

// refuse tries to create a CronJob that is not valid.
func (c cronJobs) refuse(ctx context.Context, name string) error {
	if _, err := c.v1.Create(ctx, cronJob(name+"-bad", "never"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("create what is not valid: %w", err)
	}
	return nil
}

// delete deletes the CronJob.
func (c cronJobs) delete(ctx context.Context, name string) error {
	if err := c.v1.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
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
