// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule computes which run of a CronJob is due, which ones were missed, and when the next one is. It
// knows no cluster, so that its tests, and the fuzzing of what users write, need none.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// maxMissedStarts is how many runs may be owed at once. When a wrong clock or a long outage makes them more,
// none of them starts, and the next regular run is the first again.
const maxMissedStarts = 100

// These errors say what keeps runs from being scheduled.
var (
	ErrSuspended   = errors.New("spec.suspend is set")
	ErrInvalid     = errors.New("spec.schedule is invalid")
	ErrClockBehind = errors.New("the clock is behind the last run")
)

// These errors say why runs were missed.
var (
	ErrSuperseded          = errors.New("a later run took their place")
	ErrTooLate             = errors.New("they were later than spec.startingDeadlineSeconds allows")
	ErrReplanned           = errors.New("spec.schedule has changed")
	ErrTooManyMissedStarts = fmt.Errorf("these are more than %d, so that none of them starts before the next regular run; "+
		"set spec.startingDeadlineSeconds, or lower it, so that the latest one starts, and check the clocks", maxMissedStarts)
)

// Past is what is known of the runs of a CronJob so far.
type Past struct {
	Schedule   string    // by which runs were planned last; empty if they never were
	Since      time.Time // from when runs count by that schedule
	LastRun    time.Time // the latest run that started; zero if none did
	LastMissed time.Time // the latest run that did not start and never will; zero if there is none
}

// A Timetable is what a schedule asks for at one moment.
type Timetable struct {
	Due    time.Time // the latest run that may start now, zero if there is none
	Next   time.Time // the first run after this moment, zero if none is known
	Missed Missed    // the runs that will not start any more
	Past   Past      // what to remember of all this
}

// Plan works out which run is due at now, which ones were missed, and when the next one is. An error says why
// nothing can start; the Timetable still holds what was missed and what to remember.
func Plan(spec *batchv1.CronJobSpec, past Past, now time.Time) (Timetable, error) {
	now = now.UTC()
	past = past.noLaterThan(now)
	table := Timetable{Past: past}
	if spec.Schedule != past.Schedule {
		table.replan(spec.Schedule, now)
	}
	schedule, err := parse(spec.Schedule)
	switch {
	case err != nil:
		return table, fmt.Errorf("%w: %q: %w", ErrInvalid, spec.Schedule, err)
	case spec.Suspend != nil && *spec.Suspend:
		return table, ErrSuspended
	}
	return table, table.fill(runs{schedule, table.Past.settled()}, spec.StartingDeadlineSeconds, now)
}

// Check says what is wrong with a schedule, if anything.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// replan changes to another schedule, by which runs count from now on. The runs that the old one still owes
// are missed.
func (t *Timetable) replan(text string, now time.Time) {
	known := t.Past.Schedule != ""
	if old, err := parse(t.Past.Schedule); known && err == nil {
		since := t.Past.settled()
		t.miss(runs{old, since}.between(since, now), ErrReplanned)
	}
	if known {
		t.Past.Since = now
	}
	t.Past.Schedule = text
}

// fill finds the run that is due and the one that is next.
func (t *Timetable) fill(all runs, deadline *int64, now time.Time) error {
	t.Next = all.after(now)
	if last := t.Past.LastRun; (runs{all.schedule, now}).after(now).Before(last) {
		return fmt.Errorf("%w, which was scheduled for %s: the next run is that of %s, so that none starts twice",
			ErrClockBehind, last.UTC().Format(time.RFC3339), t.Next.Format(time.RFC3339))
	}
	owed := all.between(all.since, now)
	switch inTime := all.between(earliest(deadline, all.since, now), now); {
	case owed.Count == 0:
	case inTime.Count == 0:
		t.miss(owed, ErrTooLate)
	case inTime.Count > maxMissedStarts:
		t.miss(owed, ErrTooManyMissedStarts)
	default:
		t.Due = owed.Last
		t.miss(all.between(all.since, t.Due.Add(-time.Second)), ErrSuperseded)
	}
	return nil
}

// miss notes runs that will not start any more.
func (t *Timetable) miss(missed Missed, why error) {
	if missed.Count == 0 {
		return
	}
	t.Missed, t.Missed.Why = missed, why
	t.Past.LastMissed = missed.Last
}

// settled returns the time up to which no run is owed.
func (p Past) settled() time.Time {
	return latest(p.Since, p.LastRun, p.LastMissed).UTC().Truncate(time.Second)
}

// noLaterThan takes back what a clock that was ahead has put into the future. Runs that have started cannot
// be taken back.
func (p Past) noLaterThan(now time.Time) Past {
	if p.Since.After(now) {
		p.Since = now
	}
	if p.LastMissed.After(now) {
		p.LastMissed = now.Add(-time.Second) // a run of this very moment is not missed
	}
	return p
}

// earliest returns the moment after which runs may still start. Lateness counts in whole seconds, as
// schedules do: waking some milliseconds after a run's time is not late.
func earliest(deadline *int64, since, now time.Time) time.Time {
	if deadline == nil || *deadline >= now.Unix()-since.Unix() {
		return since
	}
	return time.Unix(now.Unix()-*deadline-1, 0).UTC()
}

// parse reads the schedule. Times are in UTC, wherever the operator runs: a time zone inside the
// schedule is refused, also because the cron package panics on some ("TZ=0").
func parse(text string) (cron.Schedule, error) {
	if text == batchv1.NoSchedule {
		return nil, errors.New(`it names no time; in v2 at least one field must, and minute: "*" is every minute`)
	}
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return nil, errors.New("it names a time zone, but times are in UTC")
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return nil, err
	}
	if schedule.Next(time.Unix(0, 0).UTC()).IsZero() {
		return nil, errors.New("it never comes due")
	}
	return schedule, nil
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
