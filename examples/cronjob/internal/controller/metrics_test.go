// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// Other tests count beside these: a figure may only have grown by more.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := metric(t, "goobers_total")
	f.startRun("01:00:00", kbatch.JobComplete)
	f.startRun("02:00:00", kbatch.JobComplete)
	if got := metric(t, "goobers_total"); got < before+2 {
		t.Errorf("goobers_total is %v after two runs, was %v", got, before)
	}
}

func TestFailedRunsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) {
		spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	})
	goobers, failures := metric(t, "goobers_total"), metric(t, "goober_failures_total")
	if _, err := f.tryReconcileAt(at(t, "01:00:00")); err == nil {
		t.Fatal("a Job that is none was created")
	}
	if got := metric(t, "goober_failures_total"); got < failures+1 {
		t.Errorf("goober_failures_total is %v after a failed run, was %v", got, failures)
	}
	if got := metric(t, "goobers_total"); got < goobers+1 {
		t.Errorf("goobers_total is %v after a failed run, was %v", got, goobers)
	}
}

// metric returns the value of a counter among those that the manager serves.
func metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
