package model

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/kustomization"
)

// Beginning is the kustomization's prefix without its "-". It is "" if no release has names like the kustomization's:
// without a prefix, or with one that does not end in "-".
func (m *Model) Beginning() string { return beginning(m.Prefix) }

// beginning returns a prefix without its "-", or "" if it does not end in one.
func beginning(prefix string) string {
	name, dash := strings.CutSuffix(prefix, "-")
	if !dash {
		return ""
	}
	return name
}

// Beginning is [Model.Beginning] without a build; "" if the kustomization cannot be read.
func Beginning(dir string, files kustomization.Files) string {
	text, err := files.Read(dir)
	if err != nil {
		return "" // reported by the build
	}
	kustomization, err := read(text)
	if err != nil {
		return ""
	}
	prefix, _ := kustomization["namePrefix"].(string)
	return beginning(prefix)
}
