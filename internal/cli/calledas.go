package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation/generation"
)

// standIns are the programs that slipway stands for when it is called by their names, as by a link in a project's bin
// folder, and the verbs that they are.
var standIns = map[string][]string{
	"controller-gen": {"controller-gen"},
	"kubectl":        {"kubectl"},
	"kustomize":      {"kustomize"},
	"setup-envtest":  {"setup-envtest"},
	"type-scaffold":  {"type"},
}

// calledAs returns the verb that the name of the program stands for, if any. Some projects have the version of a tool
// in its name.
func calledAs(name string) []string {
	tool, _ := versionIn(programName(name))
	return slices.Clone(standIns[tool])
}

// programName is the name of a program's file without what is the system's.
func programName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

var versionedName = lazy.Regexp(`^(.+)-(v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)

// versionIn takes a name like controller-gen-v0.20.1 apart; the version is "" in others.
func versionIn(name string) (tool, version string) {
	if parts := versionedName().FindStringSubmatch(name); parts != nil {
		return parts[1], parts[2]
	}
	return name, ""
}

// standsFor is the version that the program stands for in the place of its own; "" is none.
func (inv *invocation) standsFor() string {
	tool, version := versionIn(programName(inv.Name))
	if standIns[tool] == nil {
		version = "" // slipway's own
	}
	return generation.StandsFor(inv.session(), version)
}
