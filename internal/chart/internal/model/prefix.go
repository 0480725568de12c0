package model

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/kustomization"
)

// Beginning is what the names begin with that the kustomization gives, before "-": its prefix. It is "" if no name of a
// release gives such names: without a prefix, or with one that does not end in "-".
func (m *Model) Beginning() string { return beginning(m.Prefix) }

// beginning is a prefix before its "-"; "" if it does not end in one.
func beginning(prefix string) string {
	name, dash := strings.CutSuffix(prefix, "-")
	if !dash {
		return ""
	}
	return name
}

// Beginning is that of the kustomization in folder dir, which is read through files; "" also if it cannot be read.
func Beginning(dir string, files kustomization.Files) string {
	text, err := files.Read(dir)
	if err != nil {
		return "" // said where it is built
	}
	kustomization, err := read(text)
	if err != nil {
		return ""
	}
	prefix, _ := kustomization["namePrefix"].(string)
	return beginning(prefix)
}
