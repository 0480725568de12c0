package codebase

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A parsedKustomization is the parsed content of a kustomization file. Paths are relative to the project.
type parsedKustomization struct {
	file      string
	broken    bool // not YAML; listed is empty
	partly    bool // some values are of other types, or a key is repeated: listed may lack entries
	component bool
	listed    []string // resources, bases and components
	named     []string // every text that may be a path, such as those of patches
	elsewhere bool     // lists something outside the project
	generates bool     // has generators or charts
}

// parse reads a kustomization. It ignores values of an unexpected type, which kustomize reports.
func parse(file string, src []byte) *parsedKustomization {
	l, folder := &parsedKustomization{file: file}, path.Dir(file)
	var known struct {
		Kind                         string
		Resources, Bases, Components []string
		Generators                   []any
		ConfigMaps                   []any `yaml:"configMapGenerator"`
		Secrets                      []any `yaml:"secretGenerator"`
		Charts                       []any `yaml:"helmCharts"`
	}
	var node yaml.Node
	if yaml.Unmarshal(src, &node) != nil {
		l.broken = true
		return l
	}
	l.partly = yaml.Unmarshal(src, &known) != nil // it continues past values of other types
	l.component = known.Kind == "Component"
	l.generates = len(known.ConfigMaps)+len(known.Secrets)+len(known.Generators)+len(known.Charts) > 0
	for _, entry := range slices.Concat(known.Resources, known.Bases, known.Components) {
		if name, ok := projectPath(folder, entry); ok {
			l.listed = append(l.listed, name)
		} else {
			l.elsewhere = true
		}
	}
	l.addNamed(folder, &node)
	return l
}

// isEmpty reports whether the kustomization builds nothing, which kustomize refuses. A component need not build
// anything.
func (l *parsedKustomization) isEmpty() bool {
	return !l.component && len(l.listed) == 0 && !l.elsewhere && !l.generates
}

// projectPath returns the path of an entry relative to the project. It reports false for a URL or a path outside.
func projectPath(folder, entry string) (string, bool) {
	name := path.Join(folder, entry)
	return name, !strings.Contains(entry, "://") && filepath.IsLocal(filepath.FromSlash(name))
}

// addNamed adds all texts of a kustomization that may be paths, also in the form key=path.
func (l *parsedKustomization) addNamed(folder string, node *yaml.Node) {
	for _, child := range node.Content {
		l.addNamed(folder, child)
	}
	if node.Kind != yaml.ScalarNode || strings.Contains(node.Value, "\n") {
		return
	}
	_, value, keyed := strings.Cut(node.Value, "=")
	for _, text := range []string{node.Value, value} {
		if name, ok := projectPath(folder, text); ok && text != "" && (keyed || text == node.Value) {
			l.named = append(l.named, name)
		}
	}
}

// Lists returns the files and folders that a kustomization with this text lists, relative to the project.
func Lists(file string, src []byte) []string { return parse(file, src).listed }

// BuildsOfMore reports whether a kustomization with this text builds from more than the files for which but returns
// true. For a component it is false: that patches what others build.
func BuildsOfMore(file string, src []byte, but func(file string) bool) bool {
	l := parse(file, src)
	more := l.elsewhere || l.generates || slices.ContainsFunc(l.listed, func(name string) bool { return !but(name) })
	return more && !l.component
}
