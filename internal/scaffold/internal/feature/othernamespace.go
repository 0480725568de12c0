package feature

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/listing"
)

// moved are the objects that are deployed to other namespaces than the given one: a namespace in the kustomization
// moves them there. Each is with its namespace and place.
func (p *planner) moved(to string) ([]string, error) {
	files, err := listing.Files(p.Plan, path.Dir(defaultConfig))
	if err != nil {
		return nil, err
	}
	var moved []string
	for _, f := range files {
		if !slices.Contains([]string{".yaml", ".yml"}, path.Ext(f.File)) {
			continue
		}
		c, err := p.Find(f.File)
		if err != nil {
			return nil, err
		}
		for _, m := range elsewhere(c.After(), to) {
			at := report.Position{File: f.File, Line: m.Metadata.Namespace.Line}
			moved = append(moved, fmt.Sprintf("%s %s in %s (%s)", m.Kind, m.Metadata.Name.Value, m.Metadata.Namespace.Value, at))
		}
	}
	return moved, nil
}

// elsewhere are the objects of a file that name another namespace.
func elsewhere(src []byte, than string) (found []manifest) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var object manifest
		if decoder.Decode(&object) != nil {
			return found // the file cannot be read, or ends
		}
		if in := object.Metadata.Namespace.Value; in != "" && in != than && in != placeholder {
			found = append(found, object)
		}
	}
}
