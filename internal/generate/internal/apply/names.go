package apply

import (
	"go/token"
	"path"
	"slices"
	"strings"
)

// names are those that a file has for the packages that it imports. A package gets its name when it is first needed.
type names struct {
	local  string // the file's package
	byPath map[string]string
	taken  map[string]bool
	// refused is the first reason for which something cannot be named.
	refused string
}

func newNames(local string) *names {
	return &names{local: local, byPath: make(map[string]string), taken: make(map[string]bool)}
}

func (n *names) refuse(reason string) {
	if n.refused == "" {
		n.refused = reason
	}
}

// of is the name of a declaration of a package.
func (n *names) of(pkg, name string) string {
	if pkg == n.local {
		return name
	}
	known := n.byPath[pkg]
	if known == "" {
		known = n.choose(pkg)
		n.byPath[pkg], n.taken[known] = known, true
	}
	return known + "." + name
}

// choose makes a name of as many of the last parts of an import path as it takes for it to be of one package, and not
// the one of the file's folder.
func (n *names) choose(pkg string) string {
	parts := strings.Split(pkg, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		name := strings.Join(parts[i:], "")
		for _, other := range []string{"_", ".", "-"} {
			name = strings.ReplaceAll(name, other, "")
		}
		if n.taken[name] || name == path.Base(n.local) {
			continue
		}
		if token.IsKeyword(name) {
			name = "_" + name
		}
		if !token.IsIdentifier(name) {
			n.refuse("a name in Go for " + pkg)
		}
		return name
	}
	n.refuse("a name that is free for " + pkg)
	return "_"
}

// typ is a type as it is written.
func (n *names) typ(t *typ) string {
	switch {
	case t.refused != "" && t.pkg == "":
		n.refuse(t.refused)
	case t.pkg != "":
		return n.of(t.pkg, t.name)
	}
	switch t.kind {
	case mapKind:
		return "map[" + n.typ(t.key) + "]" + n.typ(t.elem)
	case listKind:
		return "[]" + n.typ(t.elem)
	case pointerKind:
		return "*" + n.typ(t.elem)
	}
	if t.elem != nil {
		return t.prefix + n.typ(t.elem)
	}
	return t.name
}

// imports are the import declaration as gofmt has it: what has no dot in the first part of its path comes first.
func (n *names) imports() string {
	if len(n.byPath) == 0 {
		return ""
	}
	paths := make([]string, 0, len(n.byPath))
	for p := range n.byPath {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if x, y := importGroup(a), importGroup(b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	text := "\nimport (\n"
	for i, p := range paths {
		if i > 0 && importGroup(p) != importGroup(paths[i-1]) {
			text += "\n"
		}
		text += "\t" + n.byPath[p] + " \"" + p + "\"\n"
	}
	return text + ")\n"
}

// importGroup is which part of the declaration a path belongs to. What begins with appengine comes last by a custom of
// goimports.
func importGroup(importPath string) int {
	first, _, _ := strings.Cut(importPath, "/")
	switch {
	case strings.HasPrefix(importPath, "appengine"):
		return 2
	case strings.Contains(first, "."):
		return 1
	}
	return 0
}

// public is a name that is exported.
func public(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// private is a name that is not exported.
func private(name string) string { return strings.ToLower(name[:1]) + name[1:] }
