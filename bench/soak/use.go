package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	retry "k8s.io/client-go/tools/watch"

	"github.com/slipway-dev/slipway/bench/controlplane"
	"github.com/slipway-dev/slipway/bench/widget"
)

const (
	workers          = 8
	objectsPerWorker = 25
	watchers         = 10
	replicas         = 3
	// patience bounds each wait.
	patience = 2 * time.Minute
	poll     = 10 * time.Millisecond
)

// use does what operators and their tests do.
func use(ctx context.Context, plane *controlplane.Plane) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the cluster takes too long"))
	defer cancel()
	return errors.Join(useObjects(ctx, plane), usePods(ctx, plane))
}

// useObjects installs a custom resource and creates, changes and deletes objects of it while others watch.
// Every watcher must see every change.
func useObjects(ctx context.Context, plane *controlplane.Plane) error {
	if err := plane.Establish(ctx); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(plane.Config)
	if err != nil {
		return err
	}
	widgets := client.Resource(widget.Resource()).Namespace("default")
	list, err := widgets.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	seen := make([]counter, watchers)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	for n := range seen {
		// A server may end a watch at any time; clients go on where it ended.
		w, err := retry.NewRetryWatcherWithContext(watching, list.GetResourceVersion(), &cache.ListWatch{
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return widgets.Watch(ctx, o) },
		})
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		defer w.Stop()
		go seen[n].count(w)
	}
	if err := churn(ctx, widgets); err != nil {
		return err
	}
	return awaitAll(ctx, seen)
}

// churn creates, changes and deletes.
func churn(ctx context.Context, widgets dynamic.ResourceInterface) error {
	group, ctx := errgroup.WithContext(ctx)
	for worker := range workers {
		group.Go(func() error {
			for n := range objectsPerWorker {
				if err := oneLife(ctx, widgets, fmt.Sprintf("widget-%d-%d", worker, n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func oneLife(ctx context.Context, widgets dynamic.ResourceInterface, name string) error {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetGroupVersionKind(widget.GroupVersionKind)
	object.SetName(name)
	made, err := widgets.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := unstructured.SetNestedField(made.Object, int64(2), "spec", "size"); err != nil {
		return err
	}
	if _, err := widgets.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if err := widgets.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// counter counts the events of a watch.
type counter struct{ added, modified, deleted, failed atomic.Int64 }

func (c *counter) count(w watch.Interface) {
	for e := range w.ResultChan() {
		switch e.Type {
		case watch.Added:
			c.added.Add(1)
		case watch.Modified:
			c.modified.Add(1)
		case watch.Deleted:
			c.deleted.Add(1)
		case watch.Error:
			c.failed.Add(1)
		}
	}
}

// awaitAll returns when every watcher has seen every life.
func awaitAll(ctx context.Context, seen []counter) error {
	const lives = workers * objectsPerWorker
	for n := range seen {
		c := &seen[n]
		if err := wait.PollUntilContextCancel(ctx, poll, true, func(context.Context) (bool, error) {
			return c.added.Load() == lives && c.modified.Load() == lives && c.deleted.Load() == lives, nil
		}); err != nil {
			return fmt.Errorf("watcher %d saw %d creations, %d changes and %d deletions of %d, and %d errors: %w",
				n, c.added.Load(), c.modified.Load(), c.deleted.Load(), lives, c.failed.Load(), err)
		}
	}
	return nil
}

// usePods has controllers, scheduler and nodes do something, whose results the reset removes.
func usePods(ctx context.Context, plane *controlplane.Plane) error {
	client, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		return err
	}
	labels := map[string]string{"app": "soak"}
	count := int32(replicas)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "soak"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &count,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}},
			},
		},
	}
	deployments := client.AppsV1().Deployments("default")
	if _, err := deployments.Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a Deployment: %w", err)
	}
	if err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		d, err := deployments.Get(ctx, deployment.Name, metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == replicas, err
	}); err != nil {
		return fmt.Errorf("wait for a Deployment: %w", err)
	}
	return nil
}
