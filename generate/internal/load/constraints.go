package load

import (
	"bytes"
	"go/build"
	"io"
	"path/filepath"
	"strings"
)

// constraints decides which files belong to the build, by go/build's own rules.
type constraints struct{ context build.Context }

func newConstraints(env *environment, tags []string) *constraints {
	c := build.Default
	c.GOROOT = env.goroot()
	c.BuildTags = tags
	return &constraints{context: c}
}

// match reports whether the file belongs to the build; header is its content up
// to the package clause, which is all that matters.
func (c *constraints) match(path string, header []byte) bool {
	name := filepath.Base(path)
	if !strings.Contains(name, "_") && !bytes.Contains(header, []byte("build")) {
		return true
	}
	context := c.context
	context.OpenFile = func(string) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(header), strings.NewReader("\n"))), nil
	}
	matched, err := context.MatchFile(filepath.Dir(path), name)
	return matched || err != nil // the parser tells what is wrong with it
}
