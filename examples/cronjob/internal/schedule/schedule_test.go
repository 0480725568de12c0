// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// epoch is the midnight at which the tests' day begins, far from the machine's own time.
var epoch = time.Date(2050, time.January, 1, 0, 0, 0, 0, time.UTC)

func TestPlan(t *testing.T) {
	const hourly = "0 * * * *"
	tests := map[string]struct {
		schedule  string
		deadline  *int64
		since     string
		now       string
		due, next string // due empty: none
	}{
		"before the first run":                {schedule: hourly, since: "10:30:00", now: "10:59:59", next: "11:00:00"},
		"at its time":                         {schedule: hourly, since: "10:30:00", now: "11:00:00", due: "11:00:00", next: "12:00:00"},
		"after its time":                      {schedule: hourly, since: "10:30:00", now: "11:20:00", due: "11:00:00", next: "12:00:00"},
		"done with":                           {schedule: hourly, since: "11:00:00", now: "11:20:00", next: "12:00:00"},
		"of several missed the latest":        {schedule: hourly, since: "10:30:00", now: "15:20:00", due: "15:00:00", next: "16:00:00"},
		"the clock was set back":              {schedule: hourly, since: "15:00:00", now: "11:20:00", next: "16:00:00"},
		"within the deadline":                 {schedule: hourly, deadline: ptr.To[int64](60), since: "10:30:00", now: "11:00:59", due: "11:00:00", next: "12:00:00"},
		"at the deadline, in the same second": {schedule: hourly, deadline: ptr.To[int64](60), since: "10:30:00", now: "11:01:00.9", due: "11:00:00", next: "12:00:00"},
		"past the deadline":                   {schedule: hourly, deadline: ptr.To[int64](60), since: "10:30:00", now: "11:01:01", next: "12:00:00"},
		"deadline of no seconds":              {schedule: hourly, deadline: ptr.To[int64](0), since: "10:30:00", now: "11:00:00.1", due: "11:00:00", next: "12:00:00"},
		"deadline without an end":             {schedule: hourly, deadline: ptr.To[int64](1<<63 - 1), since: "10:30:00", now: "11:20:00", due: "11:00:00", next: "12:00:00"},
		"deadline before the last run":        {schedule: hourly, deadline: ptr.To[int64](7200), since: "11:00:00", now: "11:20:00", next: "12:00:00"},
		"100 missed":                          {schedule: "* * * * *", since: "10:00:00", now: "11:40:00", due: "11:40:00", next: "11:41:00"},
		"the deadline drops all but a few":    {schedule: "* * * * *", deadline: ptr.To[int64](90), since: "01:00:00", now: "22:00:00", due: "22:00:00", next: "22:01:00"},
		"every hour counts from the last":     {schedule: "@every 1h", since: "10:17:00", now: "12:20:00", due: "12:17:00", next: "13:17:00"},
		"every hour keeps its phase":          {schedule: "@every 1h", deadline: ptr.To[int64](300), since: "10:17:00", now: "15:20:00", due: "15:17:00", next: "16:17:00"},
		"every hour, past the deadline":       {schedule: "@every 1h", deadline: ptr.To[int64](60), since: "10:17:00", now: "15:20:00", next: "16:17:00"},
		"a name for hourly":                   {schedule: "@hourly", since: "10:30:00", now: "11:20:00", due: "11:00:00", next: "12:00:00"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &batchv1.CronJobSpec{Schedule: tt.schedule, StartingDeadlineSeconds: tt.deadline}
			got, err := schedule.Plan(spec, at(t, tt.since), at(t, tt.now))
			if err != nil {
				t.Fatal(err)
			}
			if want := at(t, tt.due); !got.Due.Equal(want) {
				t.Errorf("due: got %v, want %v", got.Due, want)
			}
			if want := at(t, tt.next); !got.Next.Equal(want) {
				t.Errorf("next: got %v, want %v", got.Next, want)
			}
		})
	}
}

func TestPlanBlocked(t *testing.T) {
	tests := map[string]struct {
		spec batchv1.CronJobSpec
		want error
	}{
		"not a schedule":           {batchv1.CronJobSpec{Schedule: "often"}, schedule.ErrInvalid},
		"out of range":             {batchv1.CronJobSpec{Schedule: "61 * * * *"}, schedule.ErrInvalid},
		"never due":                {batchv1.CronJobSpec{Schedule: "0 0 30 2 *"}, schedule.ErrInvalid},
		"time zone":                {batchv1.CronJobSpec{Schedule: "CRON_TZ=Europe/Oslo 0 * * * *"}, schedule.ErrInvalid},
		"time zone without fields": {batchv1.CronJobSpec{Schedule: "TZ=0"}, schedule.ErrInvalid},
		"suspended":                {batchv1.CronJobSpec{Schedule: "* * * * *", Suspend: ptr.To(true)}, schedule.ErrSuspended},
		"suspended and invalid":    {batchv1.CronJobSpec{Schedule: "often", Suspend: ptr.To(true)}, schedule.ErrInvalid},
		"101 missed":               {batchv1.CronJobSpec{Schedule: "* * * * *"}, schedule.ErrTooManyMissedStarts},
		"101 missed in time": {
			batchv1.CronJobSpec{Schedule: "* * * * *", StartingDeadlineSeconds: ptr.To[int64](86400)},
			schedule.ErrTooManyMissedStarts,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := schedule.Plan(&tt.spec, at(t, "10:00:00"), at(t, "11:41:00"))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// The machine's time zone has no part in the schedule.
func TestPlanInUTC(t *testing.T) {
	west := time.FixedZone("west", -(3*3600 + 1800))
	spec := &batchv1.CronJobSpec{Schedule: "0 12 * * *"}
	got, err := schedule.Plan(spec, at(t, "10:00:00").In(west), at(t, "13:00:00").In(west))
	if err != nil {
		t.Fatal(err)
	}
	if want := at(t, "12:00:00"); !got.Due.Equal(want) {
		t.Errorf("due: got %v, want %v", got.Due, want)
	}
}

// Whatever a user writes as a schedule, planning ends, and what it says is in order.
func FuzzPlan(f *testing.F) {
	for _, text := range []string{"* * * * *", "0 0 30 2 *", "@every 90m", "TZ=0", "@weekly", "*/0 * * * *"} {
		f.Add(text, int64(3600), int64(60))
	}
	f.Fuzz(func(t *testing.T, text string, sinceSeconds, deadline int64) {
		since := epoch.Add(time.Duration(sinceSeconds%(1<<31)) * time.Second)
		spec := &batchv1.CronJobSpec{Schedule: text, StartingDeadlineSeconds: ptr.To(max(0, deadline))}
		got, err := schedule.Plan(spec, since, epoch)
		if err != nil {
			return
		}
		if !got.Next.After(epoch) {
			t.Errorf("next run %v is not after now", got.Next)
		}
		if got.Due.After(epoch) || !got.Due.IsZero() && !got.Due.After(since) {
			t.Errorf("due run %v is not between %v and now", got.Due, since)
		}
	})
}

// at returns a time of the tests' day, zero for the empty string.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	if clock == "" {
		return time.Time{}
	}
	parsed, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		t.Fatal(err)
	}
	return epoch.Add(parsed.Sub(parsed.Truncate(24 * time.Hour)))
}
