package dev

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/internal/dev/webhookproxy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// takeBackPatience bounds the taking back, which begins when the user has ended the run.
const takeBackPatience = 10 * time.Second

// webhooks are those that the cluster calls on this machine, for as long as a session lasts. One certificate, and a
// proxy that has it, stand in front of all managers of the session, so that neither a restart nor a save changes
// anything in the cluster unless other webhooks come.
type webhooks struct {
	cluster *ship.Cluster
	own     bool // the cluster is slipway's own, and reaches this machine
	l       listening

	scratch   userdirs.Scratch // with the certificate
	authority []byte
	proxy     *webhookproxy.Proxy
	probe     *probe // of a cluster that may not reach this machine; nil: it does
	promise   *promise
	guard     func() error // ends it; nil: there is none
	detour    *ship.Detour // what is changed in the cluster; nil: nothing
	made      bool         // the cluster is as the detour says
	tried     bool         // it was asked to call the probe
	proven    atomic.Bool  // the cluster calls without ignoring failures
}

// serveWebhooks has the cluster call webhooks of the project that is about to run on this machine. A cluster of
// slipway's own reaches this machine. Another one is only changed if the user names an address for it, and then in
// steps, see [Options.try]. It returns nil if the manager serves none, or with a certificate of its own.
func serveWebhooks(ctx context.Context, o Options, cluster *ship.Cluster, own bool, l listening, hooks *projectWebhooks) (w *webhooks, err error) {
	if hooks == nil {
		return nil, nil
	}
	w = &webhooks{cluster: cluster, own: own, l: l}
	defer func() {
		if err != nil {
			w, err = nil, errors.Join(err, w.close(o)) // the next try begins anew
		}
	}()
	if !own && l.called == "" {
		o.Handler.Handle(report.Note{Text: "slipway did not start this cluster here, so its webhooks stay as they are; --webhook-address names where its API server reaches this machine"})
		return w, w.certify(l)
	}
	if w.promise, err = promising(ctx, o.State, hooks.Prefix, cluster); err != nil {
		return w, err
	}
	if err := w.certify(l); err != nil {
		return w, err
	}
	if err := w.listen(ctx, l); err != nil {
		return w, err
	}
	return w, w.update(ctx, o, hooks)
}

// certify makes the certificate with which the webhooks are served, in a folder of its own.
func (w *webhooks) certify(l listening) (err error) {
	if w.scratch, err = userdirs.NewScratch("slipway-run-"); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	if err := os.MkdirAll(w.certificates(), 0o700); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	called, _, _ := net.SplitHostPort(l.called) // empty without one
	w.authority, err = webhookproxy.WriteCertificate(w.certificates(), l.host, called)
	return err
}

// certificates is where controller-runtime looks for its certificate below the folder of temporary files, in every
// version, unless a flag names another folder.
func (w *webhooks) certificates() string {
	return filepath.Join(w.scratch.Path, "k8s-webhook-server", "serving-certs")
}

// environment is the manager's, with which it finds its certificate.
func (w *webhooks) environment() []string {
	if w == nil {
		return nil
	}
	return []string{"TMPDIR=" + w.scratch.Path, "TMP=" + w.scratch.Path}
}

// listen opens the proxy. Without a wish it has a free port: the cluster learns of it.
func (w *webhooks) listen(ctx context.Context, l listening) error {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(w.certificates(), webhookproxy.CertificateFile), filepath.Join(w.certificates(), webhookproxy.KeyFile))
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	options := webhookproxy.Options{Address: l.proxied(), Certificate: certificate, Authority: w.authority}
	if !w.own {
		w.probe = newProbe(rand.Text())
		options.Own = w.probe.answer
	}
	if w.proxy, err = webhookproxy.Listen(ctx, options); err != nil {
		return l.untaken(err)
	}
	return nil
}

