package charts

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// pluginFolder returns the chart's folder of kubebuilder's Helm plug-in according to PROJECT, or "".
func pluginFolder(s *operation.Session, root string) string {
	p, err := scaffold.ReadProject(s.Folder(root))
	if err != nil {
		return "" // reported where PROJECT is needed
	}
	var facts struct{ Output string }
	if found, err := p.Plugin("helm.kubebuilder.io/v2-alpha", &facts); found && err == nil && facts.Output != "" {
		return path.Join(filepath.ToSlash(facts.Output), "chart")
	}
	if found, _ := p.Plugin("helm.kubebuilder.io/v1-alpha", &facts); found {
		return "dist/chart"
	}
	return ""
}

// pluginChart returns the Chart.yaml in folder if kubebuilder's plug-in wrote that chart, else nil.
func pluginChart(s *operation.Session, root, folder string) []byte {
	text, err := safefs.ReadFile(filepath.Join(root, filepath.FromSlash(folder), chart.Mark))
	if err != nil || !chart.WroteKubebuilder(text) && pluginFolder(s, root) != folder {
		return nil
	}
	return text
}

// configuration returns the folder with all that a kustomization is made from, judging by its path: config for
// config/default. For a folder at the top of the project it is that folder.
func configuration(kustomization string) string {
	if parent := path.Dir(kustomization); parent != "." {
		return parent
	}
	return kustomization
}

// takeOverChart makes the chart in place of the one by kubebuilder's plug-in. It keeps the user's values and files.
func takeOverChart(ctx context.Context, s *operation.Session, root string, c *Chart, into *scaffold.Derived) error {
	in := func(folder string) string { return filepath.Join(root, filepath.FromSlash(folder)) }
	t, err := chart.TakeOverPlugin(ctx, chartOf(s, root, c), in(configuration(c.Config)), in(c.Folder), c.Options, into.Prefer == scaffold.Mine)
	if err != nil {
		return err
	}
	into.Files, c.namespace = contents(t.Files), t.Namespace
	into.Adopt = &scaffold.Adoption{Content: map[string][]byte{}, Removed: t.Removed, Left: t.Left}
	for file, content := range t.Content {
		into.Adopt.Content[file] = []byte(content)
	}
	if into.Prefer == scaffold.Ask && len(t.Edits) > 0 {
		into.Adopt.Refused = refusedEdits(c.Folder, t.Edits)
		return nil
	}
	s.Handler.Handle(report.Note{Text: "The chart of kubebuilder's plug-in is taken over, in " + c.Folder + "; your values and files stay."})
	for _, note := range slices.Concat(t.Warnings, t.Notes) {
		s.Handler.Handle(report.Warning{Text: note})
	}
	s.Handler.Handle(report.Note{Text: "Before you upgrade an installed release, delete its manager: the selector of a Deployment cannot change.\n" +
		"  kubectl delete deployment --selector control-plane=controller-manager --namespace NAMESPACE"})
	return nil
}

// shownEdits bounds how many of the user's lines a refusal lists.
const shownEdits = 20

// refusedEdits returns the refusal to drop lines that the user added to the plug-in's templates.
func refusedEdits(folder string, edits []chart.Edit) []*report.Error {
	var lines []string
	for _, e := range edits {
		for i, line := range e.Lines {
			lines = append(lines, fmt.Sprintf("  %s:%d: %s", path.Join(folder, e.File), e.Line+i, strings.TrimSpace(line)))
		}
	}
	if more := len(lines) - shownEdits; more > 0 {
		lines = append(lines[:shownEdits], fmt.Sprintf("  and %d more lines", more))
	}
	return []*report.Error{{
		Class: report.Conflict,
		What:  "you have changed templates of kubebuilder's plug-in; nothing was written",
		Where: fmt.Sprintf("%s:%d", path.Join(folder, edits[0].File), edits[0].Line),
		Hint: strings.Join(lines, "\n") + "\n--conflicts mine keeps these templates; --conflicts generated drops your lines: " +
			"move them to config/",
		Next: "slipway helm --conflicts mine",
	}}
}
