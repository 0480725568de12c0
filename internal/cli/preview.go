package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// bindCluster declares the flags of a verb that changes a cluster.
func (f *changeFlags) bindCluster(flags *pflag.FlagSet) {
	flags.BoolVar(&f.dryRun, "dry-run", false, "list what would be done to which object, as the server judges it, and change none")
	flags.BoolVar(&f.diff, "diff", false, "show what would be done as a diff of the objects, and change none")
}

// bindDeletion declares the flag of a verb that takes objects away.
func bindDeletion(flags *pflag.FlagSet, dryRun *bool) {
	flags.BoolVar(dryRun, "dry-run", false, "list which objects would go, and change none")
}

// plannedObjects is the JSON form of a preview.
type plannedObjects struct {
	DryRun  bool              `json:"dryRun"`
	Objects []ship.Difference `json:"objects"`
}

// previewObjects answers with what applying objects would do, and restarting what is outdated.
func (inv *invocation) previewObjects(ctx context.Context, cluster *ship.Cluster, objects []*unstructured.Unstructured, o ship.ApplyOptions, f changeFlags, outdated ...ship.Outdated) error {
	differences, err := cluster.Preview(ctx, objects, o)
	if err != nil {
		return err
	}
	ship.PreviewRestart(differences, outdated)
	inv.showObjects(differences, f)
	return nil
}

// previewDeletion answers with what deleting objects would do.
func (inv *invocation) previewDeletion(ctx context.Context, cluster *ship.Cluster, objects []*unstructured.Unstructured, o ship.DeleteOptions) error {
	differences, err := cluster.PreviewDelete(ctx, objects, o)
	if err != nil {
		return err
	}
	inv.showObjects(differences, changeFlags{dryRun: true})
	return nil
}

// showObjects answers with what would become of objects.
func (inv *invocation) showObjects(differences []ship.Difference, f changeFlags) {
	var text strings.Builder
	for i, d := range differences {
		if f.diff {
			text.WriteString(d.Diff)
			continue
		}
		text.WriteString(plannedWord[d.Action] + " " + d.Name)
		if d.Why != "" {
			text.WriteString(" (" + d.Why + ")")
		}
		text.WriteString("\n")
		differences[i].Diff = ""
	}
	inv.handler.Handle(report.Result{Text: strings.TrimSuffix(text.String(), "\n"), Value: plannedObjects{DryRun: true, Objects: differences}})
	inv.handler.Handle(report.Note{Text: "No object was changed. Without --dry-run and --diff it is."})
}
