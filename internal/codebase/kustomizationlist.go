package codebase

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A list is what a kustomization says. Paths are relative to the project.
type list struct {
	file      string
	broken    bool // it is no YAML, and lists nothing
	component bool
	listed    []string // what it builds of
	named     []string // what it may read: also patches, for example
	elsewhere bool     // something that it builds of is not in the project
	generates bool     // objects, of other things
}

// parse reads a kustomization. A key with a value of another type has none.
func parse(file string, src []byte) *list {
	l, folder := &list{file: file}, path.Dir(file)
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
	_ = yaml.Unmarshal(src, &known) // it goes on past values of other types, which kustomize reports
	l.component = known.Kind == "Component"
	l.generates = len(known.ConfigMaps)+len(known.Secrets)+len(known.Generators)+len(known.Charts) > 0
	for _, entry := range slices.Concat(known.Resources, known.Bases, known.Components) {
		if name, ok := within(folder, entry); ok {
			l.listed = append(l.listed, name)
		} else {
			l.elsewhere = true
		}
	}
	l.addNamed(folder, &node)
	return l
}

// isEmpty reports whether the kustomization builds of nothing, which kustomize refuses. A component patches others.
func (l *list) isEmpty() bool {
	return !l.component && len(l.listed) == 0 && !l.elsewhere && !l.generates
}

// within is the path of an entry, if that is a place in the project.
func within(folder, entry string) (string, bool) {
	name := path.Join(folder, entry)
	return name, !strings.Contains(entry, "://") && filepath.IsLocal(filepath.FromSlash(name))
}

// addNamed adds all texts of a kustomization that may be the paths of files, with or without a key before them.
func (l *list) addNamed(folder string, node *yaml.Node) {
	for _, child := range node.Content {
		l.addNamed(folder, child)
	}
	if node.Kind != yaml.ScalarNode || strings.Contains(node.Value, "\n") {
		return
	}
	_, value, keyed := strings.Cut(node.Value, "=")
	for _, text := range []string{node.Value, value} {
		if name, ok := within(folder, text); ok && text != "" && (keyed || text == node.Value) {
			l.named = append(l.named, name)
		}
	}
}

// Lists are the files and folders that a kustomization with this text lists, by their paths in the project.
func Lists(file string, src []byte) []string { return parse(file, src).listed }

// BuildsOfMore reports whether a file, a kustomization with this text, builds of other things than the files for which
// but returns true. A component patches what others build, so it never does.
func BuildsOfMore(file string, src []byte, but func(file string) bool) bool {
	l := parse(file, src)
	more := l.elsewhere || l.generates || slices.ContainsFunc(l.listed, func(name string) bool { return !but(name) })
	return more && !l.component
}
