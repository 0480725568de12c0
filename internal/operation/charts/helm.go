// Package charts makes a Helm chart from a project's kustomization, and updates it with the user's edits kept.
package charts

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// defaultChart is the folder of the chart unless a flag or the project names one.
const defaultChart = "dist/chart"

// A Chart describes the Helm chart to make of a project. An empty field keeps the value of the last run, else it has a
// default.
type Chart struct {
	chart.Options
	Folder    string // of the chart, in the project; default dist/chart
	Config    string // folder with the kustomization, in the project
	Conflicts string // mine or generated: the side whose lines win a conflict; empty refuses
	Restore   bool   // create files again that the user deleted
	plugins   bool   // kubebuilder's plug-in made the chart in Folder
	namespace string // target namespace of the kustomization

	NoGenerate bool // use the files as they are
	operation.Preview
}

// Helm makes or updates a Helm chart of the project. It returns the changed files, or with a preview those that it
// would change.
func Helm(ctx context.Context, s *operation.Session, c Chart) ([]report.File, error) {
	root, err := s.ReadRoot()
	if err != nil {
		return nil, err
	}
	prefer, err := parsePreference(c.Conflicts)
	if err != nil {
		return nil, err
	}
	if err := completeChart(s, root, &c); err != nil {
		return nil, err
	}
	if err := delivery.RequireKustomization(s, root, c.Config, c.again()); err != nil {
		return nil, err
	}
	if !c.Only() && !c.NoGenerate {
		if _, err := generation.Regenerate(ctx, s, root, generation.Generation{}); err != nil {
			return nil, err
		}
	}
	ctx, end := delivery.Online(ctx, s, c.Only())
	defer end()
	var planned *scaffold.Plan
	plan := func() (*scaffold.Plan, error) {
		derived := scaffold.Derived{Folder: c.Folder, Mark: chart.Mark, Restore: c.Restore, Prefer: prefer, Next: "slipway helm --conflicts mine"}
		err := chartFiles(ctx, s, root, &c, &derived)
		if err != nil {
			return nil, err
		}
		planned, err = scaffold.Derive(s.Folder(root), derived)
		return planned, err
	}
	return projects.MakeChange(ctx, s, root, c.Preview, plan, func() error {
		if !planned.Empty() {
			noteIgnored(ctx, s, root, c)
			noteInstall(s, root, c)
		}
		return nil
	})
}

// again returns the command line of this run with another kustomization.
func (c Chart) again() operation.CommandLine {
	folder := operation.FlagIf(c.Folder != defaultChart, "--chart "+shellword.Quote(c.Folder))
	return operation.NewCommandLine("slipway helm", folder, operation.FlagIf(c.DryRun, "--dry-run"), operation.FlagIf(c.Diff, "--diff"), operation.FlagIf(c.NoGenerate, "--no-generate"))
}

// noteIgnored notes that git ignores the chart. Only its record in .slipway/base would be committed.
func noteIgnored(ctx context.Context, s *operation.Session, root string, c Chart) {
	file := path.Join(c.Folder, chart.Mark)
	if _, err := git.Output(ctx, root, "check-ignore", "--quiet", "--", file); err != nil {
		return // not ignored, no repository, or no git
	}
	s.Handler.Handle(report.Note{Text: "git ignores " + c.Folder + ": .slipway/base is committed without the chart that it records, and your changes to the chart are in no commit.\n" +
		"To commit the chart, take its folder out of .gitignore, or make it in another one with --chart."})
}

// noteInstall prints the command that installs the chart. If its names differ from those that kustomize builds, it says
// so.
func noteInstall(s *operation.Session, root string, c Chart) {
	next := fmt.Sprintf("Next: helm upgrade --install %s %s --namespace %s --create-namespace", c.Name, c.Folder, cmp.Or(c.namespace, c.Name+"-system"))
	if built := namePrefix(s, root, &c); built != "" && built != c.Name && !c.namesSet(root) {
		next += fmt.Sprintf("\nIts objects are then named %s-…, and not %s-… as kustomize names them. If the operator's code has such names in it, "+
			"add\n  --set fullnameOverride=%s", c.Name, built, built)
	}
	s.Handler.Handle(report.Note{Text: next})
}

// namesSet reports whether the chart's values.yaml sets the prefix of names.
func (c *Chart) namesSet(root string) bool {
	text, err := safefs.ReadFile(filepath.Join(root, filepath.FromSlash(c.Folder), "values.yaml"))
	return err == nil && chart.NamesSet(text)
}

// namePrefix returns the name prefix of the kustomization's objects, or "" if that is not a valid chart name.
func namePrefix(s *operation.Session, root string, c *Chart) string {
	name := chart.Beginning(chart.Source{Folder: c.kustomization(root), Files: kustomization.Files{Root: root, View: s.Folder(root)}})
	if !isChartName(name) {
		return ""
	}
	return name
}

// chartFiles adds the chart's files to into. A chart of kubebuilder's plug-in in the folder is taken over.
func chartFiles(ctx context.Context, s *operation.Session, root string, c *Chart, into *scaffold.Derived) error {
	if c.plugins {
		return generation.Ungenerated(ctx, s, root, takeOverChart(ctx, s, root, c, into))
	}
	made, err := chart.Generate(ctx, chartOf(s, root, c), c.Options)
	if err != nil {
		return generation.Ungenerated(ctx, s, root, err)
	}
	for _, text := range made.Warnings {
		s.Handler.Handle(report.Warning{Text: text})
	}
	into.Files, c.namespace = contents(made.Files), made.Namespace
	c.noteConfig(into.Files)
	return nil
}

