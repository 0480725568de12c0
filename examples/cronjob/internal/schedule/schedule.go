// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule tells which run of a CronJob is due and when the next one is. It knows no cluster, so that
// its tests, and the fuzzing of what users write, need none.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// maxMissedStarts is how many missed runs are looked through before giving up. A wrong clock can make
// them millions, and looking through all would keep the controller busy for nothing.
const maxMissedStarts = 100

// What keeps runs from being scheduled until the CronJob itself changes.
var (
	ErrSuspended           = errors.New("spec.suspend is set")
	ErrInvalid             = errors.New("spec.schedule is invalid")
	ErrTooManyMissedStarts = fmt.Errorf("more than %d runs were missed", maxMissedStarts)
)

// A Timetable is what a schedule asks for at one moment.
type Timetable struct {
	Due  time.Time // the latest run that may still start, zero if there is none
	Next time.Time // the first run after this moment
}

// Plan works out which run is due at now and when the next one is, given that all runs up to since
// are done with. An error says what the user has to change before anything can be scheduled.
func Plan(spec *batchv1.CronJobSpec, since, now time.Time) (Timetable, error) {
	schedule, err := parse(spec.Schedule)
	if err != nil {
		return Timetable{}, fmt.Errorf("%w: %q: %w", ErrInvalid, spec.Schedule, err)
	}
	if spec.Suspend != nil && *spec.Suspend {
		return Timetable{}, ErrSuspended
	}
	since = since.UTC()
	if spec.StartingDeadlineSeconds != nil {
		since = dropLateRuns(schedule, since, deadline(now, *spec.StartingDeadlineSeconds))
	}
	return walk(schedule, since, now)
}

// Check says what is wrong with a schedule, if anything.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// parse reads the schedule. Times are in UTC, wherever the operator runs: a time zone inside the
// schedule is refused, also because the cron package panics on some ("TZ=0").
func parse(text string) (cron.Schedule, error) {
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

// deadline returns the moment just before the earliest run that may still start. Lateness counts in whole
// seconds, as schedules do: waking some milliseconds after a run's time is not late.
func deadline(now time.Time, seconds int64) time.Time {
	return time.Unix(now.Unix()-seconds, -1).UTC()
}

// dropLateRuns moves since forward to the deadline. A schedule of the kind "@every 1h" counts from the run
// before, so it moves by whole periods only.
func dropLateRuns(schedule cron.Schedule, since, deadline time.Time) time.Time {
	if !deadline.After(since) {
		return since
	}
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return since.Add(deadline.Sub(since).Truncate(every.Delay))
	}
	return deadline
}

// walk goes from run to run, from the first after since to the first after now.
func walk(schedule cron.Schedule, since, now time.Time) (Timetable, error) {
	var due time.Time
	run := schedule.Next(since)
	for missed := 1; !run.After(now); missed++ {
		if missed > maxMissedStarts {
			return Timetable{}, fmt.Errorf("%w since %s: set spec.startingDeadlineSeconds, or lower it, "+
				"so that older runs are dropped, and check the clocks",
				ErrTooManyMissedStarts, since.Format(time.RFC3339))
		}
		due, run = run, schedule.Next(run)
	}
	return Timetable{Due: due, Next: run}, nil
}
