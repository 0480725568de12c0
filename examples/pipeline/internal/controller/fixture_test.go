// Copyright 2026 The pipeline authors
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
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// The tests of this package share one cluster, whose API server logs what the operator asks for. It has the locations
// of the sample. Pipelines are in no namespace: by a label, the operator of each test sees only the test's own.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../config/crd/bases"),
		clustertest.Nodes(clustertest.Node{Name: "edge-a"}, clustertest.Node{Name: "edge-b"}))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(distriinferv1beta1.AddToScheme(kinds))
	cluster.Main(m)
}

// testLabel is the namespace of a Pipeline's test.
const testLabel = "test"

// A fixture is a cluster in which the operator works under its own account, and what a user does there.
type fixture struct {
	*testing.T
	*clustertest.Cluster
	account   *clustertest.Account
	namespace string        // for steps
	user      client.Client // the administrator's
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../config/rbac/role.yaml")
	return &fixture{t, c, account, account.Namespace, c.Client(t)}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*PipelineReconciler
	seen *clustertest.Observed
	stop func()
}

// start runs the operator until it is stopped, or the test ends.
func (f *fixture) start() operator {
	f.Helper()
	own := map[client.Object]cache.ByObject{
		&distriinferv1beta1.Pipeline{}: {Label: k8slabels.SelectorFromSet(k8slabels.Set{testLabel: f.namespace})},
	}
	mgr, err := ctrl.NewManager(f.account.Config(), ctrl.Options{
		Scheme:     kinds,
		Cache:      cache.Options{ByObject: own, DefaultTransform: cache.TransformStripManagedFields()},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several managers in one process
	})
	if err != nil {
		f.Fatal(err)
	}
	o := operator{seen: clustertest.Observe(mgr.GetClient())}
	o.PipelineReconciler = &PipelineReconciler{Client: o.seen, Scheme: mgr.GetScheme()}
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
func (o operator) pass(pipeline *distriinferv1beta1.Pipeline) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(pipeline)})
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

func (f *fixture) remove(objects ...client.Object) {
	f.Helper()
	for _, o := range objects {
		if err := f.user.Delete(f.Context(), o); err != nil {
			f.Fatal(err)
		}
	}
}

// pipeline has a step for each model, in turn on the one and the other node.
func (f *fixture) pipeline(name string, models ...string) *distriinferv1beta1.Pipeline {
	p := &distriinferv1beta1.Pipeline{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{testLabel: f.namespace}},
		Spec: distriinferv1beta1.PipelineSpec{
			Namespace:    f.namespace,
			ModelStorage: distriinferv1beta1.ModelStorage{CSIParameter: distriinferv1beta1.CSIParameter{Server: "nfs.example.com", Share: "/models"}},
		},
	}
	for i, model := range models {
		p.Spec.Steps = append(p.Spec.Steps, distriinferv1beta1.Step{Model: model, Image: "example.com/step:v1", Location: []string{"edge-a", "edge-b"}[i%2]})
	}
	return p
}

// change changes a Pipeline as a user does.
func (f *fixture) change(pipeline *distriinferv1beta1.Pipeline, change func(*distriinferv1beta1.PipelineSpec)) {
	f.Helper()
	before := pipeline.DeepCopy()
	change(&pipeline.Spec)
	if err := f.user.Patch(f.Context(), pipeline, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
}

// waitFor waits until the condition Available of the Pipeline, as it is now specified, has a reason.
func (f *fixture) waitFor(pipeline *distriinferv1beta1.Pipeline, reason string) {
	f.Helper()
	f.eventually(pipeline.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(pipeline), pipeline)
		c := meta.FindStatusCondition(pipeline.Status.Conditions, distriinferv1beta1.ConditionAvailable)
		return c != nil && c.Reason == reason && c.ObservedGeneration == pipeline.Generation, err
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
