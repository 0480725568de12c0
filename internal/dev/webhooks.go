package dev

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// takeBackPatience bounds the taking back, which begins when the user has ended the run.
const takeBackPatience = 10 * time.Second

// served is what a run does about the webhooks of its manager.
type served struct {
	env     []string                        // the manager's, with which it finds its certificate
	serving func(ctx context.Context) error // to be called while the manager runs; nil: nothing is left to do
	back    []func() error
}

// giveBack takes back what was done, the last first.
func (s *served) giveBack() error {
	var errs []error
	for _, back := range slices.Backward(s.back) {
		errs = append(errs, back())
	}
	s.back = nil
	return errors.Join(errs...)
}

// serveWebhooks has the cluster ask the manager that is about to run on this machine: with a certificate of the run's
// own, and configurations that lead here. A cluster of slipway's own reaches this machine. Another one is only changed
// if the user names an address for it, and then in steps, see [Options.try].
func serveWebhooks(ctx context.Context, o Options, cluster *ship.Cluster, l listening) (s served, err error) {
	hooks, err := o.webhooks(l)
	if err != nil || hooks == nil {
		return s, err
	}
	_, own, err := state.Home{Dir: o.State}.Own(ctx, cluster)
	if err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.giveBack())
		}
	}()
	if !own && l.called == "" {
		o.Handler.Handle(report.Note{Text: "slipway did not start this cluster here, so its webhooks stay as they are; --webhook-address names where its API server reaches this machine"})
		err = s.certify(hooks, l)
		return s, err
	}
	promise, err := promising(ctx, o.State, hooks.Prefix, cluster)
	if err != nil {
		return s, err
	}
	s.back = append(s.back, promise.release)
	if err := s.certify(hooks, l); err != nil {
		return s, err
	}
	err = s.divert(ctx, o, cluster, hooks, l, promise)
	return s, err
}

// divert has the cluster ask the manager, as far as it is proven to reach it, and notes what takes that back.
func (s *served) divert(ctx context.Context, o Options, cluster *ship.Cluster, hooks *projectWebhooks, l listening, p *promise) error {
	tried := l.called != "" // an address that the API server may not reach
	if tried {
		hooks.Probe = rand.Text()
	}
	detour, err := cluster.PlanDetour(ctx, hooks.LocalWebhooks)
	if err != nil {
		return err
	}
	if detour.Empty() {
		o.noteCalled(hooks, detour)
		return nil
	}
	if err := p.make(detour); err != nil {
		return err
	}
	if tried {
		end, err := o.guard(p, l)
		if err != nil {
			return errors.Join(err, os.Remove(p.path))
		}
		s.back = append(s.back, end)
	}
	s.back = append(s.back, func() error { return o.giveBack(p, cluster, detour) })
	if tried {
		s.serving, err = o.try(ctx, cluster, detour, hooks, l)
		return err
	}
	if err := cluster.CallHere(ctx, detour); err != nil {
		return err
	}
	o.noteCalled(hooks, detour)
	return nil
}

// certify makes the certificate that the manager serves its webhooks with, in a folder for temporary files of its own.
func (s *served) certify(hooks *projectWebhooks, l listening) error {
	if err := webhooksTaken(l.webhooks()); err != nil {
		return err
	}
	temporary, err := userdirs.NewScratch("slipway-run-")
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	s.back = append(s.back, temporary.Remove)
	hooks.certificates = filepath.Join(temporary.Path, "k8s-webhook-server", "serving-certs")
	if err := os.MkdirAll(hooks.certificates, 0o700); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	called, _, _ := net.SplitHostPort(hooks.Address) // which is complete
	hooks.Authority, err = writeCertificate(hooks.certificates, l.host, called)
	// controller-runtime looks there for the certificate, in every version, unless a flag names another folder.
	s.env = []string{"TMPDIR=" + temporary.Path, "TMP=" + temporary.Path}
	return err
}

// giveBack keeps a promise. The run is over, and so is its context; what it changed in the cluster is taken back all
// the same.
func (o Options) giveBack(p *promise, cluster *ship.Cluster, d *ship.Detour) error {
	o.Handler.Handle(report.Step{Name: "restoring the cluster's webhooks; if this is killed, the next slipway command on the cluster restores them"})
	ctx, cancel := context.WithTimeout(context.Background(), takeBackPatience)
	defer cancel()
	if err := p.keep(ctx, cluster, d); err != nil {
		o.Handler.Handle(report.Warning{Text: "the cluster still calls webhooks on this machine; the next slipway command on it restores them: " + err.Error()})
	}
	return nil
}
