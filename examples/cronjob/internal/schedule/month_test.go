// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"errors"
	"flag"
	"math/rand"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/utils/ptr"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

var seed = flag.Int64("seed", 1, "seed of the first simulated month")

// Left alone for a month of random edits, suspensions, denials, outages and clocks that are set, a CronJob
// starts no run twice, reports each that does not start, and goes on when all is well again.
func TestMonths(t *testing.T) {
	for i := range int64(50) {
		m := &month{T: t, seed: *seed + i, random: rand.New(rand.NewSource(*seed + i)), now: epoch, started: map[time.Time]bool{}}
		m.spec.Schedule, m.past.Since = "0 * * * *", epoch
		for end := epoch.AddDate(0, 1, 0); m.now.Before(end); m.now = m.now.Add(5 * time.Minute) {
			m.disturb()
			m.pass()
		}
		m.calm()
	}
}

// month is a CronJob, what its status remembers, and what happened to it.
type month struct {
	*testing.T
	seed         int64
	random       *rand.Rand
	spec         batchv1.CronJobSpec
	past         schedule.Past
	now          time.Time
	down, denied int // for how many passes
	started      map[time.Time]bool
	missed       []schedule.Missed
}

// disturb does something to the CronJob, twice a day.
func (m *month) disturb() {
	m.down, m.denied = max(0, m.down-1), max(0, m.denied-1)
	if m.random.Intn(144) > 0 {
		return
	}
	switch m.random.Intn(6) {
	case 0:
		m.spec.Schedule = []string{"0 * * * *", "*/5 * * * *", "*/30 * * * *", "15 */6 * * *", "@hourly", "often"}[m.random.Intn(6)]
	case 1:
		m.spec.Suspend = ptr.To(m.random.Intn(2) == 0)
	case 2:
		m.spec.StartingDeadlineSeconds = []*int64{nil, ptr.To[int64](60), ptr.To[int64](86400)}[m.random.Intn(3)]
	case 3:
		m.down = m.random.Intn(600)
	case 4:
		m.denied = m.random.Intn(150)
	case 5:
		m.now = m.now.Add(time.Duration(m.random.Intn(72)-36) * 5 * time.Minute)
	}
}

// pass does what the reconciler does, unless the operator is down.
func (m *month) pass() {
	if m.down > 0 {
		return
	}
	table, err := schedule.Plan(&m.spec, m.past, m.now)
	if table.Missed.Count > 0 {
		m.missed = append(m.missed, table.Missed)
	}
	m.past = table.Past
	if errors.Is(err, schedule.ErrClockBehind) { // which is reported as such
		m.missed = append(m.missed, schedule.Missed{First: m.now, Last: m.past.LastRun})
	}
	if err == nil && !table.Due.IsZero() && m.denied == 0 {
		if m.started[table.Due] {
			m.Fatalf("-seed %d: the run of %s starts twice", m.seed, table.Due)
		}
		m.started[table.Due], m.past.LastRun = true, table.Due
	}
	m.account()
}

// account looks for runs of the last two hours that are done with, but neither started nor reported.
func (m *month) account() {
	times, err := cron.ParseStandard(m.past.Schedule)
	if err != nil {
		return
	}
	from, until := m.now.Add(-2*time.Hour), m.past.LastRun
	if m.past.Since.After(from) {
		from = m.past.Since
	}
	if m.past.LastMissed.After(until) {
		until = m.past.LastMissed
	}
	for run := times.Next(from); !run.After(until) && !run.After(m.now); run = times.Next(run) {
		if !m.started[run] && !m.reported(run) {
			m.Fatalf("-seed %d: at %s the run of %s is forgotten", m.seed, m.now, run)
		}
	}
}

func (m *month) reported(run time.Time) bool {
	for _, missed := range m.missed {
		if !run.Before(missed.First) && !run.After(missed.Last) {
			return true
		}
	}
	return false
}

// calm ends all disturbances: the next regular run comes.
func (m *month) calm() {
	m.spec.Suspend, m.down, m.denied = nil, 0, 0
	if schedule.Check(m.spec.Schedule) != nil {
		m.spec.Schedule = "0 * * * *"
	}
	m.pass()
	if m.past.LastRun.After(m.now) { // until the clock has caught up
		m.now = m.past.LastRun
	}
	table, _ := schedule.Plan(&m.spec, m.past, m.now)
	m.now = table.Next
	m.pass()
	if !m.started[table.Next] {
		m.Errorf("-seed %d: the next regular run, of %s, does not come", m.seed, table.Next)
	}
}
