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
		"the clock was set back":              {schedule: hourly, since: "15:00:00", now: "11:20:00", next: "12:00:00"},
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
			got, err := schedule.Plan(spec, planned(tt.schedule, at(t, tt.since)), at(t, tt.now))
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

// Runs that will not start any more are reported once, with the reason.
func TestMissed(t *testing.T) {
	day := ptr.To[int64](86400)
	tests := map[string]struct {
		text             string
		deadline         *int64
		since, now       string
		due, first, last string
		count            int
		why              error
	}{
		"a later one is due":    {"0 * * * *", nil, "10:30:00", "14:20:00", "14:00:00", "11:00:00", "13:00:00", 3, schedule.ErrSuperseded},
		"too late":              {"0 * * * *", ptr.To[int64](60), "10:30:00", "12:20:00", "", "11:00:00", "12:00:00", 2, schedule.ErrTooLate},
		"all but one too late":  {"0 * * * *", ptr.To[int64](60), "10:30:00", "12:00:00", "12:00:00", "11:00:00", "11:00:00", 1, schedule.ErrSuperseded},
		"100":                   {"* * * * *", nil, "10:00:00", "11:40:00", "11:40:00", "10:01:00", "11:39:00", 99, schedule.ErrSuperseded},
		"101":                   {"* * * * *", nil, "10:00:00", "11:41:00", "", "10:01:00", "11:41:00", 101, schedule.ErrTooManyMissedStarts},
		"many":                  {"@every 1s", nil, "10:00:00", "23:00:00.5", "", "10:00:01", "23:00:00", 101, schedule.ErrTooManyMissedStarts},
		"many in time":          {"* * * * *", day, "10:00:00", "23:00:00", "", "10:01:00", "23:00:00", 101, schedule.ErrTooManyMissedStarts},
		"many, but few in time": {"* * * * *", ptr.To[int64](90), "01:00:00", "22:00:00", "22:00:00", "01:01:00", "21:59:00", 101, schedule.ErrSuperseded},
		"many, and all late":    {"5 * * * *", ptr.To[int64](60), "00:00:00", "23:59:00", "", "00:05:00", "23:05:00", 24, schedule.ErrTooLate},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &batchv1.CronJobSpec{Schedule: tt.text, StartingDeadlineSeconds: tt.deadline}
			got, err := schedule.Plan(spec, planned(tt.text, at(t, tt.since)), at(t, tt.now))
			if err != nil {
				t.Fatal(err)
			}
			want := schedule.Missed{First: at(t, tt.first), Last: at(t, tt.last), Count: tt.count, Why: tt.why}
			if got.Missed != want || !got.Due.Equal(at(t, tt.due)) {
				t.Errorf("got %v, due %v; want %v, due %v", got.Missed, got.Due, want, tt.due)
			}
			again, err := schedule.Plan(spec, got.Past, at(t, tt.now))
			if err != nil || again.Missed.Count > 0 || !again.Due.Equal(got.Due) || !again.Next.Equal(got.Next) {
				t.Errorf("planned again: got %v, %v, want the same without what was missed", again, err)
			}
		})
	}
}

// After a change of the schedule runs count from the moment at which the change is seen. What the old one
// still owes is missed.
func TestChangedSchedule(t *testing.T) {
	past := planned("0 * * * *", at(t, "01:00:00"))
	spec := &batchv1.CronJobSpec{Schedule: "*/5 * * * *"}
	got, err := schedule.Plan(spec, past, at(t, "03:17:30"))
	if err != nil || !got.Due.IsZero() || !got.Next.Equal(at(t, "03:20:00")) {
		t.Errorf("got %v, %v; want none that is due, and the next at 03:20", got, err)
	}
	if want := (schedule.Missed{First: at(t, "02:00:00"), Last: at(t, "03:00:00"), Count: 2, Why: schedule.ErrReplanned}); got.Missed != want {
		t.Errorf("got %v, want %v", got.Missed, want)
	}
	got, err = schedule.Plan(spec, got.Past, at(t, "03:20:00"))
	if err != nil || !got.Due.Equal(at(t, "03:20:00")) || got.Missed.Count > 0 {
		t.Errorf("got %v, %v; want the run of 03:20", got, err)
	}
}

// The first plan is no change of the schedule: nor is that of an operator that has not remembered schedules yet.
func TestFirstPlan(t *testing.T) {
	got, err := schedule.Plan(&batchv1.CronJobSpec{Schedule: "0 * * * *"}, schedule.Past{Since: at(t, "10:30:00")}, at(t, "11:00:01"))
	if err != nil || !got.Due.Equal(at(t, "11:00:00")) || got.Missed.Count > 0 || got.Past.Schedule != "0 * * * *" {
		t.Errorf("got %v, %v; want the run of 11:00", got, err)
	}
}

