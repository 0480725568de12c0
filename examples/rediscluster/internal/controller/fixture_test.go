// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package controller

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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	redisv1 "example.com/rediscluster/api/v1"
)

// The tests of this package share one cluster, whose API server logs what the operator asks for. It has two nodes,
// since one takes a thousand pods.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../config/crd/bases"),
		clustertest.Nodes(clustertest.Node{Name: "one"}, clustertest.Node{Name: "two"}))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(redisv1.AddToScheme(kinds))
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
	*RedisClusterReconciler
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
	o.RedisClusterReconciler = &RedisClusterReconciler{Client: o.seen, Scheme: mgr.GetScheme()}
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
func (o operator) pass(redis *redisv1.RedisCluster) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(redis)})
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

func (f *fixture) remove(o client.Object) {
	f.Helper()
	if err := f.user.Delete(f.Context(), o); err != nil {
		f.Fatal(err)
	}
}

// redis is a RedisCluster of the least size that its schema takes.
func (f *fixture) redis(name string) *redisv1.RedisCluster {
	return &redisv1.RedisCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec:       redisv1.RedisClusterSpec{Size: redisv1.MinSize, Addr: "0.0.0.0:6379"},
	}
}

// change changes the spec of a RedisCluster.
func (f *fixture) change(redis *redisv1.RedisCluster, change func(*redisv1.RedisClusterSpec)) {
	f.Helper()
	before := redis.DeepCopy()
	change(&redis.Spec)
	if err := f.user.Patch(f.Context(), redis, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
}

// pods returns the pods of a RedisCluster, by the labels that its users look for.
func (f *fixture) pods(redis *redisv1.RedisCluster) map[string]corev1.Pod {
	f.Helper()
	var list corev1.PodList
	labels := client.MatchingLabels{"app": "redis", "app.kubernetes.io/instance": redis.Name}
	if err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace), labels); err != nil {
		f.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		pods[pod.Name] = pod
	}
	return pods
}

// waitFor waits until the condition Available of the RedisCluster, as it is now specified, has a reason.
func (f *fixture) waitFor(redis *redisv1.RedisCluster, reason string) {
	f.Helper()
	f.eventually(redis.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(redis), redis)
		c := meta.FindStatusCondition(redis.Status.Conditions, redisv1.ConditionAvailable)
		return c != nil && c.Reason == reason && c.ObservedGeneration == redis.Generation, err
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
