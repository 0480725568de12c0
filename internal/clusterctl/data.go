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
	switch {
	case !cl.HasData():
	case !known:
		c.handler.Handle(report.Warning{Text: fmt.Sprintf("which Kubernetes wrote the data of cluster %s is not known, since data.json in %s is missing or damaged; they are taken for data of %s", cl.Name, cl.Dir, is.Kubernetes)})
	default:
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

// kept tells whether cluster cl has data that stay when it is started. With data of which nobody knows whether they
// are to stay, it is started only if it is to be durable now.
func (c *Control) kept(cl state.Cluster, durable bool) (bool, error) {
	keep, unknown := cl.Keeps()
	switch {
	case unknown == nil:
		return keep, nil
	case durable:
		c.handler.Handle(report.Warning{Text: fmt.Sprintf("cluster %s goes on with the data that it has; other than durable, it has what is asked for now: %v", cl.Name, unknown)})
		return true, nil
	}
	return true, &report.Error{What: "it is not known whether cluster " + cl.Name + " is to keep its data", Where: cl.Config(), Err: unknown,
		Hint: "its data are left alone: `" + command("start", cl.Name) + " --durable`, with the flags that it had, goes on with them, and `" + command("delete", cl.Name) + "` removes them",
		Next: command("start", cl.Name) + " --durable"}
}

// leftAlone warns of data of which nobody knows whether they are to be kept.
func leftAlone(cl state.Cluster, unknown error) string {
	return fmt.Sprintf("%s: %v; the data of cluster %s are kept: `%s --durable` goes on with them, `%s` removes them",
		cl.Config(), unknown, cl.Name, command("start", cl.Name), command("delete", cl.Name))
}
