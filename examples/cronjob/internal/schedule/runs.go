// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"sort"
	"time"

	"github.com/robfig/cron/v3"
)

// Missed are runs that did not start and never will.
type Missed struct {
	First, Last time.Time
	Count       int   // up to one more than maxMissedStarts, which stands for all larger numbers
	Why         error // one of the errors of this package
}

// String says which runs these are and why they were missed.
func (m Missed) String() string {
	first, last := m.First.Format(time.RFC3339), m.Last.Format(time.RFC3339)
	switch {
	case m.Count == 1:
		return fmt.Sprintf("The run of %s did not start: %v", last, m.Why)
	case m.Count > maxMissedStarts:
		return fmt.Sprintf("The runs from %s to %s did not start: %v", first, last, m.Why)
	default:
		return fmt.Sprintf("%d runs from %s to %s did not start: %v", m.Count, first, last, m.Why)
	}
}

// runs are the times that a schedule names after a moment, from which "@every" counts.
type runs struct {
	schedule cron.Schedule
	since    time.Time
}

// after returns the first run after a moment.
func (r runs) after(moment time.Time) time.Time {
	if moment.Before(r.since) {
		moment = r.since
	}
	if every, ok := r.schedule.(cron.ConstantDelaySchedule); ok {
		delay := int64(every.Delay / time.Second)
		periods := (moment.Unix()-r.since.Unix())/delay + 1
		return time.Unix(r.since.Unix()+periods*delay, 0).UTC()
	}
	next := r.schedule.Next(moment)
	for next.IsZero() { // the cron package looks five years ahead, and from 2096 to 2104 there is no 29 February
		moment = moment.AddDate(5, 0, 0)
		next = r.schedule.Next(moment)
	}
	return next
}

// between returns the runs after one moment, up to and including another.
func (r runs) between(moment, end time.Time) Missed {
	missed := Missed{First: r.after(moment), Last: r.last(end)}
	if missed.Last.Before(missed.First) {
		return Missed{}
	}
	for run := missed.First; !run.After(missed.Last) && missed.Count <= maxMissedStarts; run = r.after(run) {
		missed.Count++
	}
	return missed
}

// last returns the last run up to and including a moment, zero if there is none. It searches instead of going
// from run to run: a wrong clock can make them millions.
func (r runs) last(end time.Time) time.Time {
	at := func(second int) time.Time { return r.after(time.Unix(r.since.Unix()+int64(second), 0).UTC()) }
	seconds := max(0, int(end.Unix()-r.since.Unix()))
	over := sort.Search(seconds, func(second int) bool { return at(second).After(end) })
	if over == 0 {
		return time.Time{}
	}
	return at(over - 1)
}
