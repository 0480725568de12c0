package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// A CronJob runs, rests, and leaves nothing; the operator needs its role and nothing else.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	cronJob := f.hourly("main")
	f.create(cronJob)
	f.waitForCondition(cronJob, batchv1.ConditionStorageReady, metav1.ConditionTrue)
	f.account.AtRest(t, o.pass(cronJob))
	f.runAt(o, cronJob, firstRun)
	f.account.AtRest(t, o.pass(cronJob))
	f.finish(cronJob)
	f.runAt(o, cronJob, firstRun.Add(time.Hour))
	f.account.AtRest(t, o.pass(cronJob))

	f.remove(cronJob)
	f.WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not. An event is changed when it
	// comes again within minutes, which none of these does.
	f.account.LeastPermissions(t, "update cronjobs/finalizers.batch.tutorial.kubebuilder.io", "patch events.events.k8s.io")
}

// Each write fails once, lost or unanswered: there is one Job for each run all the same, and its end leaves nothing.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		f.clock.SetTime(time.Now())
		cronJob := f.hourly(fmt.Sprintf("interrupted-%d", n))
		f.create(cronJob)
		f.runAt(o, cronJob, firstRun)
		f.finish(cronJob)
		f.remove(cronJob)
		f.WaitForEmpty(t, f.namespace)
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: the finalizer, the Job, the status
// before and after that, and one to spare.
const (
	many     = 200
	attempts = 5
)

// Many CronJobs whose run is due at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	f.clock.SetTime(firstRun)
	o := f.start()
	cronJobs := make([]*batchv1.CronJob, many)
	keys := make([]client.ObjectKey, many)
	for i := range cronJobs {
		cronJobs[i] = f.hourly(fmt.Sprintf("many-%d", i))
		keys[i] = client.ObjectKeyFromObject(cronJobs[i])
		f.create(cronJobs[i])
	}
	for _, cronJob := range cronJobs {
		f.waitUntilRun(cronJob, firstRun)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what the schema refuses.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	cronJob := f.hourly("seen")
	f.create(cronJob)
	f.waitForCondition(cronJob, batchv1.ConditionSchedulable, metav1.ConditionTrue)
	const resource = "cronjobs.v1.batch.tutorial.kubebuilder.io"
	out, err := f.Kubectl(t, "get", resource, "--namespace", f.namespace)
	want := []string{"NAME", "SCHEDULE", "SUSPEND", "SCHEDULABLE", "LAST", "SCHEDULE", "AGE", "seen", "0", "*", "*", "*", "*"}
	if words := strings.Fields(out); err != nil || len(words) < len(want) || !slices.Equal(words[:len(want)], want) {
		t.Errorf("get prints %q, %v", out, err)
	}
	out, err = f.Kubectl(t, "explain", "cronjob.spec.concurrencyPolicy", "--api-version=batch.tutorial.kubebuilder.io/v1")
	if err != nil || !strings.Contains(out, "ENUM:\n    Allow\n    Forbid\n    Replace") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"concurrencyPolicy":"Maybe"}}`, `supported values: "Allow", "Forbid", "Replace"`},
		{`{"spec":{"startingDeadlineSeconds":-1}}`, "spec.startingDeadlineSeconds in body should be greater than or equal to 0"},
		{`{"spec":{"successfulJobsHistoryLimit":-1}}`, "spec.successfulJobsHistoryLimit in body should be greater than or equal to 0"},
		{`{"spec":{"jobTemplate":null}}`, "spec.jobTemplate: Required value"},
	} {
		_, err := f.Kubectl(t, "patch", resource, "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
}
