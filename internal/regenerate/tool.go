package regenerate

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/makefile"
)

// tool is how generated files name their generator. They name the project's controller-gen, so that a project that uses
// it and slipway in turn sees no changes.
type tool struct {
	name, version string
	keepVersion   bool // no version is known, so each file keeps the one it names
}

func toolOf(found makefile.Tool) tool {
	return tool{name: found.Name, version: found.Version, keepVersion: found.Version == ""}
}

// Other returns the controller-gen version of the project's files and what determines it, if slipway imitates another
// version. Both are "" otherwise. The source is the Makefile or, if that has no version, the existing CRDs.
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

// named returns the other controller-gen versions that the CRDs in the plan's folders name, sorted. Unreadable CRDs
// count for nothing.
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
