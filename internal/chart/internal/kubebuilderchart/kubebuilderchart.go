// Package kubebuilderchart reads the charts of kubebuilder's Helm plug-in. It finds what the user set, added and
// changed in them, so that slipway's chart can replace them.
//
//	c, err := kubebuilderchart.Read("dist/chart", "config")
//	own := c.Own()       // files that the plug-in did not write
//	edits := c.Edits()   // lines that follow neither from config/ nor from the plug-in
//
// The plug-in keeps no record of what it wrote. So a template counts as the plug-in's if config/ has all its objects. A
// line in it counts as the user's if neither config/, the new chart nor the plug-in has such a line. Deleted lines are
// not found.
package kubebuilderchart

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Files with a special meaning, by path in the chart.
const (
	ChartFile  = "Chart.yaml"
	ValuesFile = "values.yaml"
	IgnoreFile = ".helmignore"
	Helpers    = "templates/_helpers.tpl"
	NotesFile  = "templates/NOTES.txt"
)

// Limits far above the needs of charts.
const (
	maxFiles = 10000
	maxText  = 64 << 20 // bytes of all files
)

// A Chart is a chart that the plug-in wrote.
type Chart struct {
	Name  string // the chart's name, which its templates use
	dir   string
	files map[string]string // text by path, with \n as line ends
	words *knownLines       // lines that follow from the project
}

// special are files of every chart of the plug-in whose text is needed.
var special = []string{ChartFile, ValuesFile, IgnoreFile, Helpers, NotesFile}

// Read reads the chart in folder dir, and the project's configuration in folder config. It does not follow links in the
// chart: these are the user's files. It refuses links in place of the special files.
func Read(dir, config string) (*Chart, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("find the chart: %w", err)
	}
	for _, file := range special {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &report.Error{Class: report.BadProject, What: "this file of the chart is a link, or not a file", Where: path, Hint: "nothing was changed; replace it by the file itself"}
		}
	}
	files, err := texts(dir, "")
	if err != nil {
		return nil, err
	}
	name := chartName(files[ChartFile])
	c := &Chart{Name: name, dir: dir, files: files, words: newWords(name)}
	made, err := texts(config, ".yaml")
	if err != nil {
		return nil, err
	}
	for _, text := range made {
		c.words.add(text)
	}
	return c, nil
}

// texts returns the files below a folder that end in a suffix, by path.
func texts(dir, suffix string) (map[string]string, error) {
	all, left := map[string]string{}, maxText
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || entry.IsDir():
			return err
		case !entry.Type().IsRegular() || !strings.HasSuffix(path, suffix):
			return nil
		case len(all) == maxFiles:
			return &report.Error{Class: report.BadProject, What: fmt.Sprintf("more than %d files are in this folder", maxFiles), Where: dir, Hint: "slipway supports fewer; nothing was changed"}
		}
		text, err := safefs.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if left -= len(text); left < 0 {
			return &report.Error{Class: report.BadProject, What: fmt.Sprintf("the files in this folder have more than %d MiB", maxText>>20), Where: dir, Hint: "slipway supports less; nothing was changed"}
		}
		inner, err := filepath.Rel(dir, path)
		if err == nil {
			all[filepath.ToSlash(inner)] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		return err
	})
	return all, err
}

// Text returns the text of a file, or "".
func (c *Chart) Text(path string) string { return c.files[path] }

// Learn adds a template of the new chart to what follows from the project. Callers call it before [Chart.Edits].
func (c *Chart) Learn(text string) { c.words.add(text) }

// Templates returns the paths of the templates that the plug-in wrote, sorted.
func (c *Chart) Templates() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.files)), func(path string) bool { return !c.fromPlugin(path) })
}

// Own returns the paths of the user's files, sorted.
func (c *Chart) Own() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.files)), func(path string) bool {
		return slices.Contains(special, path) || c.fromPlugin(path)
	})
}

// fromPlugin reports whether a template has only objects of the project.
func (c *Chart) fromPlugin(path string) bool {
	if !strings.HasPrefix(path, "templates/") || !strings.HasSuffix(path, ".yaml") {
		return false
	}
	names := c.Names(path)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !c.words.lines["name: "+name] })
}

var (
	documentEnd = lazy.Regexp(`(?m)^---\s*$`)
	objectName  = lazy.Regexp(`(?ms)^metadata:.*?^  name: (.*?)$`)
	nameSuffix  = lazy.Regexp(`"suffix" "([^"]+)"`)
)

// Names returns the names of a template's objects, without the chart's name. An object without a name has "".
func (c *Chart) Names(path string) []string {
	var names []string
	for _, document := range documentEnd().Split(c.files[path], -1) {
		if !strings.Contains(document, "kind:") {
			continue
		}
		name := ""
		if found := objectName().FindStringSubmatch(document); found != nil {
			name = c.plainName(found[1])
		}
		names = append(names, name)
	}
	return names
}

// plainName returns a name without that of the release or the chart.
func (c *Chart) plainName(text string) string {
	if suffix := nameSuffix().FindStringSubmatch(text); suffix != nil {
		return suffix[1]
	}
	if strings.Contains(text, ".serviceAccountName") {
		return "controller-manager"
	}
	return strings.TrimPrefix(c.words.plain(text), "-")
}

// An Edit is a run of lines that the user wrote into a template of the plug-in.
type Edit struct {
	File  string
	Line  int // of the first line, from 1
	Lines []string
}

// Edits returns the user's lines in the plug-in's templates. Callers call [Chart.Learn] first.
func (c *Chart) Edits() []Edit {
	var edits []Edit
	for _, path := range c.Templates() {
		last := 0
		for i, line := range strings.Split(c.files[path], "\n") {
			if c.words.knows(line) {
				continue
			}
			if n := len(edits); n > 0 && edits[n-1].File == path && last == i {
				edits[n-1].Lines = append(edits[n-1].Lines, line)
			} else {
				edits = append(edits, Edit{path, i + 1, []string{line}})
			}
			last = i + 1
		}
	}
	return edits
}
