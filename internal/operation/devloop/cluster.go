package devloop

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
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
	return func() error {
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
