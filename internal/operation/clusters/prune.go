package clusters

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// SupersededFor is how long a superseded image stays by itself.
const SupersededFor = time.Hour

// Pruning is what is to be removed from a cluster.
type Pruning struct {
	OlderThan time.Duration // superseded and not requested for
	DryRun    bool
}

// Pruned is what Prune removed from a cluster, or would.
type Pruned = clusterctl.Pruned

// Prune removes superseded images from the registry and the nodes of a running cluster. With DryRun it returns those
// that it would remove.
func Prune(ctx context.Context, s *operation.Session, name string, p Pruning) (*Pruned, error) {
	pruned, err := clusterctl.New(s.Getenv, s.Handler).Prune(ctx, ResolveName(s, name), p.OlderThan, p.DryRun)
	if err != nil {
		return nil, err
	}
	for _, node := range pruned.Skipped {
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf("node %s keeps its superseded images: %s", node.Node, node.Problem)})
	}
	s.Handler.Handle(report.Result{Text: prunedText(pruned, p.OlderThan), Value: pruned})
	return pruned, nil
}

func prunedText(p *Pruned, age time.Duration) string {
	if len(p.Images) == 0 {
		text := "cluster " + p.Name + " has no superseded images to remove"
		if age > 0 {
			text += "; `slipway cluster prune --older-than 0s` includes recent ones"
		}
		return text
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "PLACE\tNAME\tDIGEST\tSIZE")
	for _, i := range p.Images {
		const short = len("sha256:") + 12
		fmt.Fprintf(w, "%s\t%s\t%.*s\t%s\n", cmp.Or(i.Node, "registry"), prunedName(i), short, i.Digest, operation.FormatSize(i.Bytes))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if p.MoreImages > 0 {
		fmt.Fprintf(&b, "and %s more\n", operation.Count(p.MoreImages, "image"))
	}
	verb := "removed"
	if p.DryRun {
		verb = "would remove"
	}
	fmt.Fprintf(&b, "%s %s from cluster %s, %s", verb, operation.Count(len(p.Images)+p.MoreImages, "superseded image"), p.Name, operation.FormatSize(p.Bytes))
	return b.String()
}

func prunedName(i clusterctl.PrunedImage) string {
	if i.Node == "" && i.Name == "" {
		return "(left of pushes)"
	}
	return cmp.Or(i.Name, "(unknown)")
}
