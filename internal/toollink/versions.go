package toollink

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	generator         = "controller-gen"
	generatorVariable = "CONTROLLER_TOOLS_VERSION"
)

// variables are those of a Makefile that name the versions of tools.
var variables = map[string]string{
	generatorVariable:   generator,
	"KUSTOMIZE_VERSION": "kustomize",
	"ENVTEST_VERSION":   "setup-envtest",
}

// Versions reads the versions of tools from the Makefile of a project. A version that the Makefile
// computes from go.mod is computed; what else is computed there is returned as unknown. Getenv is asked for variables
// that the Makefile leaves to the environment.
func Versions(project string, getenv func(string) string) (versions map[string]string, unknown []string, err error) {
	versions = make(map[string]string)
	content, err := finite.ReadFile(filepath.Join(project, "Makefile"))
	if errors.Is(err, fs.ErrNotExist) {
		return versions, nil, nil
	}
	if err != nil {
		return nil, nil, &report.Error{What: "the Makefile cannot be read", Where: "Makefile", Err: err}
	}
	assignment := regexp.MustCompile(`(?m)^(?:export[ \t]+)?([A-Z_]+)[ \t]*(?:\?|::?)?=[ \t]*([^\n#]*)`)
	for _, match := range assignment.FindAllStringSubmatch(string(content), -1) {
		tool, wanted := variables[match[1]]
		value := strings.TrimSpace(match[2])
		if !wanted || value == "" {
			continue
		}
		if strings.ContainsAny(value, "$`") {
			value = computed(project, value)
		}
		if value == "" || strings.ContainsAny(value, "/ ") {
			unknown = append(unknown, match[1])
			continue
		}
		versions[tool] = value
	}
	if version := generatorVersion(project, getenv); version != "" && versions[generator] == "" && !slices.Contains(unknown, generatorVariable) {
		versions[generator] = version
	}
	return versions, unknown, nil
}

// generatorVersion is the version of controller-gen that no variable of the usual name has: CRDs name it, so the link
// must know it.
func generatorVersion(project string, getenv func(string) string) string {
	generation, err := codebase.Read(fileview.Disk(project), getenv).Generation()
	if err != nil {
		return ""
	}
	return generation.Tool.Version
}

// Inspection is the line of the project's Makefile at which it looks into a tool's file for the version, which it does
// not find in a script; 0 if it does not.
func Inspection(project string) (line int) {
	content, err := finite.ReadFile(filepath.Join(project, "Makefile"))
	if err != nil {
		return 0
	}
	before, _, found := strings.Cut(string(content), "go version -m")
	if !found {
		return 0
	}
	return 1 + strings.Count(before, "\n")
}

// computed is the value of setup-envtest's version in Makefiles that take it from the
// required controller-runtime: the branch of its release.
func computed(project, expression string) string {
	const runtime = "sigs.k8s.io/controller-runtime"
	if !strings.Contains(expression, runtime) {
		return ""
	}
	content, err := finite.ReadFile(filepath.Join(project, "go.mod"))
	if err != nil {
		return ""
	}
	mod, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		return ""
	}
	for _, r := range mod.Require {
		if r.Mod.Path == runtime {
			return "release-" + strings.TrimPrefix(semver.MajorMinor(r.Mod.Version), "v")
		}
	}
	return ""
}
