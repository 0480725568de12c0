package cli

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// helmFlags are the flags of `slipway helm`.
type helmFlags struct {
	changeFlags
	chart.Options
	folder    string
	config    string
	conflicts string
	restore   bool
}

func (inv *invocation) helmCommand() *cobra.Command {
	var f helmFlags
	cmd := &cobra.Command{
		Use:   "helm",
		Short: "Make a Helm chart of the project, or bring it up to date",
		Long: `Helm makes a Helm chart of what config/default deploys. By itself, the chart installs the same objects;
its values switch the project's features and set the manager's image, replicas, arguments, resources and
more. Run it again whenever the project has changed.

The chart is yours to edit. Made again, it is merged with what you have changed: your lines stay,
files that you added stay, files that you deleted stay away. Lines that you and the project have both
changed are a conflict: it is told with both texts, and nothing is written until you change your
line or decide for one side with --conflicts. What was made last is kept in .slipway/base for that, so
commit it together with the chart.

Name, versions and folder are those of the last time unless flags give others.`,
		Example: `  slipway helm
  slipway helm --version 0.2.0 --app-version v1.4.0
  slipway helm --diff
  helm upgrade --install my-operator dist/chart --namespace my-operator-system --create-namespace`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.helm(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.folder, "chart", "", "`folder` of the chart in the project (default dist/chart)")
	flags.StringVar(&f.Name, "name", "", "`name` of the chart (default that of the project)")
	flags.StringVar(&f.Version, "version", "", "`version` of the chart (default 0.1.0)")
	flags.StringVar(&f.AppVersion, "app-version", "", "`version` of the operator (default that of the chart)")
	flags.StringVar(&f.config, "config", "config/default", "`folder` with the kustomization, in the project")
	flags.StringVar(&f.conflicts, "conflicts", "", "whose lines are taken where both sides changed them: `mine` or generated")
	flags.BoolVar(&f.restore, "restore", false, "make files again that you deleted")
	f.bind(flags)
	return cmd
}

// helm is the run of `slipway helm`.
func (inv *invocation) helm(cmd *cobra.Command, f helmFlags) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	prefer, err := parsePreference(f.conflicts)
	if err != nil {
		return err
	}
	if err := f.complete(root); err != nil {
		return scaffold.Remedy(cmd.Context(), root, err)
	}
	if !f.preview() {
		if err := inv.regenerate(cmd.Context(), root); err != nil {
			return err
		}
	}
	var planned *scaffold.Plan
	plan := func() (*scaffold.Plan, error) {
		files, err := chart.Generate(cmd.Context(), filepath.Join(root, filepath.FromSlash(f.config)), f.Options)
		if err != nil {
			return nil, err
		}
		derived := scaffold.Derived{Folder: f.folder, Mark: chart.Mark, Files: map[string][]byte{}, Restore: f.restore, Prefer: prefer, Next: "slipway helm --conflicts mine"}
		for _, file := range files {
			derived.Files[file.Path] = file.Content
		}
		planned, err = scaffold.Derive(root, derived)
		return planned, err
	}
	return inv.change(cmd.Context(), root, f.changeFlags, plan, func() error {
		if planned.Empty() {
			return nil
		}
		inv.handler.Handle(report.Note{Text: fmt.Sprintf("Next: helm upgrade --install %s %s --namespace %s-system --create-namespace", f.Name, f.folder, f.Name)})
		return nil
	})
}

// complete fills in what the flags leave open: what was said the last time, or a default.
func (f *helmFlags) complete(root string) error {
	base, err := scaffold.ReadBase(root)
	if err != nil {
		return err
	}
	if f.folder == "" {
		f.folder = cmp.Or(lastChart(base), "dist/chart")
	}
	f.folder = path.Clean(filepath.ToSlash(f.folder))
	if !filepath.IsLocal(filepath.FromSlash(f.folder)) || f.folder == "." {
		return &report.Error{What: "the chart's folder must lie in the project", Where: "--chart " + f.folder, Hint: "a path relative to the project, such as dist/chart", Code: usageCode}
	}
	last := chart.Options{}
	if text, ok := base.File(path.Join(f.folder, chart.Mark)); ok {
		last = chart.ReadOptions(text)
	}
	f.Version = cmp.Or(f.Version, last.Version, "0.1.0")
	f.AppVersion = cmp.Or(f.AppVersion, last.AppVersion, f.Version)
	f.Name = cmp.Or(f.Name, last.Name)
	if f.Name == "" {
		p, err := scaffold.ReadProject(root)
		if err != nil {
			return err
		}
		f.Name = cmp.Or(p.Name, filepath.Base(root))
	}
	return f.check()
}

// lastChart is the folder of the chart that was made before, if there is one alone.
func lastChart(base *scaffold.Base) string {
	folder := ""
	for file := range base.Files() {
		if path.Base(file) != chart.Mark {
			continue
		}
		if folder != "" {
			return ""
		}
		folder = path.Dir(file)
	}
	return folder
}

var chartName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// check refuses what Helm would refuse.
func (f *helmFlags) check() error {
	if !chartName.MatchString(f.Name) || len(f.Name) > 40 {
		return &report.Error{What: fmt.Sprintf("%q cannot be the name of a chart", f.Name), Where: "--name", Hint: "lower-case letters, digits and -, a letter first, at most 40 characters", Code: usageCode}
	}
	if v := "v" + strings.TrimPrefix(f.Version, "v"); !semver.IsValid(v) || semver.Canonical(v)+semver.Build(v) != v {
		return &report.Error{What: fmt.Sprintf("%q is no version of a chart", f.Version), Where: "--version", Hint: "three numbers, such as 0.2.0 or 1.0.0-rc.1", Code: usageCode}
	}
	if strings.ContainsAny(f.AppVersion, "\n\"\\") {
		return &report.Error{What: fmt.Sprintf("%q is no version of the operator", f.AppVersion), Where: "--app-version", Hint: "such as v1.4.0", Code: usageCode}
	}
	return nil
}

// parsePreference reads whose lines are taken.
func parsePreference(name string) (scaffold.Preference, error) {
	switch name {
	case "":
		return scaffold.Ask, nil
	case "mine":
		return scaffold.Mine, nil
	case "generated":
		return scaffold.Generated, nil
	}
	return scaffold.Ask, &report.Error{What: fmt.Sprintf("%q takes nobody's lines", name), Where: "--conflicts", Hint: "mine or generated", Code: usageCode}
}
