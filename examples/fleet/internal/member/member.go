// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"math"
	"runtime/pprof"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// ProfileLabel marks all goroutines that work for a member, in goroutine and CPU profiles: its value is the member's
// name.
const ProfileLabel = "member"

// A member is one cluster of the fleet, reached by one connection. Another connection makes another member.
type member struct {
	name       multicluster.ClusterName
	connection Connection
	options    Options
	aware      multicluster.Aware
	indexes    []index
	end        context.CancelFunc // nil until it is launched
	poke       chan struct{}      // a watch broke: look at once

	mu      sync.Mutex
	state   State
	cluster cluster.Cluster // nil while it is not engaged
}

// run engages the member again and again until ctx ends. A member that cannot be engaged costs one timer, which gets
// longer with each failure, up to RetryMax.
func (m *member) run(ctx context.Context) {
	pprof.Do(ctx, pprof.Labels(ProfileLabel, m.name.String()), func(ctx context.Context) {
		delays := m.delays()
		for ctx.Err() == nil {
			err := m.engage(ctx)
			if m.engaged() != nil {
				delays = m.delays()
			}
			if ctx.Err() != nil {
				return
			}
			ctrl.LoggerFrom(ctx).V(1).Info("A member is not engaged", "member", m.name, "reason", err)
			m.report(ctx, nil, State{Problem: problemOf(err)})
			pause(ctx, delays.Step())
		}
	})
}

// delays are those between attempts. They vary, so that members which were lost together do not come back in one
// moment.
func (m *member) delays() wait.Backoff {
	return wait.Backoff{Duration: m.options.RetryMin, Factor: 2, Jitter: 0.2, Steps: math.MaxInt32, Cap: m.options.RetryMax}
}

// pause waits, or returns when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// engage connects to the member, fills its cache, has the controllers work, and watches over it. It returns why that
// ended, and nothing of it is left then: neither goroutines nor connections.
func (m *member) engage(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	link := m.link(ctx)
	defer link.close()
	defer running.Wait()
	defer end(nil)

	cl, err := m.open(link, func(err error) { m.watchFailed(err, end) })
	if err != nil {
		return err
	}
	instances, err := m.look(ctx, cl)
	if err != nil {
		return err
	}
	running.Go(func() { end(cl.Start(ctx)) })
	if err := m.fill(ctx, cl); err != nil {
		return err
	}
	if err := m.aware.Engage(ctx, m.name, cl); err != nil {
		return err
	}
	m.report(ctx, cl, State{Engaged: true, Instances: instances})
	return m.watch(ctx, cl)
}

// watch looks at an engaged member from time to time, until it does not answer or something else ends ctx. An open
// connection alone proves nothing: a member that was switched off sends no farewell.
func (m *member) watch(ctx context.Context, cl cluster.Cluster) error {
	ticker := time.NewTicker(m.options.Probe)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		case <-m.poke:
		}
		instances, err := m.look(ctx, cl)
		if err != nil {
			return err
		}
		m.report(ctx, cl, State{Engaged: true, Instances: instances})
	}
}

// watchFailed is called when the cache's watch ends with an error. Those that a repetition does not mend end the
// engagement.
func (m *member) watchFailed(err error, end context.CancelCauseFunc) {
	if lasting(err) {
		end(err)
		return
	}
	select {
	case m.poke <- struct{}{}:
	default:
	}
}

// report remembers what is known, and notifies of what is new. What a dropped member has to say concerns no one.
func (m *member) report(ctx context.Context, cl cluster.Cluster, state State) {
	m.mu.Lock()
	changed := !state.equals(m.state)
	m.state, m.cluster = state, cl
	m.mu.Unlock()
	if changed && ctx.Err() == nil {
		m.options.Notify(ctx, m.name)
	}
}

func (s State) equals(other State) bool {
	if s.Problem == nil || other.Problem == nil {
		return s == other
	}
	return *s.Problem == *other.Problem
}

func (m *member) current() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// engaged returns the member's cluster, nil while it is not engaged.
func (m *member) engaged() cluster.Cluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cluster
}

// errSlow is why an engagement ends whose cache was not filled in time.
var errSlow = errors.New("the cache was not filled in time")
