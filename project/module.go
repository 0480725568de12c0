package project

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// InModule has Repo and the paths of the project's own types name the module that go.mod names. PROJECT often keeps the
// path of an earlier major version. [Project.Marshal] leaves what the file has of them as it is.
func (p *Project) InModule(module string) {
	if module == "" || p.Repo == "" || module == p.Repo {
		return
	}
	for i := range p.Resources {
		p.Resources[i].Path = inModule(p.Resources[i].Path, p.Repo, module)
	}
	p.recorded, p.Repo = p.Repo, module
}

// inModule is an import path with another module in place of the one that it begins with.
func inModule(path, from, to string) string {
	if strings.HasPrefix(path, to+"/") {
		return path
	}
	if dir, ok := strings.CutPrefix(path, from+"/"); ok {
		return to + "/" + dir
	}
	return path
}

// recordedPath is the path of types as the file has it, if it is path in the file's module.
func (p *Project) recordedPath(node *yaml.Node, path string) string {
	if old, ok := lookup(node, "path"); ok && p.recorded != "" && inModule(old.Value, p.recorded, p.Repo) == path {
		return old.Value
	}
	return path
}
