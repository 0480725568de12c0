package makefile

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// Tools describes the tools that an operator's Makefile installs: controller-gen, kustomize and setup-envtest.
type Tools struct {
	Versions map[string]string // by program name
	Unknown  []string          // version variables whose value only make knows
	// Obstacles are the lines that keep make from using a program in the project's folder of tools.
	Obstacles []Obstacle
	// Inspects is the line that runs go version -m on a program's file, or 0.
	Inspects int
}

// An Obstacle is a line that keeps make from using a program in the project's folder of tools.
type Obstacle struct {
	File   string
	Line   int
	Tool   string
	Target string // the target whose recipe always installs the program; "" if the line takes the program from PATH
}

// installed are the tools that are looked for, each with the variable of its version.
var installed = []struct {
	recipe.Program
	version string
}{
	{recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN", Package: "sigs.k8s.io/controller-tools/cmd/controller-gen"}, "CONTROLLER_TOOLS_VERSION"},
	{recipe.Program{Name: "kustomize", Variable: "KUSTOMIZE", Package: "sigs.k8s.io/kustomize/kustomize"}, "KUSTOMIZE_VERSION"},
	{recipe.Program{Name: "setup-envtest", Variable: "ENVTEST", Package: controllerRuntime + "/tools/setup-envtest"}, "ENVTEST_VERSION"},
}

var goCommand = recipe.Program{Name: "go", Variable: "GO"}

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// ToolsOf returns how a Makefile gets its tools. Getenv and files are those of [Texts]; files have the project's
// go.mod, too.
func ToolsOf(content []byte, getenv func(string) string, files fs.FS) Tools {
	m := read(string(content), getenv, files, nil)
	tools := Tools{Versions: map[string]string{}}
	for _, t := range installed {
		switch value, known := m.version(t.version); {
		case value != "":
			tools.Versions[t.Name] = value
		case !known:
			tools.Unknown = append(tools.Unknown, t.version)
		}
		if v := m.variables[t.Variable]; takesFromPath(v.value, t.Name) {
			tools.Obstacles = append(tools.Obstacles, Obstacle{File: v.file, Line: v.line, Tool: t.Name})
		}
	}
	for _, text := range m.texts(goCommand) {
		tools.Obstacles = append(tools.Obstacles, installs(text)...)
	}
	slices.SortStableFunc(tools.Obstacles, func(a, b Obstacle) int { return a.Line - b.Line })
	if before, _, found := strings.Cut(string(content), "go version -m"); found {
		tools.Inspects = 1 + strings.Count(before, "\n")
	}
	return tools
}

// version returns the value of a version variable, or "". Known is false if only make knows it. If the Makefile
// computes the version of setup-envtest from go.mod, it is the release branch of the required controller-runtime.
func (m *reader) version(variable string) (value string, known bool) {
	v := m.variables[variable]
	value = m.expand("$("+variable+")", 0)
	if strings.Contains(value, unknownValue) && strings.Contains(v.value, controllerRuntime) && !v.conditional {
		if release := semver.MajorMinor(recipe.Required(m.files, controllerRuntime)); release != "" {
			value = "release-" + strings.TrimPrefix(release, "v")
		}
	}
	if strings.ContainsAny(value, "/ `"+unknownValue) {
		return "", false
	}
	return value, true
}

// fromPath captures the program in a variable's value that is looked up in PATH.
var fromPath = lazy.Regexp(`^(?:\$\(shell (?:which|command -v) ([a-z-]+)[^)]*\)|([a-z-]+))$`)

func takesFromPath(value, program string) bool {
	found := fromPath().FindStringSubmatch(value)
	return found != nil && found[1]+found[2] == program
}

// installs returns the tools that a recipe always installs. A target that is a file runs its recipe only if the file is
// missing.
func installs(text recipe.Text) (found []Obstacle) {
	if text.Optional || strings.ContainsAny(text.Target, "$/. ") {
		return nil
	}
	for _, call := range recipe.Calls([]recipe.Text{text}, goCommand, nil) {
		if len(call.Arguments) == 0 || call.Arguments[0] != "install" && call.Arguments[0] != "get" {
			continue
		}
		for _, t := range installed {
			if slices.ContainsFunc(call.Arguments, func(word string) bool { return isPackage(word, t.Package) }) {
				found = append(found, Obstacle{File: call.File, Line: call.Line, Tool: t.Name, Target: call.Target})
			}
		}
	}
	return found
}

// isPackage reports whether a word of a go command names a package, with any major version.
func isPackage(word, pkg string) bool {
	name, _, _ := strings.Cut(word, "@")
	major := path.Base(name)
	return name == pkg || path.Dir(name) == pkg && semver.IsValid(major) && semver.Major(major) == major
}

var (
	// goInstalls matches calls of the go command that build a program, up to the end of the command.
	goInstalls = lazy.Regexp(`(?:^|[\s;&|({/])(?:go|\$[({]GO\w*[)}])\s+(?:install|get|build)\b[^;&|]*`)
	// pinned matches calls that install a program at a version; $@ is not a version.
	pinned = lazy.Regexp(`^\s*\S+\s+(?:install|get)\b.*[\w)}]@`)
	// installMacro matches the macros of kubebuilder's Makefiles: go-install-tool, and before that go-get-tool.
	installMacro = lazy.Regexp(`\$[({]call\s+go[-_](?:install|get)[-\w]*\s*,`)
)

// preparing are commands that may surround the installation of a tool.
var preparing = []string{"mkdir", "rm", "test", "[", "if", "echo", "chmod", "mv", "ln", "set"}

// installsTools reports whether a target's recipe only installs tools: programs of other modules at a version (@), or a
// file in LOCALBIN that is not built from the project.
func (g *goalReader) installsTools(target string, own []recipe.Text) bool {
	folder := g.expand("$(LOCALBIN)", 0)
	inFolder := folder != "" && !strings.Contains(folder, unknownValue) && strings.HasPrefix(target, folder+"/")
	installs := inFolder
	for _, text := range own {
		shell := text.Shell
		if strings.Contains(shell, unknownValue) {
			shell = text.Source
		}
		calls := goInstalls().FindAllString(shell, -1)
		if slices.ContainsFunc(calls, func(call string) bool { return !pinned().MatchString(call) }) {
			return false
		}
		words := strings.Fields(shell)
		switch {
		case len(calls) > 0, installMacro().MatchString(text.Source):
			installs = true
		case inFolder, len(words) > 0 && slices.Contains(preparing, words[0]):
		default:
			return false
		}
	}
	return installs && len(own) > 0
}
