// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

func TestScheduleAsV2(t *testing.T) {
	for text, want := range map[string]struct {
		schedule  CronSchedule
		annotated bool
	}{
		"*/1 * * * *":          {schedule: CronSchedule{Minute: field("*/1")}},
		"* * * * *":            {schedule: CronSchedule{Minute: field("*")}},
		"0 12 1,15 jan mon":    {schedule: CronSchedule{field("0"), field("12"), field("1,15"), field("jan"), field("mon")}},
		"0  12 * * *":          {schedule: CronSchedule{Minute: field("0"), Hour: field("12")}, annotated: true},
		"@hourly":              {schedule: CronSchedule{Minute: field("0")}, annotated: true},
		"@Weekly":              {schedule: CronSchedule{Minute: field("0"), Hour: field("0"), DayOfWeek: field("0")}, annotated: true},
		"@every 90s":           {annotated: true},
		"nothing of the kind!": {annotated: true},
		"":                     {annotated: true},
	} {
		v1, v2, back := v1With(text), &CronJob{}, &batchv1.CronJob{}
		convert(t, v2.ConvertFrom(v1), v2.ConvertTo(back))
		if !reflect.DeepEqual(v2.Spec.Schedule, want.schedule) {
			t.Errorf("%q: got %s, want %s", text, v2.Spec.Schedule.encode(), want.schedule.encode())
		}
		if got, ok := v2.Annotations[V1ScheduleAnnotation]; ok != want.annotated || ok && got != text {
			t.Errorf("%q: annotations %v, want it in them: %v", text, v2.Annotations, want.annotated)
		}
		if back.Spec.Schedule != text || len(back.Annotations) > 0 {
			t.Errorf("%q comes back as %q with %v", text, back.Spec.Schedule, back.Annotations)
		}
	}
}

// What v2 says in more than one way comes back as it was said.
func TestScheduleOfV2ComesBack(t *testing.T) {
	for _, schedule := range []CronSchedule{
		{},
		{Minute: field("*")},
		{Hour: field("*"), DayOfWeek: field("*/2")},
		{field("*"), field("*"), field("*"), field("*"), field("*")},
		{Minute: field("1 2")},                     // refused by the schema, but conversion does not lose it
		{Minute: field("")},                        // likewise
		{Minute: field("@every"), Hour: field("")}, // likewise
	} {
		v1, back := &batchv1.CronJob{}, &CronJob{}
		v2 := &CronJob{Spec: CronJobSpec{Schedule: schedule}}
		convert(t, v2.ConvertTo(v1), back.ConvertFrom(v1))
		if !reflect.DeepEqual(back.Spec.Schedule, schedule) || len(back.Annotations) > 0 {
			t.Errorf("%s comes back as %s with %v", schedule.encode(), back.Spec.Schedule.encode(), back.Annotations)
		}
	}
}

// An annotation is no longer true when the schedule beside it was changed.
func TestChangedScheduleCounts(t *testing.T) {
	v1, v2 := v1With("@every 90s"), &CronJob{}
	convert(t, v2.ConvertFrom(v1))
	v2.Spec.Schedule.Minute = field("30")
	convert(t, v2.ConvertTo(v1))
	if v1.Spec.Schedule != "30 * * * *" || len(v1.Annotations) > 0 {
		t.Errorf("changed as v2: got %q with %v", v1.Spec.Schedule, v1.Annotations)
	}

	v2 = &CronJob{Spec: CronJobSpec{Schedule: CronSchedule{Hour: field("*")}}}
	convert(t, v2.ConvertTo(v1))
	if v1.Annotations[V2ScheduleAnnotation] == "" {
		t.Errorf("the star is not kept: %v", v1.Annotations)
	}
	v1.Spec.Schedule = "0 12 * * *"
	convert(t, v2.ConvertFrom(v1))
	want := CronSchedule{Minute: field("0"), Hour: field("12")}
	if !reflect.DeepEqual(v2.Spec.Schedule, want) || len(v2.Annotations) > 0 {
		t.Errorf("changed as v1: got %s with %v", v2.Spec.Schedule.encode(), v2.Annotations)
	}
}

// A schedule that was lost on its way never means every minute.
func TestLostScheduleNeverComesDue(t *testing.T) {
	v1, v2 := v1With("@every 90s"), &CronJob{}
	convert(t, v2.ConvertFrom(v1))
	for name, annotations := range map[string]map[string]string{
		"without its annotation":       nil,
		"with the annotation of hours": {V1ScheduleAnnotation: "@hourly"},
		"with one of v1's":             {V2ScheduleAnnotation: `{"minute":"0"}`},
	} {
		lost := v2.DeepCopy()
		lost.Annotations = annotations
		back, again := &batchv1.CronJob{}, &CronJob{}
		convert(t, lost.ConvertTo(back), again.ConvertFrom(back))
		if back.Spec.Schedule != batchv1.NoSchedule {
			t.Errorf("%s: got %q, want %q", name, back.Spec.Schedule, batchv1.NoSchedule)
		}
		if !reflect.DeepEqual(again.Spec.Schedule, lost.Spec.Schedule) || len(again.Annotations) > 0 {
			t.Errorf("%s: comes back as %s with %v", name, again.Spec.Schedule.encode(), again.Annotations)
		}
	}
}

// Conversion works on copies: the API machinery may share what it is given.
func TestConversionLeavesItsSourceAlone(t *testing.T) {
	v1 := v1With("@hourly")
	v1.Annotations = map[string]string{"mine": "stays"}
	v2 := &CronJob{}
	convert(t, v2.ConvertFrom(v1))
	if len(v1.Annotations) != 1 || len(v2.Annotations) != 2 || v2.Annotations["mine"] != "stays" {
		t.Errorf("v1 has %v now, v2 %v", v1.Annotations, v2.Annotations)
	}
}

// FuzzSchedule: whatever text v1 holds comes back from v2.
func FuzzSchedule(f *testing.F) {
	for _, text := range []string{"0 12 * * *", "@every 1h", "@hourly", "* * * * * *", "\t", "* *  * * *"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v1, v2, back := v1With(text), &CronJob{}, &batchv1.CronJob{}
		convert(t, v2.ConvertFrom(v1), v2.ConvertTo(back))
		if back.Spec.Schedule != text || len(back.Annotations) > 0 {
			t.Errorf("%q comes back as %q with %v", text, back.Spec.Schedule, back.Annotations)
		}
	})
}

// FuzzScheduleOfV2: whatever fields v2 holds come back from v1.
func FuzzScheduleOfV2(f *testing.F) {
	f.Add("0", "*", "", "x y", "\xff", uint8(0b10110))
	f.Fuzz(func(t *testing.T, minute, hour, day, month, weekday string, left uint8) {
		v1, back, v2 := &batchv1.CronJob{}, &CronJob{}, &CronJob{}
		for i, value := range []string{minute, hour, day, month, weekday} {
			if left&(1<<i) == 0 {
				*v2.Spec.Schedule.list()[i] = field(CronField(strings.ToValidUTF8(value, "?"))) // as all that comes by JSON
			}
		}
		convert(t, v2.ConvertTo(v1), back.ConvertFrom(v1))
		if !reflect.DeepEqual(back.Spec.Schedule, v2.Spec.Schedule) || len(back.Annotations) > 0 {
			t.Errorf("%s comes back as %s with %v", v2.Spec.Schedule.encode(), back.Spec.Schedule.encode(), back.Annotations)
		}
	})
}

func v1With(schedule string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "test"},
		Spec:       batchv1.CronJobSpec{Schedule: schedule},
	}
}

func field(value CronField) *CronField { return &value }

func convert(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
