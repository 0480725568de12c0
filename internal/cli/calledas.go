package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// tools are the programs that slipway stands for when it is called by their names, as by a link in a project's bin
// folder, and the verbs that they are.
var tools = map[string][]string{
	"controller-gen": {"controller-gen"},
	"kubectl":        {"kubectl"},
	"kustomize":      {"kustomize"},
	"setup-envtest":  {"setup-envtest"},
	"type-scaffold":  {"type"},
}

// calledAs returns the verb that the name of the program stands for, if any.
func calledAs(name string) []string {
	return slices.Clone(tools[strings.TrimSuffix(filepath.Base(name), ".exe")])
}
