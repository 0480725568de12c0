// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"testing"
	"time"

	kadmission "k8s.io/api/admissionregistration/v1"
	kbatch "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/storage"
)

var (
	seed   = flag.Int64("seed", 1, "seed of the first simulated month")
	months = flag.Int("months", 1, "how many months are simulated")
)

// Left alone for a month, an operator on a real API server meets edits, denials of an admission policy, writes that are
// lost or unanswered, kills between any two of them, storage that fails, foreign Jobs, and days of outage. It starts no
// run twice, and whenever all is well again the next regular run comes.
func TestMonth(t *testing.T) {
	for i := range *months {
		t.Run(fmt.Sprintf("seed %d", *seed+int64(i)), func(t *testing.T) {
			t.Parallel()
			m := newMonth(t, *seed+int64(i))
			for end, day := epoch.AddDate(0, 1, 0), epoch; m.clock.Now().Before(end); {
				m.step()
				if m.clock.Now().Sub(day) > 24*time.Hour {
					day = m.clock.Now()
					m.calm()
				}
			}
			t.Logf("%d passes, %d of them failed, %d runs", m.passes, m.failed, len(m.api.started))
		})
	}
}

// month is a CronJob, the world in which its operator works, and what happened.
type month struct {
	*fixture
	random         *rand.Rand
	api            *badAPI
	storage        *badStorage
	passes, failed int
}

func newMonth(t *testing.T, seed int64) *month {
	t.Helper()
	k8sClient := controlPlane(t)
	f := newFixture(t)
	t.Cleanup(f.letGo)
	m := &month{fixture: f, random: rand.New(rand.NewSource(seed)), storage: &badStorage{Storage: storage.Folder(t.TempDir())}}
	m.api = &badAPI{Client: k8sClient, random: m.random, started: map[string]int{}}
	f.Client, f.Storage = m.api, m.storage
	m.denyMarked()
	return m
}

// deniedLabel marks the Jobs that a policy of the cluster denies.
const deniedLabel = "denied"

// denyMarked has the API server deny the creation of marked Jobs in the CronJob's namespace.
func (m *month) denyMarked() {
	m.Helper()
	k8sClient := controlPlane(m.T)
	name := metav1.ObjectMeta{Name: m.cronJob.Namespace + ".tutorial.kubebuilder.io"}
	for _, object := range []client.Object{
		&kadmission.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: kadmission.ValidatingAdmissionPolicySpec{
			MatchConstraints: &kadmission.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": m.cronJob.Namespace}},
				ResourceRules: []kadmission.NamedRuleWithOperations{{RuleWithOperations: kadmission.RuleWithOperations{
					Operations: []kadmission.OperationType{kadmission.Create},
					Rule:       kadmission.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
				}}},
			},
			Validations: []kadmission.Validation{{Expression: "!has(object.metadata.labels) || !('" + deniedLabel + "' in object.metadata.labels)"}},
		}},
		&kadmission.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: kadmission.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name.Name, ValidationActions: []kadmission.ValidationAction{kadmission.Deny},
		}},
	} {
		if err := k8sClient.Create(m.Context(), object); err != nil {
			m.Fatal(err)
		}
		m.Cleanup(func() {
			if err := k8sClient.Delete(context.Background(), object); err != nil {
				m.Error(err)
			}
		})
	}
	job := m.jobOwnedBy(nil, "00:00:00")
	job.Labels = map[string]string{deniedLabel: "true"}
	m.eventually("the policy is in force", func() bool {
		return apierrors.IsInvalid(k8sClient.Create(m.Context(), job.DeepCopy(), client.DryRunAll))
	})
}

// step lets something happen, some time pass, and the operator look once.
func (m *month) step() {
	m.Helper()
	if m.random.Intn(3) == 0 {
		m.disturb()
	}
	m.finishSome()
	m.clock.SetTime(m.clock.Now().Add(time.Duration(1+m.random.Intn(60)) * time.Minute))
	m.pass()
}

// pass is one pass of the operator. A pass that met no trouble must not fail.
func (m *month) pass() time.Duration {
	m.Helper()
	m.api.revive()
	result, err := m.tryReconcileAt(m.clock.Now())
	m.passes++
	for len(m.recorder.Events) > 0 {
		<-m.recorder.Events
	}
	if err == nil {
		m.wantTruth()
		return result.RequeueAfter
	}
	m.failed++
	if errors.Is(err, reconcile.TerminalError(nil)) {
		m.Fatalf("at %s: the operator gives up: %v", m.clock.Now(), err)
	}
	if !errors.Is(err, errTrouble) && !m.api.troubled {
		m.Fatalf("at %s: %v", m.clock.Now(), err)
	}
	return 0
}

