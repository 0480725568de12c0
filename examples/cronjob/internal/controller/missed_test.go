// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// After more than a hundred missed runs none of them starts, but the next one does.
func TestTooManyMissedStarts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(spec *batchv1.CronJobSpec) { spec.Schedule = "* * * * *" })

	if got := f.reconcileAt("01:41:05"); got.RequeueAfter != 55*time.Second {
		t.Errorf("requeue after %v, want 55s", got.RequeueAfter)
	}
	f.wantRuns()
	f.wantEvents("Warning TooManyMissedStarts")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionFalse, batchv1.ReasonTooManyMissedStarts)
	condition := meta.FindStatusCondition(f.current().Status.Conditions, batchv1.ConditionStarted)
	if !strings.Contains(condition.Message, "spec.startingDeadlineSeconds") {
		t.Errorf("no remedy is named: %s", condition.Message)
	}
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)

	before := f.current().ResourceVersion
	f.reconcileAt("01:41:06")
	f.wantEvents()
	if got := f.current().ResourceVersion; got != before {
		t.Errorf("the CronJob was written again: resource version %s, before %s", got, before)
	}

	f.reconcileAt("01:42:00")
	f.wantRuns("01:42:00")
	f.wantCondition(batchv1.ConditionStarted, metav1.ConditionTrue, batchv1.ReasonJobCreated)
}

// A new schedule does not ask for runs at times that were over when it came.
func TestChangedScheduleCountsFromItsChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startRun("01:00:00", kbatch.JobComplete)
	f.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Schedule = "*/10 * * * *" })
	f.reconcileAt("01:55:00")
	f.wantRuns("01:00:00")
	f.reconcileAt("02:00:00")
	f.wantRuns("01:00:00", "02:00:00")
	if got := f.current().Status; got.PlannedSchedule != "*/10 * * * *" || !got.PlannedSince.Time.Equal(at(t, "01:55:00")) {
		t.Errorf("planned by %s since %v", got.PlannedSchedule, got.PlannedSince)
	}
}

func TestRunOfAChangedScheduleIsMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconcileAt("00:30:00")
	f.changeSpec(func(spec *batchv1.CronJobSpec) { spec.Schedule = "45 * * * *" })
	f.reconcileAt("01:00:01")
	f.wantRuns()
	f.wantEvents("Warning ScheduleChanged")
	f.wantLastMissed("01:00:00")
}

// A clock that was ahead has started runs of times to come. They do not start again, and that is said.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startRun("05:00:00", kbatch.JobComplete)
	f.events()
	if got := f.reconcileAt("01:30:00"); got.RequeueAfter != longestSleep {
		t.Errorf("requeue after %v, want %v", got.RequeueAfter, longestSleep)
	}
	f.wantEvents("Warning ClockBehind")
	f.wantSchedulable(metav1.ConditionFalse, batchv1.ReasonClockBehind)
	f.reconcileAt("02:00:00")
	f.reconcileAt("05:00:00")
	f.wantRuns("05:00:00")
	f.wantSchedulable(metav1.ConditionTrue, batchv1.ReasonScheduled)
	f.reconcileAt("06:00:00")
	f.wantRuns("05:00:00", "06:00:00")
}
