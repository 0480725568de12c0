// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/slipway-dev/slipway/operator/clustertest"
	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	batchv1 "wzj.kubebuilder.io/project/api/v1"
)

// The tests of this package share one cluster, whose API server logs what the operator asks for.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../config/crd/bases"))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

// epoch is when the tests' time begins: a slot, far from the machine's own time.
var epoch = time.Date(2050, time.January, 1, 0, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(batchv1.AddToScheme(kinds))
	cluster.Main(m)
}

// A fixture is a namespace in which the operator works under its own account, and what a user does there. The test
// sets the operator's clock.
type fixture struct {
	*testing.T
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's
	clock     *clocktesting.FakePassiveClock
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../config/rbac/role.yaml")
	return &fixture{t, account, account.Namespace, c.Client(t), clocktesting.NewFakePassiveClock(epoch)}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*MyCronJobReconciler
	seen *clustertest.Observed
	stop func()
}

// start runs the operator by the tests' clock until it is stopped, or the test ends.
func (f *fixture) start() operator {
	f.Helper()
	return f.startBy(f.clock)
}

func (f *fixture) startBy(clock clock.PassiveClock) operator {
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
	o.MyCronJobReconciler = &MyCronJobReconciler{Client: o.seen, Scheme: mgr.GetScheme(), Clock: clock}
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
func (o operator) pass(myCronJob *batchv1.MyCronJob) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(myCronJob)})
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

func (f *fixture) delete(o client.Object) {
	f.Helper()
	if err := f.user.Delete(f.Context(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		f.Fatal(err)
	}
}

// change changes a MyCronJob as a user does.
func (f *fixture) change(myCronJob *batchv1.MyCronJob, change func(*batchv1.MyCronJobSpec)) {
	f.Helper()
	before := myCronJob.DeepCopy()
	change(&myCronJob.Spec)
	if err := f.user.Patch(f.Context(), myCronJob, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
}

// myCronJob is one whose Jobs run to their end at once.
func (f *fixture) myCronJob(name string) *batchv1.MyCronJob {
	myCronJob := &batchv1.MyCronJob{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	template := &myCronJob.Spec.JobTemplate
	template.Metadata.Labels = map[string]string{"of": name}
	template.Metadata.Annotations = map[string]string{"note": "from the template"}
	template.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "busybox:1.37"}},
	}
	return myCronJob
}

// at is the time of the operator's clock, in seconds since the epoch.
func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// runAt sets the clock, and passes until the MyCronJob's last Job is the one of the slot. Passes may fail meanwhile,
// as where the test has writes fail; the manager makes its own besides.
func (f *fixture) runAt(o operator, myCronJob *batchv1.MyCronJob, seconds int) {
	f.Helper()
	f.clock.SetTime(at(seconds))
	f.eventually(myCronJob.Name+" has run", func() (bool, error) {
		_ = o.pass(myCronJob)(f.Context())
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(myCronJob), myCronJob)
		last := myCronJob.Status.LastRunTime
		return last != nil && last.Time.Equal(slot(at(seconds))), err
	})
}

// passAt sets the clock, and passes until the condition Starting has a reason.
func (f *fixture) passAt(o operator, myCronJob *batchv1.MyCronJob, seconds int, reason string) {
	f.Helper()
	f.clock.SetTime(at(seconds))
	f.eventually(myCronJob.Name+" is "+reason, func() (bool, error) {
		_ = o.pass(myCronJob)(f.Context())
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(myCronJob), myCronJob)
		return isStarting(myCronJob, reason), err
	})
}

// waitFor waits until the condition Starting of the MyCronJob, as it is now specified, has a reason.
func (f *fixture) waitFor(myCronJob *batchv1.MyCronJob, reason string) {
	f.Helper()
	f.eventually(myCronJob.Name+" is "+reason, func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(myCronJob), myCronJob)
		return isStarting(myCronJob, reason), err
	})
}

// isStarting reports whether the condition Starting has a reason, as the MyCronJob is now specified.
func isStarting(myCronJob *batchv1.MyCronJob, reason string) bool {
	c := meta.FindStatusCondition(myCronJob.Status.Conditions, batchv1.ConditionStarting)
	return c != nil && c.Reason == reason && c.ObservedGeneration == myCronJob.Generation
}

// jobs returns the Jobs of a MyCronJob by their names.
func (f *fixture) jobs(myCronJob *batchv1.MyCronJob) ([]kbatch.Job, error) {
	var list kbatch.JobList
	err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace), client.MatchingLabels{"of": myCronJob.Name})
	return list.Items, err
}

// waitForJobs waits until the Jobs of a MyCronJob are those of these times, in seconds since the epoch, and all of
// them are finished.
func (f *fixture) waitForJobs(myCronJob *batchv1.MyCronJob, seconds ...int) {
	f.Helper()
	var want []string
	for _, s := range seconds {
		want = append(want, newJob(myCronJob, at(s)).Name)
	}
	f.eventually("the Jobs are those of the right times", func() (bool, error) {
		jobs, err := f.jobs(myCronJob)
		var got []string
		for _, job := range jobs {
			got = append(got, job.Name)
		}
		slices.Sort(got)
		return slices.Equal(got, want) && unfinished(jobs) == 0, err
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
