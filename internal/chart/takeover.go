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

// WroteKubebuilder reports whether the text of a Chart.yaml says that kubebuilder's Helm plug-in wrote it.
func WroteKubebuilder(text []byte) bool { return kubebuilderchart.IsPlugins(text) }

// A TakeOver is a chart in the place of one that kubebuilder's Helm plug-in wrote.
type TakeOver struct {
	Files   []File            // as Generate makes them
	Content map[string]string // of files that hold something of the user's besides
	Removed []string          // files of the plug-in's that go
	Edits   []Edit            // lines of the user's in those files
	Left    []string          // files that are not made, since the user keeps a template with the same object
	Notes   []string          // what the user has to know

	Namespace string   // as that of a Chart
	Warnings  []string // likewise
}

// TakeOverPlugin makes the chart of a kustomization, in the place of the one in folder old, which was
// made of the configuration in folder config. The user's settings there keep their effect, and files that the user
// added stay. With keep the plug-in's templates with lines of the user's stay too, and ours with the same objects are
// left out.
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

// templates decides which of the plug-in's templates go.
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

// texts decides whether the plug-in's helpers and notes go.
func (t *TakeOver) texts(c *kubebuilderchart.Chart) {
	if c.Text(kubebuilderchart.Helpers) != "" {
		t.Removed = append(t.Removed, kubebuilderchart.Helpers)
	}
	if c.Text(kubebuilderchart.NotesFile) != "" && !c.OwnNotes() {
		t.Removed = append(t.Removed, kubebuilderchart.NotesFile)
	}
}

// merge puts what is the user's into the files that are made.
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

// staying are the texts of templates that stay as they are.
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

// going are the texts of the plug-in's files that go.
func (t *TakeOver) going(c *kubebuilderchart.Chart) []string {
	var texts []string
	for _, file := range t.Removed {
		texts = append(texts, c.Text(file))
	}
	return texts
}

// usedIn are the paths of the values that texts name.
func usedIn(texts []string) []string {
	var paths []string
	for _, text := range texts {
		paths = append(paths, kubebuilderchart.UsedValues(text)...)
	}
	return paths
}

// made is the content of a file that is made.
func (t *TakeOver) made(name string) string {
	for _, f := range t.Files {
		if f.Path == name {
			return string(f.Content)
		}
	}
	return ""
}
