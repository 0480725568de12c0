// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// What comes late: the namespace, and a node. What is known until then stands in the status.
func TestLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	late := f.pipeline("late", "detect")
	late.Spec.Namespace, late.Spec.Steps[0].Location = f.namespace+"-late", "edge-c"
	f.create(late)
	f.waitFor(late, distriinferv1beta1.ReasonNamespaceMissing)
	if late.Status.Phase != distriinferv1beta1.PhaseFailed {
		t.Errorf("the phase is %s", late.Status.Phase)
	}
	f.account.AtRest(t, o.pass(late))

	f.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: late.Spec.Namespace}})
	f.eventually("the volume is bound", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(late), late)
		return late.Status.DetailPhase.PVPhase == "Bound" && late.Status.DetailPhase.PVCPhase == "Bound", err
	})
	if step := late.Status.DetailPhase.StepsPhase[0]; late.Status.Phase != distriinferv1beta1.PhaseCreating ||
		step.DeploymentPhase != distriinferv1beta1.PhaseCreating || late.Status.Ready != "0/1" {
		t.Errorf("without its node, the status is %+v", late.Status)
	}
	f.change(late, func(s *distriinferv1beta1.PipelineSpec) { s.Steps[0].Location = "edge-a" })
	f.waitFor(late, distriinferv1beta1.ReasonReady)
	f.account.AtRest(t, o.pass(late))
}

// A step that does not start in time fails, and recovers.
func TestFailed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	pipeline := f.pipeline("failed", "detect")
	pipeline.Spec.Steps[0].Location = "edge-c"
	f.create(pipeline)
	f.waitFor(pipeline, distriinferv1beta1.ReasonCreating)
	var deployment appsv1.Deployment
	f.eventually("there is a Deployment", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "detect"}, &deployment)
		return err == nil, client.IgnoreNotFound(err)
	})
	before := deployment.DeepCopy()
	deployment.Spec.ProgressDeadlineSeconds = new(int32(1))
	if err := f.user.Patch(t.Context(), &deployment, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.waitFor(pipeline, distriinferv1beta1.ReasonFailed)
	if s := pipeline.Status; s.Phase != distriinferv1beta1.PhaseFailed || s.DetailPhase.StepsPhase[0].DeploymentPhase != distriinferv1beta1.PhaseFailed {
		t.Errorf("the status is %+v", s)
	}
	f.change(pipeline, func(s *distriinferv1beta1.PipelineSpec) { s.Steps[0].Location = "edge-b" })
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
}

// Two Pipelines want one name: the second waits until the first has gone, and its other parts run.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	first, second := f.pipeline("first", "detect"), f.pipeline("second", "align", "detect")
	f.create(first)
	f.waitFor(first, distriinferv1beta1.ReasonReady)
	f.create(second)
	f.eventually("the other step runs", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(second), second)
		return second.Status.Ready == "1/2" && second.Status.DetailPhase.PVCPhase == "Bound", err
	})
	f.waitFor(second, distriinferv1beta1.ReasonNameTaken)
	want := distriinferv1beta1.StepPhase{Model: "detect", DeploymentPhase: distriinferv1beta1.PhaseNameTaken, ServicePhase: distriinferv1beta1.PhaseNameTaken}
	if got := second.Status.DetailPhase.StepsPhase[1]; got != want {
		t.Errorf("the phases are %+v", got)
	}
	f.account.AtRest(t, o.pass(second))

	f.remove(first)
	f.waitFor(second, distriinferv1beta1.ReasonReady)
	f.wantParts(second)
}

// A claim that was deleted comes back, and is bound to the volume that its predecessor had.
func TestClaimLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	pipeline := f.pipeline("lost", "detect")
	f.create(pipeline)
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	_, claim := f.storage(pipeline)
	lost := claim.UID
	f.remove(claim)
	if err := f.user.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(f.namespace)); err != nil { // the claim is protected as long as pods use it
		t.Fatal(err)
	}
	f.eventually("there is another claim", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(claim), claim)
		return err == nil && claim.UID != lost && claim.Status.Phase == corev1.ClaimBound, client.IgnoreNotFound(err)
	})
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	f.wantParts(pipeline)
}

