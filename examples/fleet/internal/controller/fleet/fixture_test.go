// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	fleetv1 "example.com/fleet/api/fleet/v1"
	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
	"example.com/fleet/internal/controller/gpu"
	"example.com/fleet/internal/member"
)

// The tests of this package share the cluster in which the operator runs. Members are logical clusters of the same
// program.
var (
	kinds = runtime.NewScheme()
	hub   = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../../config/crd/bases"))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(fleetv1.AddToScheme(kinds))
	utilruntime.Must(gpuv1beta1.AddToScheme(kinds))
	hub.Main(m)
}

// A fixture is a namespace in which the operator works under its own account, and what a user does there.
type fixture struct {
	*testing.T
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's
	timing    member.Options
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := hub.Cluster(t)
	account := c.Account(t, "../../../config/rbac/role.yaml")
	return &fixture{t, account, account.Namespace, administrator(t, c.Config()), timing}
}

// administrator is a client that no limit slows down.
func administrator(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	config.QPS = -1
	user, err := client.New(config, client.Options{Scheme: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// An operator is a running manager with its reconcilers.
type operator struct {
	*ClusterReconciler
	instances *gpu.VGPUInstanceReconciler
	seen      *clustertest.Observed
	stop      func()
}

// timing is that of the tests: everything is tried soon.
var timing = member.Options{Probe: 100 * time.Millisecond, Timeout: 3 * time.Second, RetryMin: 20 * time.Millisecond, RetryMax: 500 * time.Millisecond}

// start runs the operator until it is stopped, or the test ends.
func (f *fixture) start() operator {
	f.Helper()
	changes := make(chan event.GenericEvent)
	options := f.timing
	options.Scheme, options.Kind, options.Notify = kinds, &gpuv1beta1.VGPUInstance{}, Notify(changes)
	members := member.NewFleet(options)
	all, err := mcmanager.New(f.account.Config(), members, f.options())
	if err != nil {
		f.Fatal(err)
	}
	mgr := all.GetLocalManager()
	o := operator{seen: clustertest.Observe(mgr.GetClient())}
	o.ClusterReconciler = &ClusterReconciler{Client: o.seen, Fleet: members, Changes: changes}
	o.instances = &gpu.VGPUInstanceReconciler{Manager: all, Labels: members.Labels}
	if err := o.SetupWithManager(mgr); err != nil {
		f.Fatal(err)
	}
	if err := o.instances.SetupWithManager(); err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	ended := make(chan error, 1)
	go func() { ended <- all.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	f.Cleanup(o.stop)
	return o
}

func (f *fixture) options() ctrl.Options {
	return ctrl.Options{
		Scheme: kinds,
		Cache: cache.Options{
			ByObject:          CacheOptions(),
			DefaultNamespaces: map[string]cache.Config{f.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several managers in one process
	}
}

// pass is one more look at a Cluster.
func (o operator) pass(c *fleetv1.Cluster) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		return err
	}
}

// passOver is one more look at an instance of a member.
func (o operator) passOver(c *fleetv1.Cluster, i *gpuv1beta1.VGPUInstance) func(context.Context) error {
	return func(ctx context.Context) error {
		request := mcreconcile.Request{ClusterName: nameOf(client.ObjectKeyFromObject(c))}
		request.NamespacedName = client.ObjectKeyFromObject(i)
		_, err := o.instances.Reconcile(ctx, request)
		return err
	}
}

func (f *fixture) create(objects ...client.Object) {
	f.Helper()
	create(f.T, f.user, objects...)
}

func create(t *testing.T, user client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := user.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) delete(objects ...client.Object) {
	f.Helper()
	for _, o := range objects {
		if err := f.user.Delete(f.Context(), o); err != nil {
			f.Fatal(err)
		}
	}
}

// cluster is a Cluster with a Secret of the same name.
func (f *fixture) cluster(name string) *fleetv1.Cluster {
	return &fleetv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       fleetv1.ClusterSpec{KubeconfigSecret: fleetv1.SecretKey{Name: name}},
	}
}

func (f *fixture) secret(name string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Type:       fleetv1.KubeconfigSecretType,
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
}

// join makes a Cluster for a kubeconfig.
func (f *fixture) join(name string, kubeconfig []byte) *fleetv1.Cluster {
	f.Helper()
	c := f.cluster(name)
	f.create(f.secret(name, kubeconfig), c)
	return c
}

// rotate replaces the kubeconfig of a Cluster.
func (f *fixture) rotate(c *fleetv1.Cluster, kubeconfig []byte) {
	f.Helper()
	if err := f.user.Update(f.Context(), f.secret(c.Name, kubeconfig)); err != nil {
		f.Fatal(err)
	}
}

// waitFor waits until the condition Ready of the Cluster, as it is now specified, has a reason.
func (f *fixture) waitFor(c *fleetv1.Cluster, reason string) metav1.Condition {
	f.Helper()
	var ready metav1.Condition
	f.eventually(c.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(c), c)
		if found := meta.FindStatusCondition(c.Status.Conditions, fleetv1.ConditionReady); found != nil {
			ready = *found
		}
		return ready.Reason == reason && ready.ObservedGeneration == c.Generation, err
	})
	return ready
}

// eventually looks until there is something to see.
func (f *fixture) eventually(what string, look func() (bool, error)) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) { return look() })
	if err != nil {
		f.Fatalf("still waiting: %s: %v", what, err)
	}
}
