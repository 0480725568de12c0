package devloop

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev/loop"
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
	status, err := control.Start(ctx, clusterctl.DefaultName, clusterctl.Options{})
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
	var seen account
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
		} else if seen.isThere(ctx, p) {
			missed = 0
			continue
		}
		if ctx.Err() != nil {
			return
		}
		missed, seen = 0, account{}
		p.handler.Handle(report.Part{Name: report.ClusterPart, State: report.Failed, Text: why})
		p.lost.Store(true)
		ask(loop.Request{Work: loop.Install | loop.Restart | p.sampled()})
	}
}

// account is the manager's ServiceAccount as it was seen last. It stands for all that the loop brings into a cluster.
type account struct {
	name string
	id   types.UID
}

// isThere reports whether the cluster still has the account. One that the loop is about to bring is not missed.
func (a *account) isThere(ctx context.Context, p *project) bool {
	p.mu.Lock()
	access := p.access
	p.mu.Unlock()
	if access.Account == "" {
		return true
	}
	id, has, err := p.around.Load().Cluster().HasAccount(ctx, access.Namespace, access.Account)
	if err != nil {
		return true // the user may not look
	}
	if access.Name() != a.name {
		if has {
			*a = account{access.Name(), id}
		}
		return true
	}
	return has && id == a.id
}

// reconnect waits until the cluster answers, and begins a new session in it: one that was started anew has another
// address, and gives other credentials.
func (p *project) reconnect(ctx context.Context) error {
	begin, before := time.Now(), p.around.Load()
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
	for why := ""; ; {
		err := p.open(ctx)
		if err == nil {
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
	if now := p.around.Load(); !now.IsAt(before) {
		p.around.Store(before)
		return errors.Join(now.Close(), &report.Error{What: "the current context leads to another cluster than when dev was started", Where: now.Cluster().Server(),
			Hint: "select the former one, or end dev and start it again", Next: "slipway kubectl config get-contexts"})
	}
	p.owe(everything) // also what an installation took that was under way
	p.lost.Store(false)
	p.clusterReady(p.around.Load().Cluster().Server(), begin)
	return nil
}
