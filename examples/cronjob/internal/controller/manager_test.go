// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// The whole operator, with no more permissions than the generated role grants.
func TestManagerRunsACronJob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.SetTime(at(t, "01:00:00"))
	startManager(t, f.cronJob.Namespace, f.clock)

	f.eventually("the run is started and in the status", func() bool {
		return slices.Equal(f.runs(), []string{"01:00:00"}) && len(f.current().Status.Active) == 1
	})
	f.wantLastSchedule("01:00:00")
	f.eventually("an event says so", func() bool { return f.hasEvent("JobCreated") })

	f.finish(f.run("01:00:00"), kbatch.JobComplete)
	f.eventually("the finished Job leaves the status", func() bool {
		return len(f.current().Status.Active) == 0
	})

	f.clock.SetTime(at(t, "02:00:00"))
	f.changeSpec(func(spec *batchv1.CronJobSpec) {
		spec.SuccessfulJobsHistoryLimit = ptr.To[int32](0)
	})
	f.eventually("the next run starts, the old Job is deleted", func() bool {
		return slices.Equal(f.runs(), []string{"02:00:00"}) && len(f.current().Status.Active) == 1
	})
}

// An operator that is stopped while it deletes storage leaves the rest to the next one.
func TestManagersDeleteStorage(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	config := operatorConfig(t, f.cronJob.Namespace)
	hanging := &hangingStorage{Storage: bucket, reached: make(chan struct{}, 100)}
	stop := runManager(t, config, f.cronJob.Namespace, f.clock, hanging)
	f.eventually("the storage is claimed", func() bool {
		return controllerutil.ContainsFinalizer(f.current(), storageFinalizer)
	})
	f.deleteCronJob()
	<-hanging.reached
	stop()
	f.current()

	t.Cleanup(runManager(t, config, f.cronJob.Namespace, f.clock, bucket))
	f.wantGone()
	bucket.wantDeleted(1)
}

// hangingStorage deletes, and then does not answer until the operator stops.
type hangingStorage struct {
	Storage
	reached chan struct{}
}

func (s *hangingStorage) Delete(ctx context.Context, owner types.UID) error {
	if err := s.Storage.Delete(ctx, owner); err != nil {
		return err
	}
	s.reached <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// startManager runs the operator for one namespace until the test ends.
func startManager(t *testing.T, namespace string, clock Clock) {
	t.Helper()
	t.Cleanup(runManager(t, operatorConfig(t, namespace), namespace, clock, nil))
}

// runManager runs the operator for one namespace, and returns what stops it.
func runManager(t *testing.T, cfg *rest.Config, namespace string, clock Clock, storage Storage) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     scheme.Scheme,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // tests may be repeated
	})
	if err != nil {
		t.Fatal(err)
	}
	reconciler := &CronJobReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Clock: clock, Storage: storage}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
}

// operatorConfig returns the configuration of a user who has the operator's role in the namespace.
func operatorConfig(t *testing.T, namespace string) *rest.Config {
	t.Helper()
	k8sClient := controlPlane(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role // the rules of the ClusterRole, for one namespace
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	role.TypeMeta, role.Namespace = metav1.TypeMeta{}, namespace
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operator"}},
	}
	for _, object := range []client.Object{&role, binding} {
		if err := k8sClient.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	operator := rest.CopyConfig(testEnv.Config)
	operator.Impersonate.UserName = "operator"
	return operator
}

func (f *fixture) hasEvent(reason string) bool {
	f.Helper()
	k8sClient := controlPlane(f.T)
	var list eventsv1.EventList
	if err := k8sClient.List(f.Context(), &list, client.InNamespace(f.cronJob.Namespace)); err != nil {
		f.Fatal(err)
	}
	for _, event := range list.Items {
		if event.Reason == reason && event.Regarding.UID == f.cronJob.UID {
			return true
		}
	}
	return false
}

// eventually waits until the condition holds. The operator works beside the test, so changes are looked
// for again and again.
func (f *fixture) eventually(what string, holds func() bool) {
	f.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(5 * time.Minute)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			f.Fatalf("still waiting: %s", what)
		}
	}
}
