package dependency

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
)

// kind is a kind of another module that the project uses.
type kind struct {
	located
	name    string
	version string
	groups  []string // one of them is its group
}

// full is the kind's name for people.
func (k kind) full() string { return k.path + "." + k.name }

// kinds are the used names of a package that are kinds.
func (l located) kinds(used map[string]bool) (known []kind, missing []Missing) {
	if l.dir == "" {
		return nil, []Missing{{l.path, l.why}}
	}
	folder, err := openModule(l.dir)
	if err != nil {
		return nil, []Missing{{l.path, err.Error()}}
	}
	defer folder.close()
	names, _ := fs.Glob(folder.root.FS(), "*.go") // the pattern is one
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	pkg, _ := source.Read(folder, ".", names)
	for _, k := range pkg.Kinds {
		if used[k.Name] {
			known = append(known, kind{located: l, name: k.Name, version: path.Base(l.path)})
		}
	}
	groups := []string{pkg.Group}
	if pkg.Group == "" && len(known) > 0 {
		groups = folder.mayBeGroups(names)
	}
	if folder.err != nil {
		return nil, []Missing{{l.path, folder.err.Error()}}
	}
	for i := range known {
		known[i].groups = groups
	}
	slices.SortFunc(known, func(a, b kind) int { return strings.Compare(a.name, b.name) })
	return known, nil
}

// mayBeGroups are the texts in Go files that may be names of groups, for a package whose markers name none.
func (f *folder) mayBeGroups(files []string) (texts []string) {
	for _, name := range files {
		content, err := f.ReadFile(name)
		if err != nil {
			continue
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(name, -1, len(content)), content, nil, 0)
		for tok := token.ILLEGAL; tok != token.EOF; {
			var literal string
			_, tok, literal = s.Scan()
			if text, err := strconv.Unquote(literal); tok == token.STRING && err == nil && strings.Contains(text, ".") && !strings.Contains(text, "/") {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
