package regenerate

import (
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// What controller-gen is installed from.
const (
	controllerGenPackage = controllerGenModule + "/cmd/controller-gen"
	controllerGenModule  = "sigs.k8s.io/controller-tools"
)

// tool is how generated files name the program that the Makefile calls. In a project that uses controller-gen and
// slipway in turns no file changes for that.
type tool struct {
	name, version string
	keepVersion   bool // the Makefile does not tell it, so files stay with the one that they name
}

func toolOf(root string, found makefile.Tool) tool {
	t := tool{name: found.Name, version: found.Version}
	if t.version == "" && found.ByGo {
		t.version = requiredVersion(root, controllerGenModule)
	}
	t.keepVersion = t.version == ""
	return t
}

// Pinned is the version of controller-gen that the Makefile asks for, if it is not the one whose files slipway makes.
func (p Plan) Pinned() string {
	if p.tool.version == generate.ControllerGen {
		return ""
	}
	return p.tool.version
}

// requiredVersion is the version of a module that the project's go.mod requires; "" if it requires none.
func requiredVersion(root, path string) string {
	content, err := finite.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	file, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		return ""
	}
	for _, r := range file.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}
