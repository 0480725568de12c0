package devloop

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/dev/loop"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// stopPatience bounds the end of a cluster that the loop has started.
const stopPatience = 20 * time.Second

// startCluster finds the cluster of the current context, or starts slipway's own. The function that it returns stops
// what it started, unless that is to be kept.
func (p *project) startCluster(ctx context.Context) (end func() error, err error) {
	begin := time.Now()
	p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Working})
	none := func() error { return nil }
	cluster, unreachable := ship.Connect(p.target(), p.handler)
	if unreachable == nil {
		unreachable = cluster.Ping(ctx)
	}
	switch {
	case unreachable == nil:
		p.clusterReady(cluster.Server(), begin)
		return none, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case p.settings.Kubeconfig != "":
		return none, unreachable // it is the one that the user means
	}
	control := clusterctl.New(p.session.Getenv, p.session.Handler)
	status, err := control.Start(ctx, clusterctl.DefaultName, clusterctl.Options{Record: true})
	if err != nil {
		return none, errors.Join(err, unreachable)
	}
	p.clusterReady(status.Server, begin)
	if status.Already || p.settings.Keep {
		return none, nil
	}
	p.owned = true
	return func() error {
		if !p.owned {
			return nil
		}
		p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Working, Text: "stopping; --keep would leave it"})
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		_, err := control.Stop(ctx, clusterctl.DefaultName)
		return err
	}, nil
}

func (p *project) clusterReady(server string, begin time.Time) {
	p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Ready, Text: server, Elapsed: time.Since(begin)})
}

// How the loop looks whether its cluster is still there: a request every two seconds. One that is not answered, as by a
// busy machine, is no reason to begin anew.
const (
	checkInterval = 2 * time.Second
	missedChecks  = 3
)

// watchCluster has the loop begin anew when the cluster has ended, or has lost what the loop brought into it, as by a
// reset, until ctx ends.
func (p *project) watchCluster(ctx context.Context, ask func(loop.Request)) {
	for missed := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkInterval):
		}
		if p.lost.Load() {
			continue // it is being looked for
		}
		why := "it was reset"
		if err := p.around.Load().Cluster().Ping(ctx); err != nil {
			if missed++; missed < missedChecks {
				continue
			}
			why = report.Advised(err)
		} else if p.isIntact(ctx) {
			missed = 0
			continue
		}
		if ctx.Err() != nil {
			return
		}
		missed = 0
		p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Failed, Text: why})
		p.lost.Store(true)
		ask(loop.Request{Work: loop.Install | loop.Restart | p.sampled()})
	}
}

// isIntact reports whether the cluster still has the manager's ServiceAccount, which stands for all that the loop
// brings into it.
func (p *project) isIntact(ctx context.Context) bool {
	p.mu.Lock()
	access, granted := p.access, p.granted
	p.mu.Unlock()
	if granted == "" {
		return true
	}
	id, _, err := p.around.Load().Cluster().HasAccount(ctx, access.Namespace, access.Account)
	return err != nil || id == granted
}

// grant notes the manager's rights, and the UID of its ServiceAccount, by which it is known whether the cluster has
// lost it; empty if the user may not read that.
func (p *project) grant(ctx context.Context, access delivery.Access) {
	id, _, err := p.around.Load().Cluster().HasAccount(ctx, access.Namespace, access.Account)
	if err != nil {
		id = ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.access, p.granted = access, id
}

// reconnect waits until the cluster answers, and begins a new session in it: one that was started anew has another
// address, and gives other credentials.
func (p *project) reconnect(ctx context.Context) error {
	begin, before := time.Now(), p.around.Load()
	p.mu.Lock()
	p.granted = ""
	p.mu.Unlock()
	p.stop("the cluster has ended")
	if before.Cluster().Ping(ctx) == nil {
		if err := before.Close(); err != nil {
			return err
		}
	} else {
		p.owned = false // if it is started again, then by the user
		if err := before.Abandon(); err != nil {
			return err
		}
	}
	var now *dev.Session
	for why := ""; ; {
		var err error
		if now, err = dev.Open(ctx, p.options, p.settings.Args); err == nil {
			break
		}
		if text := report.Advised(err); text != why && ctx.Err() == nil {
			why = text
			p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Failed, Text: why})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(checkInterval):
		}
	}
	if !now.IsAt(before) {
		return errors.Join(now.Close(), &report.Error{What: "the current context leads to another cluster than when dev was started", Where: now.Cluster().Server(),
			Hint: "select the former one, or end dev and start it again", Next: "slipway kubectl config get-contexts"})
	}
	p.around.Store(now)
	p.owe(everything) // also what an installation took that was under way
	p.lost.Store(false)
	p.clusterReady(now.Cluster().Server(), begin)
	p.recordLines(ctx)
	p.showPage(p.life)
	return nil
}