// update has the cluster call the project's webhooks as they are now: after the first time, those that have come or
// changed since. What it changes is written down before.
func (w *webhooks) update(ctx context.Context, o Options, hooks *projectWebhooks) error {
	hooks.Authority, hooks.Alone = w.authority, o.alone
	hooks.Address = w.l.reached(w.proxy.Address())
	if w.probe != nil {
		hooks.Probe = w.probe.text
	}
	detour, err := w.cluster.PlanDetour(ctx, hooks.LocalWebhooks)
	if err != nil {
		return err
	}
	if w.detour != nil {
		detour.Continue(w.detour)
	}
	if detour.Empty() && w.detour == nil {
		o.noteCalled(hooks, detour)
		return nil
	}
	if w.made && detour.Same(w.detour) {
		return nil
	}
	if err := w.promise.make(detour); err != nil {
		return err
	}
	w.detour, w.made = detour, false // it is to be taken back, whatever becomes of it
	if w.probe != nil && w.guard == nil {
		if w.guard, err = o.guard(w.promise, w.l); err != nil {
			return err
		}
	}
	switch {
	case w.probe == nil:
		err = w.cluster.CallHere(ctx, detour)
	case !w.tried:
		err = o.try(ctx, w, hooks)
		w.tried, w.made = err == nil, err == nil
		return err
	case w.proven.Load():
		err = w.cluster.CallHere(ctx, detour)
	}
	if w.made = err == nil; w.made {
		o.noteCalled(hooks, detour)
	}
	return err
}

// unproven reports whether the cluster has reached this machine and does not rely on that yet, see [Options.try].
func (w *webhooks) unproven() bool {
	return w != nil && w.probe != nil && w.probe.called() && !w.proven.Load()
}

// rely has a cluster rely on the webhooks of a detour once a manager serves them.
func (w *webhooks) rely(ctx context.Context, o Options, detour *ship.Detour) error {
	if err := w.proxy.AwaitServing(ctx); err != nil {
		return err
	}
	if err := w.cluster.CallHere(ctx, detour); err != nil {
		return err
	}
	w.proven.Store(true)
	o.Handler.Handle(report.Note{Text: "the cluster calls the webhooks of this manager at " + w.l.reached(w.proxy.Address()) + "; ENABLE_WEBHOOKS=false turns them off"})
	return nil
}

// forward sends calls to a manager that is about to serve at an address.
func (w *webhooks) forward(address string) {
	if w != nil && w.proxy != nil {
		w.proxy.Forward(address)
	}
}

// hold lets calls wait for the next manager.
func (w *webhooks) hold(why string) {
	if w != nil && w.proxy != nil {
		w.proxy.Hold(why)
	}
}

// close takes back what was changed in the cluster, and ends the rest. A session that served no webhooks has none.
func (w *webhooks) close(o Options) error {
	if w == nil {
		return nil
	}
	if w.detour != nil {
		o.giveBack(w.promise, w.cluster, w.detour)
	}
	return w.abandon()
}

// abandon ends all but what was changed in the cluster.
func (w *webhooks) abandon() error {
	if w == nil {
		return nil
	}
	var errs []error
	if w.guard != nil {
		errs = append(errs, w.guard())
	}
	if w.proxy != nil {
		errs = append(errs, w.proxy.Close())
	}
	if w.promise != nil {
		errs = append(errs, w.promise.release())
	}
	return errors.Join(append(errs, w.scratch.Remove())...)
}

// giveBack keeps a promise. The run is over, and so is its context; what it changed in the cluster is taken back all
// the same, and if that fails, by the next command.
func (o Options) giveBack(p *promise, cluster *ship.Cluster, d *ship.Detour) {
	what := changed(d)
	o.Handler.Handle(report.Step{Name: "restoring " + what + "; if this is killed, the next slipway command on the cluster does it"})
	ctx, cancel := context.WithTimeout(context.Background(), takeBackPatience)
	defer cancel()
	if err := p.keep(ctx, cluster, d); err != nil {
		o.Handler.Handle(report.Warning{Text: what + " could not be restored; the next slipway command on the cluster tries again: " + err.Error()})
	}
}

// changed is what a detour changes in a cluster.
func changed(d *ship.Detour) string {
	if pauses := d.Pauses(); len(pauses) > 0 {
		return "the deployed operator (" + strings.Join(pauses, ", ") + ")"
	}
	return "the cluster's webhooks"
}