// disturb does what users, clusters and clouds do.
func (m *month) disturb() {
	m.Helper()
	switch m.random.Intn(9) {
	case 0:
		m.changeSpec(func(spec *batchv1.CronJobSpec) {
			spec.Schedule = []string{"0 * * * *", "*/30 * * * *", "15 */6 * * *", "@every 45m", "often"}[m.random.Intn(5)]
		})
	case 1:
		m.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Suspend = ptr.To(m.random.Intn(2) == 0) })
	case 2:
		policies := []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}
		m.changeSpec(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = policies[m.random.Intn(3)] })
	case 3:
		m.changeSpec(func(spec *batchv1.CronJobSpec) {
			spec.StartingDeadlineSeconds = []*int64{nil, ptr.To[int64](600), ptr.To[int64](86400)}[m.random.Intn(3)]
			spec.SuccessfulJobsHistoryLimit = ptr.To(int32(m.random.Intn(4)))
			spec.FailedJobsHistoryLimit = ptr.To(int32(m.random.Intn(2)))
		})
	case 4:
		m.api.denied = m.random.Intn(10)
	case 5:
		m.api.faults = m.random.Intn(10)
	case 6:
		m.storage.failing = m.random.Intn(5)
	case 7:
		m.takeName()
	case 8:
		m.clock.SetTime(m.clock.Now().Add(time.Duration(m.random.Intn(36)) * time.Hour)) // nothing runs meanwhile
	}
}

// finishSome has some Jobs end, and users delete some whose run the status remembers. (One that it does not remember
// would start again: the gap that the README names.)
func (m *month) finishSome() {
	m.Helper()
	last := timeOf(m.current().Status.LastScheduleTime)
	for _, job := range m.jobs() {
		if !metav1.IsControlledBy(&job, m.cronJob) || job.DeletionTimestamp != nil {
			continue
		}
		switch n := m.random.Intn(12); {
		case n < 6 && !hasCondition(&job, kbatch.JobComplete) && !hasCondition(&job, kbatch.JobFailed):
			m.finish(&job, []kbatch.JobConditionType{kbatch.JobComplete, kbatch.JobFailed}[n%2])
		case n == 6 && !scheduledAt(&job).After(last):
			m.delete(&job)
		}
	}
}

// takeName makes a Job of the next full hour's name that is not the CronJob's.
func (m *month) takeName() {
	m.Helper()
	k8sClient := controlPlane(m.T)
	next := m.clock.Now().Truncate(time.Hour).Add(time.Hour)
	job := m.jobOwnedBy(nil, "00:00:00")
	job.Name = m.cronJob.Name + nameEnding(next)
	if err := k8sClient.Create(m.Context(), job); client.IgnoreAlreadyExists(err) != nil {
		m.Fatal(err)
	}
}

func (m *month) jobs() []kbatch.Job {
	m.Helper()
	k8sClient := controlPlane(m.T)
	var jobs kbatch.JobList
	if err := k8sClient.List(m.Context(), &jobs, client.InNamespace(m.cronJob.Namespace)); err != nil {
		m.Fatal(err)
	}
	return jobs.Items
}

func (m *month) delete(job *kbatch.Job) {
	m.Helper()
	k8sClient := controlPlane(m.T)
	err := k8sClient.Delete(m.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		m.Fatal(err)
	}
}

// calm ends all trouble. Then the operator is at peace, says so, and the next regular run comes.
func (m *month) calm() {
	m.Helper()
	m.api.denied, m.api.faults, m.storage.failing = 0, 0, 0
	m.changeSpec(func(spec *batchv1.CronJobSpec) {
		spec.Suspend = nil
		if spec.Schedule == "often" {
			spec.Schedule = "0 * * * *"
		}
	})
	for _, job := range m.jobs() {
		switch {
		case !metav1.IsControlledBy(&job, m.cronJob):
			m.delete(&job)
		case !hasCondition(&job, kbatch.JobComplete) && !hasCondition(&job, kbatch.JobFailed):
			m.finish(&job, kbatch.JobComplete)
		}
	}
	m.pass()
	for _, job := range m.jobs() { // the run that was due
		if !hasCondition(&job, kbatch.JobComplete) && !hasCondition(&job, kbatch.JobFailed) {
			m.finish(&job, kbatch.JobComplete)
		}
	}
	m.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)
	m.wantNextRun()
}

// wantNextRun sleeps as the operator asks to, until a run starts. That is the one of the time at which it wakes up.
func (m *month) wantNextRun() {
	m.Helper()
	before := len(m.api.started)
	for wait := m.pass(); len(m.api.started) == before; wait = m.pass() {
		if wait == 0 {
			m.Fatalf("at %s: all is well, and the operator never wakes up again: %+v", m.clock.Now(), m.current().Status.Conditions)
		}
		m.clock.SetTime(m.clock.Now().Add(wait))
	}
	if name := m.cronJob.Name + nameEnding(m.clock.Now()); m.api.started[name] != 1 {
		m.Fatalf("at %s: the regular run did not start", m.clock.Now())
	}
	m.wantCondition(batchv1.ConditionStarted, metav1.ConditionTrue, batchv1.ReasonJobCreated)
	m.wantTrimmed()
}

