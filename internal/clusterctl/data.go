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
		c.handler.Handle(report.Warning{Text: fmt.Sprintf("data.json of cluster %s in %s is missing or damaged: slipway assumes that Kubernetes %s wrote the data", cl.Name, cl.Dir, is.Kubernetes)})
	default:
		order := semver.Compare(minor(is), minor(was))
		switch {
		case order < 0:
			return &report.Error{What: fmt.Sprintf("the data of cluster %s come from Kubernetes %s, but this is the older %s", cl.Name, was.Kubernetes, is.Kubernetes),
				Where: cl.Dir, Next: command("delete", cl.Name),
				Hint: fmt.Sprintf("set SLIPWAY_CLUSTER to a slipway-cluster of %s or later, or delete the cluster with its data", was.Program)}
		case order > 0:
			c.handler.Handle(report.Note{Text: fmt.Sprintf("cluster %s had data of Kubernetes %s; %s now upgrades them, and older versions can no longer read them", cl.Name, was.Kubernetes, is.Kubernetes)})
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
		c.handler.Handle(report.Warning{Text: fmt.Sprintf("cluster %s keeps its data, but cannot read its former configuration and takes the present flags: %v", cl.Name, unknown)})
		return true, nil
	}
	return true, &report.Error{What: "cannot find out whether cluster " + cl.Name + " is durable", Where: cl.Config(), Err: unknown,
		Hint: "its data are unchanged: `" + command("start", cl.Name) + " --durable`, with its former flags, uses them, and `" + command("delete", cl.Name) + "` removes them",
		Next: command("start", cl.Name) + " --durable"}
}

// leftAlone warns of data of which nobody knows whether they are to be kept.
func leftAlone(cl state.Cluster, unknown error) string {
	return fmt.Sprintf("%s: %v; the data of cluster %s are kept: `%s --durable` goes on with them, `%s` removes them",
		cl.Config(), unknown, cl.Name, command("start", cl.Name), command("delete", cl.Name))
}
