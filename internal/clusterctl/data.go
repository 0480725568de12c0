package clusterctl

import (
	"context"
	"fmt"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// claimData makes sure that the program can use the data of a durable cluster and
// remembers that they are now of its version. Kubernetes reads what an older version wrote,
// but not what a newer one did: that may lose fields, or whole objects.
func (c *Control) claimData(ctx context.Context, cl state.Cluster, path string) error {
	v, err := program.Version(ctx, path)
	if err != nil {
		return err
	}
	is := state.Data{Kubernetes: v.Kubernetes, Program: v.Version}
	was, known, err := cl.Data()
	if err != nil {
		return err
	}
	if known && cl.HasData() {
		order := semver.Compare(minor(is), minor(was))
		switch {
		case order < 0:
			return &report.Error{What: fmt.Sprintf("the data of cluster %s are of Kubernetes %s, and this is %s", cl.Name, was.Kubernetes, is.Kubernetes),
				Where: cl.Dir, Next: command("delete", cl.Name),
				Hint: fmt.Sprintf("start it with slipway-cluster %s or a later one, which SLIPWAY_CLUSTER can name, or delete the cluster with its data", was.Program)}
		case order > 0:
			c.handler.Handle(report.Note{Text: fmt.Sprintf("the data of cluster %s are of Kubernetes %s; from now on they are of %s, and no older one can use them", cl.Name, was.Kubernetes, is.Kubernetes)})
		}
	}
	return cl.WriteData(is)
}

// minor is the part of a version within which data can be exchanged.
func minor(d state.Data) string { return semver.MajorMinor("v" + d.Kubernetes) }
