package delivery

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

type plannedObjects struct {
	DryRun  bool              `json:"dryRun"`
	Objects []ship.Difference `json:"objects"`
}

// previewObjects reports what applying objects, and restarting outdated workloads, would do.
func previewObjects(ctx context.Context, s *operation.Session, cluster *ship.Cluster, objects []*unstructured.Unstructured, o ship.ApplyOptions, p operation.Preview, outdated ...ship.Outdated) error {
	differences, err := cluster.Preview(ctx, objects, o)
	if err != nil {
		return err
	}
	ship.PreviewRestart(differences, outdated)
	showObjects(s, differences, p)
	return nil
}

// previewDeletion reports what deleting objects would do, and returns those that it would delete.
func previewDeletion(ctx context.Context, s *operation.Session, cluster *ship.Cluster, objects []*unstructured.Unstructured, o ship.DeleteOptions) ([]report.Object, error) {
	differences, err := cluster.PreviewDelete(ctx, objects, o)
	if err != nil {
		return nil, err
	}
	showObjects(s, differences, operation.Preview{DryRun: true})
	var deleted []report.Object
	for _, d := range differences {
		if d.Action == report.Deleted {
			deleted = append(deleted, report.Object{Name: d.Name, Action: d.Action, Why: d.Why, Object: d.Object})
		}
	}
	return deleted, nil
}

// showObjects reports planned changes of objects as a list or a diff.
func showObjects(s *operation.Session, differences []ship.Difference, p operation.Preview) {
	var text strings.Builder
	for i, d := range differences {
		if p.Diff {
			text.WriteString(d.Diff)
			continue
		}
		text.WriteString(operation.PlannedWord[d.Action] + " " + d.Name)
		if d.Why != "" {
			text.WriteString(" (" + d.Why + ")")
		}
		text.WriteString("\n")
		differences[i].Diff = ""
	}
	s.Handler.Handle(report.Result{Text: strings.TrimSuffix(text.String(), "\n"), Value: plannedObjects{DryRun: true, Objects: differences}})
	s.Handler.Handle(report.Note{Text: "No object was changed. Run the command without --dry-run and --diff to change them."})
}