// kustomization returns the folder that the chart is made from, as an absolute path.
func (c *Chart) kustomization(root string) string {
	return filepath.Join(root, filepath.FromSlash(c.Config))
}

func chartOf(s *operation.Session, root string, c *Chart) chart.Source {
	return chart.Source{Folder: c.kustomization(root), Files: s.Files(root)}
}

func contents(files []chart.File) map[string][]byte {
	all := map[string][]byte{}
	for _, file := range files {
		all[file.Path] = file.Content
	}
	return all
}

// completeChart fills in the fields that no flag sets, from the last run or with defaults.
func completeChart(s *operation.Session, root string, c *Chart) error {
	base, err := scaffold.ReadBase(s.Folder(root))
	if err != nil {
		return err
	}
	where := "--chart " + c.Folder
	if c.Folder == "" {
		where = "PROJECT: output of the Helm plug-in"
		c.Folder = cmp.Or(lastChart(base), pluginFolder(s, root), defaultChart)
	}
	c.Folder = path.Clean(filepath.ToSlash(c.Folder))
	if !filepath.IsLocal(filepath.FromSlash(c.Folder)) || c.Folder == "." {
		return &report.Error{What: "the chart's folder must be in the project", Where: where, Hint: "use a path relative to the project, such as dist/chart", Code: report.UsageCode}
	}
	last := chart.Options{}
	if text, ok := base.File(path.Join(c.Folder, chart.Mark)); ok {
		last = chart.ReadOptions(text)
		c.Config = cmp.Or(c.Config, notedConfig(text))
	} else if text := pluginChart(s, root, c.Folder); text != nil {
		last, c.plugins = chart.ReadOptions(text), true
	}
	if c.Config, err = chartSource(s, root, *c); err != nil {
		return err
	}
	c.Config = path.Clean(filepath.ToSlash(c.Config))
	if !filepath.IsLocal(filepath.FromSlash(c.Config)) {
		return &report.Error{What: "the folder with the kustomization must lie in the project", Where: "--kustomize " + c.Config, Hint: "a path relative to the project, such as config/default"}
	}
	c.Version = cmp.Or(c.Version, last.Version, "0.1.0")
	c.AppVersion = cmp.Or(c.AppVersion, last.AppVersion, c.Version)
	c.Name = cmp.Or(c.Name, last.Name, chartNameOnDisk(root, c.Folder), namePrefix(s, root, c))
	if c.Name == "" {
		name, err := delivery.ProjectName(root, s.Codebase(root))
		if err != nil {
			return err
		}
		c.Name = name
	}
	return c.check()
}

// chartNameOnDisk returns the name in the folder's Chart.yaml, which slipway need not have made, or "" if it is missing
// or invalid.
func chartNameOnDisk(root, folder string) string {
	text, err := safefs.ReadFile(filepath.Join(root, filepath.FromSlash(folder), chart.Mark))
	if err != nil {
		return ""
	}
	if name := chart.ReadOptions(text).Name; isChartName(name) {
		return name
	}
	return ""
}

// lastChart returns the folder of the recorded chart, or "" if there are none or several.
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

var chartName = lazy.Regexp(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// isChartName reports whether a name is valid for a chart, and short enough for the names of its objects.
func isChartName(name string) bool { return chartName().MatchString(name) && len(name) <= 40 }

// check refuses values that Helm would refuse.
func (c *Chart) check() error {
	if !isChartName(c.Name) {
		return &report.Error{What: fmt.Sprintf("invalid chart name %q", c.Name), Where: "--name", Hint: "use at most 40 lower-case letters, digits and -, a letter first"}
	}
	if v := "v" + strings.TrimPrefix(c.Version, "v"); !semver.IsValid(v) || semver.Canonical(v)+semver.Build(v) != v {
		return &report.Error{What: fmt.Sprintf("invalid chart version %q", c.Version), Where: "--chart-version", Hint: "use three numbers, such as 0.2.0 or 1.0.0-rc.1"}
	}
	if strings.ContainsAny(c.AppVersion, "\n\"\\") {
		return &report.Error{What: fmt.Sprintf("invalid operator version %q", c.AppVersion), Where: "--app-version", Hint: "use a version such as v1.4.0"}
	}
	return nil
}

// parsePreference parses the value of --conflicts.
func parsePreference(name string) (scaffold.Preference, error) {
	switch name {
	case "":
		return scaffold.Ask, nil
	case "mine":
		return scaffold.Mine, nil
	case "generated":
		return scaffold.Generated, nil
	}
	return scaffold.Ask, &report.Error{What: fmt.Sprintf("unknown value %q of --conflicts", name), Where: "--conflicts", Hint: "use mine or generated"}
}

// chartSource returns the folder to make the chart from. That is the deployed one, or config/default if the target
// deploy builds none, as when it installs the chart.
func chartSource(s *operation.Session, root string, c Chart) (string, error) {
	code := s.Codebase(root)
	if deployed, err := code.Deployed(); err == nil && c.Config == "" && deployed.None && code.Main(deployed) != "" {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("the chart is made of %s: %s: the target deploy builds no kustomization", codebase.DeployedFolder, deployed.Place())})
		return codebase.DeployedFolder, nil
	}
	return delivery.DeployedFolder(s, root, c.Config, c.again())
}
