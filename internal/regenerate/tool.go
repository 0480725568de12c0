package regenerate

import (
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// controllerGenPackage is what controller-gen is installed from.
const controllerGenPackage = "sigs.k8s.io/controller-tools/cmd/controller-gen"

// tool is how generated files name the program that the Makefile calls. In a project that uses controller-gen and
// slipway in turns no file changes for that.
type tool struct {
	name, version string
	keepVersion   bool // the Makefile does not tell it, so files stay with the one that they name
}

func toolOf(found makefile.Tool) tool {
	return tool{name: found.Name, version: found.Version, keepVersion: found.Version == ""}
}

// Pinned is the version of controller-gen that the Makefile asks for, if it is not the one whose files slipway makes.
func (p Plan) Pinned() string {
	if p.tool.version == generate.ControllerGen {
		return ""
	}
	return p.tool.version
}
