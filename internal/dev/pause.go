package dev

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A pause is a deployed copy of the operator that does nothing while a session lasts.
type pause struct {
	promise *promise
	detour  *ship.Detour
	made    bool         // all of it
	guard   func() error // ends it; nil: there is none
}

// Pause has the operator that is deployed as these objects do nothing until the session is closed, from when a manager
// is started or the session is renewed.
func (s *Session) Pause(objects []*unstructured.Unstructured) {
	s.deployed, s.options.alone = objects, true
	if s.paused != nil {
		s.paused.made = false // something has undone it
	}
}

// pauseDeployed scales the deployed operator to zero, once. What it changes is written down before.
func (s *Session) pauseDeployed(ctx context.Context, l listening) error {
	switch {
	case s.deployed == nil, s.paused != nil && s.paused.made:
		return nil
	case s.paused != nil:
		return s.paused.make(ctx, s)
	}
	detour, err := s.cluster.PlanPause(ctx, s.deployed)
	if err != nil || len(detour.Paused) == 0 {
		return err
	}
	w := s.webhooks.Load()
	switch leads := w.leadHere(); {
	case !leads && w.isProbed():
		return nil // until the manager serves and the cluster relies on it
	case detour.Silences() && !leads, len(detour.Converted) > 0:
		s.deployed, s.options.alone = nil, false
		s.options.Handler.Handle(report.Warning{Text: "the deployed operator goes on: the cluster calls its webhooks, which this manager does not serve to it; --webhook-address names where the API server reaches this machine"})
		return nil
	}
	p, err := promising(ctx, s.options.State, s.options.Dir+" paused", s.cluster)
	if err != nil {
		return err
	}
	if err := p.make(detour); err != nil {
		return errors.Join(err, p.release())
	}
	s.paused = &pause{promise: p, detour: detour} // it is to be taken back, whatever becomes of it
	if !s.own {
		if s.paused.guard, err = s.options.guard(p, l); err != nil {
			return err
		}
	}
	return s.paused.make(ctx, s)
}

// make changes the cluster.
func (p *pause) make(ctx context.Context, s *Session) error {
	if err := s.cluster.Pause(ctx, p.detour); err != nil {
		return err
	}
	p.made = true
	s.options.Handler.Handle(report.Note{Text: "the deployed operator is paused until the end, without replicas and calls of its webhooks: " + strings.Join(p.detour.Pauses(), ", ")})
	return nil
}

// isProbed reports whether the cluster may come to rely on the webhooks on this machine.
func (w *webhooks) isProbed() bool { return w != nil && w.probe != nil }

// leadHere reports whether the cluster relies on the webhooks on this machine.
func (w *webhooks) leadHere() bool {
	return w != nil && w.proxy != nil && (w.probe == nil || w.proven.Load())
}

// close has the deployed operator go on.
func (p *pause) close(o Options, cluster *ship.Cluster) error {
	if p == nil {
		return nil
	}
	o.giveBack(p.promise, cluster, p.detour)
	return p.abandon()
}

// abandon leaves that to the next command.
func (p *pause) abandon() error {
	if p == nil {
		return nil
	}
	var err error
	if p.guard != nil {
		err = p.guard()
	}
	return errors.Join(err, p.promise.release())
}
