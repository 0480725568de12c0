package delivery

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/slipway-dev/slipway/internal/addon"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Values of [ListedAddon.There].
const (
	hasAddon     = "yes"
	noAddon      = "no"
	foreignAddon = "by another tool"
	unknownAddon = "unknown" // the cluster does not run
)

// ListedAddon is an add-on and its state in a cluster; the JSON form is stable.
type ListedAddon struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Summary string   `json:"summary"`
	Needs   string   `json:"needs,omitempty"`
	Groups  []string `json:"groups"`
	LeftOut []string `json:"leftOut,omitempty"`
	There   string   `json:"there"`
}

// ListAddons reports all add-ons and whether a cluster has them. If the cluster does not run, that is unknown.
func ListAddons(ctx context.Context, s *operation.Session, name string) ([]ListedAddon, error) {
	cluster, problem := addonCluster(ctx, s, name)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var all []ListedAddon
	for _, a := range addon.All() {
		one := ListedAddon{Name: a.Name, Version: a.Version(), Summary: a.Summary, Groups: a.Groups, LeftOut: a.LeftOut, There: unknownAddon}
		if len(a.Programs) > 0 {
			one.Needs = "a real node"
		}
		if problem == nil {
			var err error
			if one.There, err = stateOf(ctx, cluster, a); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	value := struct {
		Addons []ListedAddon `json:"addons"`
	}{all}
	s.Handler.Handle(report.Result{Text: addonTable(all), Value: value})
	if problem != nil {
		s.Handler.Handle(report.Note{Text: "cannot find out which add-ons the cluster has: " + problem.Error()})
	}
	return all, nil
}

// addonCluster connects to a running embedded cluster.
func addonCluster(ctx context.Context, s *operation.Session, name string) (*ship.Cluster, error) {
	status, err := runningCluster(ctx, s, name)
	if err != nil {
		return nil, err
	}
	return ship.Connect(ship.Kubeconfig{Path: status.Kubeconfig}, report.Discard)
}

// stateOf returns the [ListedAddon.There] of an add-on.
func stateOf(ctx context.Context, cluster *ship.Cluster, a *addon.Addon) (string, error) {
	known, err := cluster.HasGroup(ctx, a.Groups[0])
	if err != nil {
		return "", err
	}
	ours, err := cluster.HasSet(ctx, addonSet(a))
	switch {
	case err != nil:
		return "", err
	case known && ours:
		return hasAddon, nil
	case known:
		return foreignAddon, nil
	}
	return noAddon, nil
}

// addonTable formats add-ons in columns, followed by what each leaves out.
func addonTable(all []ListedAddon) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tIN THE CLUSTER\tNEEDS\tWHAT")
	for _, a := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.Name, a.Version, a.There, orDash(a.Needs), a.Summary)
	}
	_ = w.Flush() // a strings.Builder does not fail
	for _, a := range all {
		if len(a.LeftOut) > 0 {
			fmt.Fprintf(&b, "%s leaves out: %s\n", a.Name, strings.Join(a.LeftOut, ", "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