// Each write fails once, lost or unanswered, and the Pipeline becomes ready all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		model := fmt.Sprintf("detect-%d", n)
		pipeline := f.pipeline(fmt.Sprintf("interrupted-%d", n), model, "surplus-"+model)
		f.create(pipeline)
		f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
		f.change(pipeline, func(s *distriinferv1beta1.PipelineSpec) { s.Steps = s.Steps[:1] })
		f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
		f.remove(pipeline)
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: four parts, the status a few times
// while they start, and one to spare.
const (
	many     = 200
	attempts = 12
)

// Many Pipelines at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	all := make([]*distriinferv1beta1.Pipeline, many)
	keys := make([]client.ObjectKey, many)
	for i := range all {
		all[i] = f.pipeline(fmt.Sprintf("many-%d", i), fmt.Sprintf("model-%d", i))
		keys[i] = client.ObjectKeyFromObject(all[i])
		f.create(all[i])
	}
	for _, pipeline := range all {
		f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what is refused.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	pipeline := f.pipeline("seen", "detect", "align")
	f.create(pipeline)
	f.waitFor(pipeline, distriinferv1beta1.ReasonReady)
	out, err := f.Kubectl(t, "get", "pipelines", "seen", "--output", "wide")
	for _, want := range []string{"NAME", "STEPS", "READY", "PHASE", "AGE", "DETAILPHASE", "seen", "detect", "2/2", "Running", `"pvPhase":"Bound"`} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("get prints no %s: %q, %v", want, out, err)
		}
	}
	if out, err := f.Kubectl(t, "explain", "pipeline.spec.steps.location"); err != nil || !strings.Contains(out, "the node on which the step runs") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	step := `{"model":"a","image":"i","location":"l"%s}`
	for _, test := range []struct{ spec, want string }{
		{`"namespace":"elsewhere"`, "steps do not move"},
		{`"modelStorage":{"csiParameter":{"share":"/other"}}`, "a volume's source is fixed"},
		{`"modelStorage":{"csiParameter":{"share":"models"}}`, "spec.modelStorage.csiParameter.share in body should match '^/'"},
		{`"modelStorage":{"csiParameter":{"server":null}}`, "spec.modelStorage.csiParameter.server: Required value"},
		{`"modelStorage":{"type":"cephfs"}`, `supported values: "nfs"`},
		{`"modelStorage":null`, "spec.modelStorage: Required value"},
		{`"steps":[]`, "spec.steps in body should have at least 1 items"},
		{`"steps":[` + fmt.Sprintf(step, "") + "," + fmt.Sprintf(step, "") + `]`, "spec.steps[1]: Duplicate value"},
		{`"steps":[{"model":"a","image":"i"}]`, "spec.steps[0].location: Required value"},
		{`"steps":[{"model":"a","image":"","location":"l"}]`, "spec.steps[0].image in body should be at least 1 chars long"},
		{`"steps":[{"model":"1a","image":"i","location":"l"}]`, "spec.steps[0].model in body should match"},
		{`"steps":[` + fmt.Sprintf(step, `,"args":{"listenPort":"http"}`) + `]`, "args.listenPort must be a port"},
		{`"steps":[` + fmt.Sprintf(step, `,"args":{"listenPort":"65536"}`) + `]`, "args.listenPort must be a port"},
	} {
		if _, err := f.Kubectl(t, "patch", "pipeline", "seen", "--type=merge", `--patch={"spec":{`+test.spec+`}}`); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.spec, err, test.want)
		}
	}
	system := f.pipeline("system", "a")
	system.Spec.Namespace = metav1.NamespaceSystem
	if _, err := f.Kubectl(t, "create", "--filename", f.Manifest(t, system)); err == nil || !strings.Contains(err.Error(), "the namespaces of Kubernetes itself are not for steps") {
		t.Errorf("steps in kube-system: %v", err)
	}
	if _, err := f.Kubectl(t, "create", "--filename", f.Manifest(t, f.pipeline(strings.Repeat("n", 64), "a"))); err == nil || !strings.Contains(err.Error(), "it may have 63 characters") {
		t.Errorf("a name of 64 characters: %v", err)
	}
}

// What is reported of an error is short enough for an event.
func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"why": "why", strings.Repeat("é", maxMessage): strings.Repeat("é", maxMessage/2) + "…"} {
		if got := short(errors.New(text)); got != want {
			t.Errorf("%d bytes become %d: %s", len(text), len(got), got)
		}
	}
}
