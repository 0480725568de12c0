package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scratch"
	"github.com/slipway-dev/slipway/internal/ship"
)

// takeBackPatience bounds the taking back, which begins when the user has ended the run.
const takeBackPatience = 10 * time.Second

// serveWebhooks has the cluster ask the manager that is about to run on this machine: with a certificate of
// the run's own, and configurations that lead here. It returns the manager's further environment, and what
// takes it all back. Where there is nothing to serve, or the cluster cannot reach this machine, it
// returns nothing.
func serveWebhooks(ctx context.Context, o Options, cluster *ship.Cluster, l listening) (env []string, giveBack func() error, err error) {
	nothing := func() error { return nil }
	hooks, err := o.webhooks(l)
	if err != nil || hooks == nil {
		return nil, nothing, err
	}
	if !onThisMachine(cluster.Server()) {
		o.Handler.Handle(report.Note{Text: "the cluster is on another machine and does not call the webhooks of this manager"})
		return nil, nothing, nil
	}
	promise, err := promising(ctx, o.State, hooks.Prefix, cluster)
	if err != nil {
		return nil, nil, err
	}
	if err := webhooksTaken(hooks.Address); err != nil {
		return nil, nil, errors.Join(err, promise.release())
	}
	temporary, err := certify(&hooks.LocalWebhooks, l.host)
	giveBack = func() error { return errors.Join(promise.release(), temporary.Remove()) }
	if err != nil {
		return nil, nil, errors.Join(err, giveBack())
	}
	release := giveBack
	detour, err := cluster.PlanDetour(ctx, hooks.LocalWebhooks)
	if err == nil && !detour.Empty() {
		if err = promise.make(detour); err == nil {
			giveBack = func() error { return errors.Join(o.giveBack(promise, cluster, detour), release()) }
			err = cluster.CallHere(ctx, detour)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, giveBack())
	}
	o.noteCalled(hooks, detour)
	// controller-runtime looks there for the certificate, in every version, unless a flag names another folder.
	return []string{"TMPDIR=" + temporary.Path, "TMP=" + temporary.Path}, giveBack, nil
}

// certify makes the certificate that the manager serves its webhooks with, in a folder for temporary files of its own.
func certify(hooks *ship.LocalWebhooks, host string) (temporary scratch.Folder, err error) {
	if temporary, err = scratch.New("slipway-run-"); err != nil {
		return temporary, fmt.Errorf("serve webhooks: %w", err)
	}
	certificates := filepath.Join(temporary.Path, "k8s-webhook-server", "serving-certs")
	if err = os.MkdirAll(certificates, 0o700); err == nil {
		hooks.Authority, err = writeCertificate(certificates, net.ParseIP(host))
	}
	return temporary, err
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

// onThisMachine reports whether a server's address is one of loopback.
func onThisMachine(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	return reference.OnLoopback(u.Host)
}
