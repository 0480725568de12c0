package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/charts"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A plugin is what --plugins may name, which kubebuilder and operator-sdk have on each of their verbs.
type plugin struct {
	names []string // before the first dot or slash of the name given
	// answer is what slipway has instead, with the command to type, where the plug-in itself is refused.
	answer, next string
}

// refused are plug-ins that slipway has something else for, or nothing.
var refused = []plugin{
	{[]string{"grafana"}, "the dashboard for the manager's metrics is a feature of the project", "slipway edit --enable dashboard"},
	{[]string{"autoupdate", "auto-update"}, "slipway has no command that updates a scaffold yet", ""},
	{[]string{"ansible", "quarkus", "java", "hybrid"}, "slipway makes operators in Go", "slipway init --help"},
}

// acceptPlugins adds --plugins to a verb, as scripts for other tools give it. Layouts change nothing; a plug-in that
// slipway has a verb for is named with it, and others are refused. With helm it then makes the chart, if chart is set.
func (inv *invocation) acceptPlugins(cmd *cobra.Command, chart bool) *cobra.Command {
	var names []string
	cmd.Flags().StringSliceVar(&names, "plugins", nil, "accepted for scripts: `plug-ins` of kubebuilder")
	cmd.Flags().Lookup("plugins").Hidden = true
	var old helmFlags
	if chart {
		old.bind(cmd.Flags())
	}
	inv.acceptProjectVersion(cmd)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		helm := slices.ContainsFunc(names, isHelm)
		for _, name := range names {
			if err := inv.acceptPlugin(name, chart); err != nil {
				return err
			}
		}
		if err := old.check(helm); err != nil {
			return err
		}
		if !helm || !chart {
			return run(cmd, args)
		}
		if changes(cmd) {
			if err := run(cmd, args); err != nil {
				return err
			}
		}
		if old.manifests != "" {
			inv.handler.Handle(report.Note{Text: "--manifests has no effect: the chart is made from config/default"})
		}
		return done(charts.Helm(cmd.Context(), inv.session(), charts.Chart{Folder: old.folder(), Preview: previewOf(cmd)}))
	}
	return cmd
}

// helmFlags are those that kubebuilder's Helm plug-in adds to edit.
type helmFlags struct{ manifests, outputDir string }

func (f *helmFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.manifests, "manifests", "", "accepted for scripts: `file` of the Helm plug-in")
	flags.StringVar(&f.outputDir, "output-dir", "", "accepted for scripts: `folder` of the Helm plug-in")
	for _, name := range []string{"manifests", "output-dir"} {
		flags.Lookup(name).Hidden = true
	}
}

// check refuses the plug-in's flags without it.
func (f *helmFlags) check(helm bool) error {
	if helm || f.manifests == "" && f.outputDir == "" {
		return nil
	}
	return &report.Error{What: "--manifests and --output-dir are flags of the Helm plug-in", Where: "slipway edit",
		Hint: "add --plugins helm/v2-alpha, or use slipway helm, which needs neither", Next: "slipway helm", Code: report.UsageCode}
}

// folder is the chart's; "" is that of the last time.
func (f *helmFlags) folder() string {
	if f.outputDir == "" {
		return ""
	}
	return path.Join(filepath.ToSlash(f.outputDir), "chart")
}

// changes reports whether a flag asks for more than the plug-ins do.
func changes(cmd *cobra.Command) bool {
	more := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		more = more || !slices.Contains([]string{"plugins", "manifests", "output-dir", "project-version", "dry-run", "diff", "force"}, f.Name)
	})
	return more
}

// acceptPlugin notes what a plug-in's name has no effect on, and refuses those that are not there.
func (inv *invocation) acceptPlugin(name string, chart bool) error {
	switch short := shortName(name); {
	case name == project.Layout || name == "go/v4" || name == "go":
	case short == "go", short == "kustomize", short == "base":
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("--plugins %s: the project has the layout go/v4, which follows it", name)})
	case isHelm(name) && chart:
	case isHelm(name):
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("--plugins %s has no effect here: slipway helm makes the chart", name)})
	default:
		return refusedPlugin(name, short)
	}
	return nil
}

func isHelm(name string) bool { return shortName(name) == "helm" }

// shortName is the name of a plug-in without its domain and version.
func shortName(name string) string {
	end := strings.IndexAny(name, "./")
	if end < 0 {
		return name
	}
	return name[:end]
}

func refusedPlugin(name, short string) error {
	for _, p := range refused {
		if slices.Contains(p.names, short) {
			return &report.Error{What: "slipway has no plug-in " + name, Where: "--plugins", Hint: p.answer, Next: p.next}
		}
	}
	if short == "deploy-image" {
		return &report.Error{What: name + " is a plug-in of create api alone", Where: "--plugins", Hint: "use its flag --image there",
			Next: "slipway create api --help", Code: report.UsageCode}
	}
	return &report.Error{What: "unknown plug-in " + name, Where: "--plugins", Hint: "known are go/v4, deploy-image/v1-alpha for create api, and helm/v2-alpha for edit"}
}

// previewOf reads the flags of a verb that can show what it would do.
func previewOf(cmd *cobra.Command) operation.Preview {
	is := func(name string) bool {
		value, err := cmd.Flags().GetBool(name)
		return err == nil && value
	}
	return operation.Preview{DryRun: is("dry-run"), Diff: is("diff")}
}
