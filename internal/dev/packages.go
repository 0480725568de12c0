package dev

import (
	"cmp"
	gobuild "go/build"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// TestFiles are the files of a module that a run of go test compiles.
type TestFiles struct {
	build    gobuild.Context
	module   string // its folder
	path     string // its path, or empty
	patterns []*regexp.Regexp
	all      bool // a flag of go test names another folder, or another source of its packages
}

// Tests are the files of the module in a folder that go test, run in another folder with args, compiles.
func Tests(folder, module string, args []string, getenv func(string) string) TestFiles {
	read := readArgs(args[:ownArgs(args)])
	t := TestFiles{build: gobuild.Default, module: module, path: modulePath(module)}
	_, t.all = read.flags["C"]
	t.build.BuildTags = strings.FieldsFunc(cmp.Or(read.flags["tags"], readArgs(strings.Fields(getenv("GOFLAGS"))).flags["tags"]),
		func(r rune) bool { return r == ',' || r == ' ' })
	for _, pattern := range packagesOr(read.packages, "./...") {
		t.patterns = append(t.patterns, matching(folder, pattern))
	}
	return t
}

func packagesOr(named []string, usual string) []string {
	if len(named) == 0 {
		return []string{usual}
	}
	return named
}

func modulePath(folder string) string {
	content, err := safefs.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(content)
}

// matching matches the folders, or the import paths, or the file that an argument of go test names: see go help
// packages.
func matching(folder, pattern string) *regexp.Regexp {
	pattern = filepath.ToSlash(pattern)
	if pattern == "all" || pattern == "work" {
		pattern = "..."
	} else if pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../") || strings.HasSuffix(pattern, ".go") {
		pattern = path.Join(filepath.ToSlash(folder), pattern)
	}
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, `.*`)
	if strings.HasSuffix(expression, "/.*") {
		expression = strings.TrimSuffix(expression, "/.*") + "(/.*)?"
	}
	return regexp.MustCompile("^" + expression + "$")
}

// Has reports whether the run compiles a file, which is absolute. Files that are no tests may belong to a package that
// tests of others import.
func (t TestFiles) Has(file string) bool {
	dir, name := filepath.Split(file)
	if built, err := t.build.MatchFile(dir, name); err == nil && !built {
		return false
	}
	if t.all || !strings.HasSuffix(name, "_test.go") {
		return true
	}
	names := []string{filepath.ToSlash(file), path.Clean(filepath.ToSlash(dir)), t.importPath(dir)}
	for _, pattern := range t.patterns {
		for _, name := range names {
			if pattern.MatchString(name) {
				return true
			}
		}
	}
	return false
}

func (t TestFiles) importPath(dir string) string {
	rel, err := filepath.Rel(t.module, dir)
	if err != nil || t.path == "" {
		return ""
	}
	return path.Join(t.path, filepath.ToSlash(rel))
}
