package projectfile

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// APIGroupsBelow are the API groups of objects that the code below a folder declares, by what their packages say, each
// with its first declaration. PROJECT may list none of them.
func APIGroupsBelow(p *plan.Plan, dir string) (map[string]Declaration, error) {
	groups := map[string]Declaration{}
	err := GoFiles(p.Root(), func(name string) {
		if !strings.HasPrefix(name, dir+"/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		line := firstObject(p.Root(), name)
		if line == 0 {
			return
		}
		group := p.APIGroup(path.Dir(name))
		if _, known := groups[group]; group != "" && !known {
			groups[group] = Declaration{File: name, Line: line, Version: p.APIVersion(path.Dir(name))}
		}
	})
	return groups, err
}

// firstObject is the line at which a file declares the type of an object, or 0.
func firstObject(root, name string) int {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil || !bytes.Contains(data, []byte("ObjectMeta")) {
		return 0
	}
	for _, object := range gofile.Objects(data) {
		return gofile.StructLine(data, object)
	}
	return 0
}
