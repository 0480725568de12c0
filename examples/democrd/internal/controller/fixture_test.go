// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	examplev1 "example.com/democrd/api/v1"
	"example.com/democrd/internal/registry"
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
	utilruntime.Must(examplev1.AddToScheme(kinds))
	cluster.Main(m)
}

// A fixture is a namespace in which the operator works under its own account, and what a user does there.
type fixture struct {
	*testing.T
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's
	registry  *troubled
}

// troubled is a registry that fails while it is to.
type troubled struct {
	registry.Folder
	out atomic.Bool
}

var errOut = errors.New("the registry is out of order")

func (r *troubled) Put(ctx context.Context, owner types.UID, entry string) error {
	if r.out.Load() {
		return errOut
	}
	return r.Folder.Put(ctx, owner, entry)
}

func (r *troubled) Remove(ctx context.Context, owner types.UID) error {
	if r.out.Load() {
		return errOut
	}
	return r.Folder.Remove(ctx, owner)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../config/rbac/role.yaml")
	return &fixture{t, account, account.Namespace, c.Client(t), &troubled{Folder: registry.Folder(t.TempDir())}}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*DemoReconciler
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
	o.DemoReconciler = &DemoReconciler{Client: o.seen, Scheme: mgr.GetScheme(), Registry: f.registry}
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
func (o operator) pass(demo *examplev1.Demo) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(demo)})
		return err
	}
}

// create creates a Demo.
func (f *fixture) create(name string) *examplev1.Demo {
	f.Helper()
	demo := &examplev1.Demo{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}, Spec: examplev1.DemoSpec{Name: "test"}}
	if err := f.user.Create(f.Context(), demo); err != nil {
		f.Fatal(err)
	}
	return demo
}

// remove deletes a Demo, and does not wait until it is gone.
func (f *fixture) remove(demo *examplev1.Demo) {
	f.Helper()
	if err := f.user.Delete(f.Context(), demo); err != nil {
		f.Fatal(err)
	}
}

// waitUntilGone waits until a Demo is gone.
func (f *fixture) waitUntilGone(demo *examplev1.Demo) {
	f.Helper()
	f.eventually(demo.Name+" is gone", func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(demo), &examplev1.Demo{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// wantEntry checks the entry of a Demo outside of the cluster; empty for none.
func (f *fixture) wantEntry(demo *examplev1.Demo, want string) {
	f.Helper()
	got, err := os.ReadFile(f.entry(demo))
	if strings.TrimSpace(string(got)) != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Errorf("the entry of %s is %q, want %q: %v", demo.Name, got, want, err)
	}
}

func (f *fixture) entry(demo *examplev1.Demo) string {
	return filepath.Join(string(f.registry.Folder), string(demo.UID))
}

// kubectl runs the real kubectl in the fixture's namespace.
func (f *fixture) kubectl(args ...string) (string, error) {
	f.Helper()
	return cluster.Cluster(f.T).Kubectl(f.T, append([]string{"--namespace", f.namespace}, args...)...)
}

// waitFor waits until the condition Registered of the Demo, as it is now specified, has a reason.
func (f *fixture) waitFor(demo *examplev1.Demo, reason string) {
	f.Helper()
	f.eventually(demo.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(demo), demo)
		c := meta.FindStatusCondition(demo.Status.Conditions, examplev1.ConditionRegistered)
		return c != nil && c.Reason == reason && c.ObservedGeneration == demo.Generation, err
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