// A clock that was ahead and is set back: what was missed then is forgotten, what was started is not.
func TestClockIsSetBack(t *testing.T) {
	spec := &batchv1.CronJobSpec{Schedule: "0 * * * *"}
	past := planned(spec.Schedule, at(t, "15:30:00"))
	past.LastRun, past.LastMissed = at(t, "10:00:00"), at(t, "16:00:00")
	got, err := schedule.Plan(spec, past, at(t, "11:20:00"))
	if err != nil || !got.Due.IsZero() || !got.Next.Equal(at(t, "12:00:00")) {
		t.Errorf("after runs were missed: got %v, %v", got, err)
	}
	past.LastRun = at(t, "17:00:00")
	got, err = schedule.Plan(spec, past, at(t, "11:20:00"))
	if !errors.Is(err, schedule.ErrClockBehind) || !got.Due.IsZero() || !got.Next.Equal(at(t, "18:00:00")) {
		t.Errorf("after runs were started: got %v, %v", got, err)
	}
	if got, err = schedule.Plan(spec, past, at(t, "16:59:59")); err != nil || !got.Due.IsZero() || !got.Next.Equal(at(t, "18:00:00")) {
		t.Errorf("just before the last run: got %v, %v", got, err)
	}
}

func TestPlanBlocked(t *testing.T) {
	tests := map[string]struct {
		spec batchv1.CronJobSpec
		want error
	}{
		"not a schedule":           {batchv1.CronJobSpec{Schedule: "often"}, schedule.ErrInvalid},
		"none":                     {batchv1.CronJobSpec{Schedule: batchv1.NoSchedule}, schedule.ErrInvalid},
		"out of range":             {batchv1.CronJobSpec{Schedule: "61 * * * *"}, schedule.ErrInvalid},
		"never due":                {batchv1.CronJobSpec{Schedule: "0 0 30 2 *"}, schedule.ErrInvalid},
		"time zone":                {batchv1.CronJobSpec{Schedule: "CRON_TZ=Europe/Oslo 0 * * * *"}, schedule.ErrInvalid},
		"time zone without fields": {batchv1.CronJobSpec{Schedule: "TZ=0"}, schedule.ErrInvalid},
		"suspended":                {batchv1.CronJobSpec{Schedule: "* * * * *", Suspend: ptr.To(true)}, schedule.ErrSuspended},
		"suspended and invalid":    {batchv1.CronJobSpec{Schedule: "often", Suspend: ptr.To(true)}, schedule.ErrInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := schedule.Plan(&tt.spec, planned(tt.spec.Schedule, at(t, "10:00:00")), at(t, "11:41:00"))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// There is no 29 February from 2096 to 2104.
func TestLeapYears(t *testing.T) {
	spec := &batchv1.CronJobSpec{Schedule: "0 0 29 2 *"}
	since := time.Date(2096, time.March, 1, 0, 0, 0, 0, time.UTC)
	got, err := schedule.Plan(spec, planned(spec.Schedule, since), since.Add(time.Hour))
	if want := time.Date(2104, time.February, 29, 0, 0, 0, 0, time.UTC); err != nil || !got.Next.Equal(want) {
		t.Errorf("got %v, %v; want %v", got.Next, err, want)
	}
}

// The machine's time zone has no part in the schedule.
func TestPlanInUTC(t *testing.T) {
	west := time.FixedZone("west", -(3*3600 + 1800))
	spec := &batchv1.CronJobSpec{Schedule: "0 12 * * *"}
	got, err := schedule.Plan(spec, planned(spec.Schedule, at(t, "10:00:00").In(west)), at(t, "13:00:00").In(west))
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
		got, err := schedule.Plan(spec, planned(text, since), epoch)
		if err != nil {
			return
		}
		if !got.Next.After(epoch) {
			t.Errorf("next run %v is not after now", got.Next)
		}
		if got.Due.After(epoch) || !got.Due.IsZero() && !got.Due.After(since) {
			t.Errorf("due run %v is not between %v and now", got.Due, since)
		}
		if missed := got.Missed; missed.Count > 0 && (!missed.First.After(since) || missed.Last.After(epoch) || missed.Last.Before(missed.First)) {
			t.Errorf("missed runs %v are not between %v and now", missed, since)
		}
	})
}

// planned is the past of a CronJob of which all runs up to since are done with.
func planned(text string, since time.Time) schedule.Past {
	return schedule.Past{Schedule: text, Since: since}
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
