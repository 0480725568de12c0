package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/project"
)

// A manager serves webhooks at this port, unless its code says otherwise, and is asked at this address.
const (
	webhookPort    = "9443"
	webhookAddress = "127.0.0.1:" + webhookPort
)

// serveWebhooks has the cluster ask the manager that is about to run on this machine: with a certificate of
// the run's own, and configurations that lead here. It returns the manager's further environment, and what
// takes it all back. Where there is nothing to serve, or the cluster cannot reach this machine, it
// returns nothing.
func serveWebhooks(ctx context.Context, o Options, cluster *ship.Cluster, args []string) (env []string, restore func(), err error) {
	hooks, err := o.webhooks(args)
	if err != nil || hooks == nil {
		return nil, func() {}, err
	}
	if !onThisMachine(cluster.Server()) {
		o.Handler.Handle(report.Note{Text: "the cluster is on another machine: it does not ask the webhooks of the manager here"})
		return nil, func() {}, nil
	}
	if err := webhooksTaken(webhookPort); err != nil {
		return nil, nil, err
	}
	temporary, err := os.MkdirTemp("", "slipway-run-")
	if err != nil {
		return nil, nil, fmt.Errorf("serve webhooks: %w", err)
	}
	certificates := filepath.Join(temporary, "k8s-webhook-server", "serving-certs")
	if err = os.MkdirAll(certificates, 0o700); err == nil {
		hooks.Authority, err = writeCertificate(certificates)
	}
	back := func() error { return nil }
	if err == nil {
		back, err = cluster.CallHere(ctx, *hooks)
	}
	restore = func() {
		// The run is over, and so is its context; what it changed in the cluster is taken back all the same.
		if err := errors.Join(back(), os.RemoveAll(temporary)); err != nil {
			o.Handler.Handle(report.Warning{Text: "the cluster still asks webhooks on this machine: " + err.Error()})
		}
	}
	if err != nil {
		restore()
		return nil, nil, err
	}
	o.Handler.Handle(report.Note{Text: "the cluster asks the webhooks of the manager here, at " + webhookAddress + "; ENABLE_WEBHOOKS=false turns them off"})
	// controller-runtime looks there for the certificate, in every version, unless a flag names another folder.
	return []string{"TMPDIR=" + temporary, "TMP=" + temporary}, restore, nil
}

// webhooks are those of the project in o.Dir, or nil when the manager serves none or with a certificate
// of its own.
func (o Options) webhooks(args []string) (*ship.LocalWebhooks, error) {
	if slices.Contains(o.Env, "ENABLE_WEBHOOKS=false") || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "webhook-cert-path") }) {
		return nil, nil
	}
	p, err := project.Load(o.Dir)
	if err != nil {
		return nil, nil // without a readable PROJECT there is nothing to know of webhooks
	}
	hooks := &ship.LocalWebhooks{Prefix: p.Name + "-run-", Address: webhookAddress}
	served := false
	for _, r := range p.Resources {
		if r.Webhooks == nil {
			continue
		}
		served = true
		if r.Webhooks.Conversion {
			hooks.Converted = append(hooks.Converted, r.CRDName())
		}
	}
	if !served {
		return nil, nil
	}
	hooks.Manifests, err = os.ReadFile(filepath.Join(o.Dir, "config", "webhook", "manifests.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("serve webhooks: %w", err)
	}
	return hooks, nil
}

// onThisMachine reports whether a server's address is one of loopback.
func onThisMachine(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