// wantTrimmed checks the history: what finished before the last pass is within the limits.
func (m *month) wantTrimmed() {
	m.Helper()
	var items []kbatch.Job
	for _, job := range m.jobs() {
		if metav1.IsControlledBy(&job, m.cronJob) && job.DeletionTimestamp == nil {
			items = append(items, job)
		}
	}
	history, spec := classify(items), m.current().Spec
	for limit, jobs := range map[*int32][]*kbatch.Job{spec.SuccessfulJobsHistoryLimit: history.succeeded, spec.FailedJobsHistoryLimit: history.failed} {
		if limit != nil && len(jobs) > int(*limit) {
			m.Errorf("at %s: %d finished Jobs are kept, the limit is %d", m.clock.Now(), len(jobs), *limit)
		}
	}
}

// wantTruth checks after a pass without trouble that Schedulable is what the spec asks for, and that the status claims
// no run that did not start.
func (m *month) wantTruth() {
	m.Helper()
	now := m.current()
	got := meta.FindStatusCondition(now.Status.Conditions, batchv1.ConditionSchedulable)
	want := batchv1.ReasonScheduled
	switch {
	case now.Spec.Schedule == "often":
		want = batchv1.ReasonInvalidSchedule
	case ptr.Deref(now.Spec.Suspend, false):
		want = batchv1.ReasonSuspended
	}
	if got == nil || got.Reason != want || got.ObservedGeneration != now.Generation {
		m.Fatalf("at %s: Schedulable is %+v, want %s", m.clock.Now(), got, want)
	}
	if last := timeOf(now.Status.LastScheduleTime); last.After(epoch) && m.api.started[m.cronJob.Name+nameEnding(last)] == 0 {
		m.Fatalf("at %s: the status claims the run of %s, which did not start", m.clock.Now(), last)
	}
}

// errTrouble is what the world's trouble looks like.
var errTrouble = errors.New("this is the trouble of a simulated month")

// badAPI is a client to an API server that denies Jobs for a while, and to which the connection is bad for a while. It
// notes which Jobs it created.
type badAPI struct {
	client.Client
	random         *rand.Rand
	denied, faults int  // for how many more Jobs, for how many more writes
	killed         bool // all later requests of this pass fail
	troubled       bool // this pass met trouble
	started        map[string]int
}

// revive begins a pass, of a new operator if the last one was killed.
func (c *badAPI) revive() { c.killed, c.troubled = false, false }

// write does a write, or fails: before, after it took effect, or with the end of the operator.
func (c *badAPI) write(do func() error) error {
	if c.killed {
		return c.fail()
	}
	if c.faults == 0 || c.random.Intn(2) == 0 {
		return do()
	}
	c.faults--
	how := c.random.Intn(4)
	c.killed = how < 2
	if how%2 == 0 {
		return c.fail()
	}
	return errors.Join(do(), c.fail())
}

func (c *badAPI) fail() error {
	c.troubled = true
	return errTrouble
}

// Create implements [client.Writer].
func (c *badAPI) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	return c.write(func() error {
		if c.denied > 0 {
			c.denied--
			c.troubled = true
			o.SetLabels(map[string]string{deniedLabel: "true"})
			if err := c.Client.Create(ctx, o, options...); err != nil {
				return err
			}
			panic("the policy denies no Job")
		}
		err := c.Client.Create(ctx, o, options...)
		if err == nil {
			c.started[o.GetName()]++
			if c.started[o.GetName()] > 1 {
				panic(fmt.Sprintf("the run of Job %s starts twice", o.GetName()))
			}
		}
		return err
	})
}

// Delete implements [client.Writer].
func (c *badAPI) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return c.write(func() error { return c.Client.Delete(ctx, o, options...) })
}

// Patch implements [client.Writer].
func (c *badAPI) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return c.write(func() error { return c.Client.Patch(ctx, o, patch, options...) })
}

// Status implements [client.StatusClient].
func (c *badAPI) Status() client.SubResourceWriter { return badStatus{c.Client.Status(), c} }

type badStatus struct {
	client.SubResourceWriter
	api *badAPI
}

// Patch implements [client.SubResourceWriter].
func (s badStatus) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.api.write(func() error { return s.SubResourceWriter.Patch(ctx, o, patch, options...) })
}

// badStorage fails for a while.
type badStorage struct {
	Storage
	failing int
}

// Create implements [Storage].
func (s *badStorage) Create(ctx context.Context, owner types.UID) error {
	if s.failing > 0 {
		s.failing--
		return errTrouble
	}
	return s.Storage.Create(ctx, owner)
}
