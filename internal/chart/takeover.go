package chart

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/kubebuilderchart"
	"github.com/slipway-dev/slipway/internal/chart/internal/settings"
)

// An Edit is a run of lines that the user wrote into a template of another tool.
type Edit = kubebuilderchart.Edit

// WroteKubebuilder reports whether kubebuilder's Helm plug-in wrote this Chart.yaml.
func WroteKubebuilder(text []byte) bool { return kubebuilderchart.IsPlugins(text) }

// A TakeOver is a chart that replaces one of kubebuilder's Helm plug-in.
type TakeOver struct {
	Files   []File            // as Generate makes them
	Content map[string]string // of files that also have content of the user's
	Removed []string          // files of the plug-in to delete
	Edits   []Edit            // the user's lines in those files
	Left    []string          // files not to write, since the user keeps a template with the same object
	Notes   []string          // for the user to read

	Namespace string   // as in Chart
	Warnings  []string // as in Chart
}

// TakeOverPlugin makes the chart of a kustomization in place of the plug-in's chart in folder old, which was made of
// the configuration in folder config. The user's settings keep their effect, and files that the user added stay. With
// keep, so do the plug-in's templates with the user's lines; then the new templates with the same objects are left out.
func TakeOverPlugin(ctx context.Context, from Source, config, old string, o Options, keep bool) (*TakeOver, error) {
	g, values, err := generate(ctx, from, o)
	if err != nil {
		return nil, err
	}
	c, err := kubebuilderchart.Read(old, config)
	if err != nil {
		return nil, err
	}
	for _, f := range g.files {
		if strings.HasPrefix(f.Path, "templates/") && strings.HasSuffix(f.Path, ".yaml") {
			c.Learn(string(f.Content))
		}
	}
	t := &TakeOver{
		Files: g.files, Content: map[string]string{}, Edits: c.Edits(), Namespace: g.model.Namespace, Warnings: g.warnings,
	}
	t.templates(c, keep)
	t.texts(c)
	return t, t.merge(c, values)
}

func (t *TakeOver) templates(c *kubebuilderchart.Chart, keep bool) {
	for _, file := range c.Templates() {
		edited := slices.ContainsFunc(t.Edits, func(e Edit) bool { return e.File == file })
		if !keep || !edited {
			t.Removed = append(t.Removed, file)
			continue
		}
		for _, f := range t.Files {
			base := strings.TrimSuffix(path.Base(f.Path), ".yaml")
			if slices.Contains(c.Names(file), base) && !strings.HasPrefix(base, "_") {
				t.Left = append(t.Left, f.Path)
			}
		}
	}
}

func (t *TakeOver) texts(c *kubebuilderchart.Chart) {
	if c.Text(kubebuilderchart.Helpers) != "" {
		t.Removed = append(t.Removed, kubebuilderchart.Helpers)
	}
	if c.Text(kubebuilderchart.NotesFile) != "" && !c.OwnNotes() {
		t.Removed = append(t.Removed, kubebuilderchart.NotesFile)
	}
}

// merge adds the user's content to the made files.
func (t *TakeOver) merge(c *kubebuilderchart.Chart, values *settings.Values) error {
	stays := t.staying(c)
	notes, err := c.Merge(values, usedIn(stays), usedIn(t.going(c)))
	if err != nil {
		return err
	}
	t.Notes = append(t.Notes, notes...)
	if t.Content[kubebuilderchart.ValuesFile], err = values.YAML(); err != nil {
		return err
	}
	if t.Content[kubebuilderchart.ChartFile], err = c.ChartFile(t.made(kubebuilderchart.ChartFile)); err != nil {
		return err
	}
	kept, notes := c.Helpers(t.made(kubebuilderchart.Helpers), stays)
	t.Notes = append(t.Notes, notes...)
	if kept != "" {
		t.Content[kubebuilderchart.Helpers] = t.made(kubebuilderchart.Helpers) + "\n" + kept + "\n"
	}
	if text := c.Text(kubebuilderchart.IgnoreFile); text != "" {
		t.Content[kubebuilderchart.IgnoreFile] = text
	}
	if c.OwnNotes() {
		t.Content[kubebuilderchart.NotesFile] = c.Text(kubebuilderchart.NotesFile)
	}
	return nil
}

// staying returns the texts of templates that stay as they are.
func (t *TakeOver) staying(c *kubebuilderchart.Chart) []string {
	var texts []string
	for _, file := range append(c.Own(), c.Templates()...) {
		if !slices.Contains(t.Removed, file) {
			texts = append(texts, c.Text(file))
		}
	}
	if c.OwnNotes() {
		texts = append(texts, c.Text(kubebuilderchart.NotesFile))
	}
	return append(texts, c.OwnHelpers())
}

func (t *TakeOver) going(c *kubebuilderchart.Chart) []string {
	var texts []string
	for _, file := range t.Removed {
		texts = append(texts, c.Text(file))
	}
	return texts
}

func usedIn(texts []string) []string {
	var paths []string
	for _, text := range texts {
		paths = append(paths, kubebuilderchart.UsedValues(text)...)
	}
	return paths
}

func (t *TakeOver) made(name string) string {
	for _, f := range t.Files {
		if f.Path == name {
			return string(f.Content)
		}
	}
	return ""
}
