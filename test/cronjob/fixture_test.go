package cronjob

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/slipway-dev/slipway/operator/clustertest"
	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/controller"
	"tutorial.kubebuilder.io/project/internal/storage"
)

// The tests share one cluster, whose API server logs what the operator asks for. The types of v2 are left out, so that
// no webhook has to convert.
var (
	kinds   = runtime.NewScheme()
	cluster = clustertest.ForPackage(clustertest.Audited(), clustertest.Scheme(kinds), clustertest.CRDs("../../examples/cronjob/config/crd/bases"))
)

// patience bounds every wait. Nothing takes more than a few seconds on an idle machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(kinds))
	utilruntime.Must(batchv1.AddToScheme(kinds))
	cluster.Main(m)
}

// firstRun is a full hour after all objects of the tests are created.
var firstRun = time.Now().Truncate(time.Hour).Add(2 * time.Hour)

// A fixture is a namespace in which the operator works under its own account, and what a user does there.
type fixture struct {
	*testing.T
	*clustertest.Cluster
	account   *clustertest.Account
	namespace string
	user      client.Client // the administrator's
	clock     *clocktesting.FakePassiveClock
	storage   controller.Storage
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := cluster.Cluster(t)
	account := c.Account(t, "../../examples/cronjob/config/rbac/role.yaml")
	return &fixture{t, c, account, account.Namespace, c.Client(t), clocktesting.NewFakePassiveClock(time.Now()), storage.Folder(t.TempDir())}
}

// An operator is a running manager with its reconciler.
type operator struct {
	*controller.CronJobReconciler
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
	o.CronJobReconciler = &controller.CronJobReconciler{Client: o.seen, Scheme: mgr.GetScheme(), Clock: f.clock, Storage: f.storage}
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
func (o operator) pass(cronJob *batchv1.CronJob) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(cronJob)})
		return err
	}
}

func (f *fixture) create(o client.Object) {
	f.Helper()
	if err := f.user.Create(f.Context(), o); err != nil {
		f.Fatal(err)
	}
}

// remove deletes a CronJob with all that belongs to it.
func (f *fixture) remove(cronJob *batchv1.CronJob) {
	f.Helper()
	if err := f.user.Delete(f.Context(), cronJob, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		f.Fatal(err)
	}
}

// hourly is a CronJob that runs at each full hour, and whose Jobs the test itself ends.
func (f *fixture) hourly(name string) *batchv1.CronJob {
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	cronJob.Spec.Schedule, cronJob.Spec.ConcurrencyPolicy = "0 * * * *", batchv1.AllowConcurrent
	cronJob.Spec.SuccessfulJobsHistoryLimit = new(int32(0))
	cronJob.Spec.JobTemplate.Spec.ManagedBy = new("tutorial.kubebuilder.io/test")
	cronJob.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "busybox:1.37"}},
	}
	return cronJob
}

// runAt sets the clock, and passes until the run of that time has a Job, and the status says so. The manager's timers
// do not notice a clock that is set. A pass may fail, as where the test has writes fail.
func (f *fixture) runAt(o operator, cronJob *batchv1.CronJob, at time.Time) {
	f.Helper()
	f.clock.SetTime(at)
	f.eventually(cronJob.Name+" has run", func() (bool, error) {
		_ = o.pass(cronJob)(f.Context())
		return f.hasRun(cronJob, at)
	})
}

// waitUntilRun waits until the run of a time has a Job, and the status says so.
func (f *fixture) waitUntilRun(cronJob *batchv1.CronJob, at time.Time) {
	f.Helper()
	f.eventually(cronJob.Name+" has run", func() (bool, error) { return f.hasRun(cronJob, at) })
}

func (f *fixture) hasRun(cronJob *batchv1.CronJob, at time.Time) (bool, error) {
	err := f.user.Get(f.Context(), client.ObjectKeyFromObject(cronJob), cronJob)
	last := cronJob.Status.LastScheduleTime
	return last != nil && last.Time.Equal(at) && len(cronJob.Status.Active) == 1, err
}

// finish ends the active Job of a CronJob as the Job controller does, and waits until the history is trimmed.
func (f *fixture) finish(cronJob *batchv1.CronJob) {
	f.Helper()
	job := &kbatch.Job{}
	if err := f.user.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: cronJob.Status.Active[0].Name}, job); err != nil {
		f.Fatal(err)
	}
	now := metav1.Now()
	job.Status.StartTime, job.Status.CompletionTime = &now, &now
	for _, kind := range []kbatch.JobConditionType{kbatch.JobSuccessCriteriaMet, kbatch.JobComplete} {
		job.Status.Conditions = append(job.Status.Conditions, kbatch.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if err := f.user.Status().Update(f.Context(), job); err != nil {
		f.Fatal(err)
	}
	f.eventually("the Job is gone", func() (bool, error) {
		var jobs kbatch.JobList
		if err := f.user.List(f.Context(), &jobs, client.InNamespace(f.namespace)); err != nil {
			return false, err
		}
		for i := range jobs.Items {
			if metav1.IsControlledBy(&jobs.Items[i], cronJob) {
				return false, nil
			}
		}
		return true, nil
	})
	f.eventually("the status has no Job", func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(cronJob), cronJob)
		return len(cronJob.Status.Active) == 0, err
	})
}

// waitForCondition waits until a condition of a CronJob, as it is now specified, has a status.
func (f *fixture) waitForCondition(cronJob *batchv1.CronJob, kind string, status metav1.ConditionStatus) {
	f.Helper()
	f.eventually(fmt.Sprintf("%s of %s is %s", kind, cronJob.Name, status), func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(cronJob), cronJob)
		c := meta.FindStatusCondition(cronJob.Status.Conditions, kind)
		return c != nil && c.Status == status && c.ObservedGeneration == cronJob.Generation, err
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
