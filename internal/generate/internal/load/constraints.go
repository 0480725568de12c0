package load

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	gosource "github.com/slipway-dev/slipway/internal/generate/source"
)

// constraints decides which files belong to the build, by go/build's own rules.
type constraints struct{ context build.Context }

func newConstraints(env *environment, tags []string) *constraints {
	c := build.Default
	c.GOROOT = env.goroot()
	c.BuildTags = tags
	c.ReleaseTags = env.releaseTags(c.ReleaseTags)
	c.GOOS = cmp.Or(env.get("GOOS"), runtime.GOOS)
	c.GOARCH = cmp.Or(env.get("GOARCH"), runtime.GOARCH)
	c.CgoEnabled = env.hasCgo(c.GOOS, c.GOARCH)
	return &constraints{context: c}
}

// hasCgo reports whether the go command uses cgo for a platform: unless it is told, where
// there is a C compiler for it.
func (e *environment) hasCgo(goos, goarch string) bool {
	switch e.get("CGO_ENABLED") {
	case "1":
		return true
	case "0":
		return false
	}
	if !build.Default.CgoEnabled || goos != runtime.GOOS || goarch != runtime.GOARCH {
		return false
	}
	if e.get("CC") != "" {
		return true
	}
	compiler := "gcc"
	switch goos {
	case "darwin", "ios", "freebsd", "openbsd":
		compiler = "clang"
	}
	_, err := exec.LookPath(compiler)
	return err == nil
}

// needsCgo reports whether a file imports C, while there is no cgo.
func (c *constraints) needsCgo(data []byte) bool {
	if c.context.CgoEnabled || !bytes.Contains(data, []byte(`"C"`)) {
		return false
	}
	syntax, _ := parser.ParseFile(token.NewFileSet(), "", data, parser.ImportsOnly) // what can be read counts
	return syntax != nil && slices.ContainsFunc(syntax.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"C"` })
}

// match reports whether the file belongs to the build; header is its content up
// to the package clause, which is all that matters.
func (c *constraints) match(path string, header []byte) bool {
	return gosource.Matches(&c.context, filepath.Base(path), header)
}
