package dev

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A pause is a deployed copy of the operator that does nothing while a session lasts.
type pause struct {
	promise *promise
	detour  *ship.Detour
}

// Pause has the operator that is deployed as these objects do nothing until the session is closed, from when a manager
// is started or the session is renewed.
func (s *Session) Pause(objects []*unstructured.Unstructured) {
	s.deployed, s.options.alone = objects, true
}

// pauseDeployed scales the deployed operator to zero, once. What it changes is written down before.
func (s *Session) pauseDeployed(ctx context.Context) error {
	if s.deployed == nil || s.paused != nil {
		return nil
	}
	detour, err := s.cluster.PlanPause(ctx, s.deployed)
	if err != nil || len(detour.Paused) == 0 {
		return err
	}
	if detour.Silences() && !s.webhooks.Load().leadHere() {
		s.deployed, s.options.alone = nil, false
		s.options.Handler.Handle(report.Warning{Text: "the deployed operator goes on: the cluster calls its webhooks, and would refuse objects without it; --webhook-address names where the API server reaches those of this manager"})
		return nil
	}
	p, err := promising(ctx, s.options.State, s.options.Dir+" paused", s.cluster)
	if err != nil {
		return err
	}
	if err := p.make(detour); err != nil {
		return err
	}
	s.paused = &pause{p, detour} // it is to be taken back, whatever becomes of it
	if err := s.cluster.Pause(ctx, detour); err != nil {
		return err
	}
	s.options.Handler.Handle(report.Note{Text: "the deployed operator is paused until the end: " + strings.Join(detour.Pauses(), ", ") + " has no replicas, and its webhooks are not called"})
	return nil
}

// leadHere reports whether the cluster calls the webhooks on this machine.
func (w *webhooks) leadHere() bool {
	return w != nil && w.proxy != nil && (w.probe == nil || w.probe.called())
}

// close has the deployed operator go on.
func (p *pause) close(o Options, cluster *ship.Cluster) error {
	if p == nil {
		return nil
	}
	o.giveBack(p.promise, cluster, p.detour)
	return p.promise.release()
}

// abandon leaves that to the next command.
func (p *pause) abandon() error {
	if p == nil {
		return nil
	}
	return p.promise.release()
}
