package model

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/ship"
)

// Beginning is what the names begin with that the kustomization in folder dir gives, before "-": its prefix. It is ""
// if no name of a release gives such names, or the kustomization cannot be read.
func Beginning(dir string) string {
	text, err := ship.ReadKustomization(dir)
	if err != nil {
		return "" // said where it is built
	}
	kustomization, err := read(text)
	if err != nil {
		return ""
	}
	prefix, _ := kustomization["namePrefix"].(string)
	beginning, dash := strings.CutSuffix(prefix, "-")
	if !dash {
		return ""
	}
	return beginning
}
