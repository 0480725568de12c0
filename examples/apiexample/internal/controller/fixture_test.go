// Copyright 2026 The apiexample authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
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

	groupav1 "example.com/operator-demo/api/v1"
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
	utilruntime.Must(groupav1.AddToScheme(kinds))
	cluster.Main(m)
}

// A fixture is a namespace in which the operator works under its own account, what a user does there, and the
// operator's log.
type fixture struct {
	*testing.T
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's

	mu    sync.Mutex
	lines []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../config/rbac/role.yaml")
	return &fixture{T: t, account: account, namespace: account.Namespace, user: c.Client(t)}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*ApiExampleAReconciler
	seen *clustertest.Observed
	stop func()
}

// start runs the operator until it is stopped, or the test ends.
func (f *fixture) start() operator {
	f.Helper()
	mgr, err := ctrl.NewManager(f.account.Config(), ctrl.Options{
		Scheme:     kinds,
		Logger:     funcr.New(f.write, funcr.Options{}),
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{f.namespace: {}}, DefaultTransform: cache.TransformStripManagedFields()},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several managers in one process
	})
	if err != nil {
		f.Fatal(err)
	}
	o := operator{seen: clustertest.Observe(mgr.GetClient())}
	o.ApiExampleAReconciler = &ApiExampleAReconciler{Client: o.seen, Scheme: mgr.GetScheme()}
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
func (o operator) pass(example *groupav1.ApiExampleA) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(example)})
		return err
	}
}

// write keeps a line of the operator's log.
func (f *fixture) write(_, line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
}

// logged returns how many lines of the log are about an object and have a text.
func (f *fixture) logged(example *groupav1.ApiExampleA, text string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, line := range f.lines {
		if strings.Contains(line, `"name"="`+example.Name+`"`) && strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// wantLogged checks that the log has a text about an object, once.
func (f *fixture) wantLogged(example *groupav1.ApiExampleA, text string) {
	f.Helper()
	if n := f.logged(example, text); n != 1 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.Errorf("the log has %q %d times:\n%s", text, n, strings.Join(slices.Clone(f.lines), "\n"))
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

func (f *fixture) example(name, foo string) *groupav1.ApiExampleA {
	return &groupav1.ApiExampleA{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       groupav1.ApiExampleASpec{Foo: foo},
	}
}

// set changes foo as a user does, and waits until the operator has seen it.
func (f *fixture) set(example *groupav1.ApiExampleA, foo string) {
	f.Helper()
	before := example.DeepCopy()
	example.Spec.Foo = foo
	if err := f.user.Patch(f.Context(), example, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
	f.waitUntilSeen(example)
}

// waitUntilSeen waits until the status of an object is about what is now specified.
func (f *fixture) waitUntilSeen(example *groupav1.ApiExampleA) {
	f.Helper()
	f.eventually(example.Name+" is seen", func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(example), example)
		c := meta.FindStatusCondition(example.Status.Conditions, groupav1.ConditionLogged)
		return c != nil && c.ObservedGeneration == example.Generation && example.Status.Foo == example.Spec.Foo, err
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
