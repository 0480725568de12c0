// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// The tests of this package share one cluster, whose API server logs what the operator asks for.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../config/crd/bases"))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(ingressv1beta1.AddToScheme(kinds))
	cluster.Main(m)
}

// A fixture is a namespace in which the operator works under its own account, and what a user does there.
type fixture struct {
	*testing.T
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../config/rbac/role.yaml")
	return &fixture{t, account, account.Namespace, c.Client(t)}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*AppReconciler
	seen *clustertest.Observed
	stop func()
}

// start runs the operator until it is stopped, or the test ends.
func (f *fixture) start() operator {
	f.Helper()
	mgr, err := ctrl.NewManager(f.account.Config(), ctrl.Options{
		Scheme:     kinds,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{f.namespace: {}}, DefaultTransform: cache.TransformStripManagedFields()},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several managers in one process
	})
	if err != nil {
		f.Fatal(err)
	}
	o := operator{seen: clustertest.Observe(mgr.GetClient())}
	o.AppReconciler = &AppReconciler{Client: o.seen, Scheme: mgr.GetScheme()}
	if err := o.SetupWithManager(mgr); err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	f.Cleanup(o.stop)
	return o
}

// pass is one more look at an object.
func (o operator) pass(app *ingressv1beta1.App) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(app)})
		return err
	}
}

func (f *fixture) create(objects ...client.Object) {
	f.Helper()
	for _, o := range objects {
		if err := f.user.Create(f.Context(), o); err != nil {
			f.Fatal(err)
		}
	}
}

// app is one with all parts.
func (f *fixture) app(name string, replicas int32) *ingressv1beta1.App {
	return &ingressv1beta1.App{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       ingressv1beta1.AppSpec{Image: "nginx:1.29", Replicas: replicas, EnableService: true},
	}
}

// change changes an App as a user does, and waits until it is ready as it is specified then.
func (f *fixture) change(app *ingressv1beta1.App, change func(*ingressv1beta1.AppSpec)) {
	f.Helper()
	before := app.DeepCopy()
	change(&app.Spec)
	if err := f.user.Patch(f.Context(), app, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
	f.waitFor(app, ingressv1beta1.ReasonReady)
}

// waitFor waits until the condition Available of the App, as it is now specified, has a reason.
func (f *fixture) waitFor(app *ingressv1beta1.App, reason string) {
	f.Helper()
	f.eventually(app.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(app), app)
		c := meta.FindStatusCondition(app.Status.Conditions, ingressv1beta1.ConditionAvailable)
		return c != nil && c.Reason == reason && c.ObservedGeneration == app.Generation, err
	})
}

// eventually looks until there is something to see.
func (f *fixture) eventually(what string, look func() (bool, error)) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) { return look() })
	if err != nil {
		f.Fatalf("still waiting: %s: %v", what, err)
	}
}
