// Package toollink puts programs into a project's folder of tools that run slipway in place of
// the tools that the project's Makefile would install there:
//
//	changes, err := toollink.Link(toollink.Folder{Path: "bin", Versions: versions, Program: slipway})
//
// Each is a script, NAME-VERSION, and a link called NAME that leads to it by its absolute path, which
// is what the Makefiles of kubebuilder's projects check before they install something. Older ones
// know no versions, or compare what the tool reports about its version: the script reports slipway which
// version it stands for.
//
// Only what slipway made before, or the go command installed, is replaced; anything else is kept.
package toollink

import "github.com/slipway-dev/slipway/internal/report"

// packages are what the programs that slipway stands for are installed from, by the programs' names.
var packages = map[string]string{
	"controller-gen": "sigs.k8s.io/controller-tools/cmd/controller-gen",
	"kustomize":      "sigs.k8s.io/kustomize/kustomize",
	"setup-envtest":  "sigs.k8s.io/controller-runtime/tools/setup-envtest",
	"kubectl":        "k8s.io/kubernetes/cmd/kubectl",
}

// Names are the tools, in the order in which they are reported.
func Names() []string { return []string{"controller-gen", "kustomize", "setup-envtest", "kubectl"} }

// Folder is a folder of tools.
type Folder struct {
	Path     string            // absolute
	Program  string            // absolute path of slipway
	Versions map[string]string // of the tools, as the Makefile names them
	Force    bool              // replace what is not ours too
}

// Change is what happened to one file.
type Change struct {
	Path   string        `json:"path"`
	Action report.Action `json:"action"`
	Why    string        `json:"why,omitempty"`
}
