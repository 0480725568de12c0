package regenerate

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// tool is how generated files name the program that the Makefile calls. In a project that uses controller-gen and
// slipway in turns no file changes for that.
type tool struct {
	name, version string
	keepVersion   bool // the Makefile does not tell it, so files stay with the one that they name
}

func toolOf(found makefile.Tool) tool {
	return tool{name: found.Name, version: found.Version, keepVersion: found.Version == ""}
}

// Other is the version of controller-gen whose files the project has, and what says so, if it is not the one whose
// files slipway makes: the Makefile, or the CRDs that are there where that does not say. Both are "" if it is that one.
func (p Plan) Other() (source, version string) {
	switch {
	case p.tool.keepVersion:
		if version = strings.Join(p.named(), " and "); version == "" {
			return "", ""
		}
		return "the project's CRDs name", version
	case p.tool.version == "" || p.tool.version == generate.ControllerGen:
		return "", ""
	}
	return "the Makefile asks for", p.tool.version
}

// named are the other versions of controller-gen that the CRDs in the plan's folders name, in order. One that cannot be
// read names none.
func (p Plan) named() (versions []string) {
	for _, folder := range p.CRDFolders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			continue
		}
		for _, path := range files {
			version, err := writtenBy(path)
			if err == nil && semver.IsValid(version) && version != generate.ControllerGen && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
	}
	semver.Sort(versions)
	return versions
}
