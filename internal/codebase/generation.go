package codebase

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// Folders of generated files in kubebuilder's layouts.
const (
	CRDFolder     = "config/crd/bases"
	RoleFolder    = "config/rbac"
	WebhookFolder = "config/webhook"
	PolicyFolder  = "config/vap" // slipway's own
)

// A Generation is how a project's files generate code: the Makefile, Taskfile.yml, justfile, mise.toml, go:generate
// directives, and the scripts that these run. The zero value is a project without any.
type Generation struct {
	// Calls are the project's calls of controller-gen, in order.
	Calls []Call
	// Tool is how the project installs controller-gen.
	Tool makefile.Tool
	// Sources are the files that were searched for calls, without Go files.
	Sources []string
	// Slipway reports whether the Makefile generates with slipway, as the scaffolded one does.
	Slipway bool
	// Layout reports whether PROJECT names a known layout. It decides what is generated if Calls is empty.
	Layout bool
}

// Unknown reports whether nothing determines what is generated: no call, no use of slipway and no known layout.
func (g Generation) Unknown() bool { return len(g.Calls) == 0 && !g.Slipway && !g.Layout }

// A Call is one call of controller-gen. Uses and what follows from them are empty if Unclear or Err is set.
type Call struct {
	recipe.Call
	// Arguments are the call's arguments without flags and obsolete options.
	Arguments []string
	Paths     []string // package patterns; none means the folder where it runs
	Tags      []string // build tags; nil means the default
	Uses      []arguments.Use
	Obsolete  []report.Finding // options that have no effect any more
	// Err is why the arguments are invalid.
	Err error
}

// At returns the position of the call.
func (c Call) At() report.Position { return report.Position{File: c.File, Line: c.Line, Column: 1} }

// slipway is this program, as scaffolded Makefiles call it.
var slipway = recipe.Program{Name: "slipway", Variable: "SLIPWAY"}

// readGeneration searches the project's files for calls of controller-gen. It reads go:generate directives only if no
// other file generates, or if one runs go generate.
func (c *Codebase) readGeneration() (g Generation, err error) {
	content, err := c.makefile()
	if err != nil {
		return g, err
	}
	program := arguments.Program()
	texts := makefile.Texts(content, c.getenv, c.view, program, slipway)
	g.Slipway = len(recipe.Calls(texts, slipway, nil)) > 0
	if len(content) > 0 {
		g.Sources = append(g.Sources, makefile.Name)
	}
	g.Sources = append(g.Sources, recipe.TaskFiles(c.view)...)
	texts = append(texts, recipe.Tasks(c.view)...)
	found := recipe.Calls(texts, program, c.view)
	if len(found) == 0 && !g.Slipway || slices.ContainsFunc(texts, runsDirectives) {
		directives, err := recipe.Directives(c.view, c.getenv)
		if err != nil {
			return g, &report.Error{Class: report.BadProject, What: "the project's folder cannot be read", Where: ".", Err: err}
		}
		texts = append(texts, directives...)
		found = append(found, recipe.Calls(directives, program, c.view)...)
	}
	if verifying := !slices.ContainsFunc(found, generates); verifying && !g.Slipway {
		if byHand := recipe.Calls(c.handRunScripts(), program, c.view); len(byHand) > 0 {
			found = byHand
		}
	} else {
		found = slices.DeleteFunc(found, func(call recipe.Call) bool { return !generates(call) })
	}
	for _, call := range found {
		if !slices.ContainsFunc(g.Calls, func(known Call) bool { return known.same(call) }) {
			g.Calls = append(g.Calls, c.readCall(call))
		}
	}
	g.Tool = makefile.ToolOf(content, program, program.Package, c.getenv, c.view)
	for _, call := range g.Calls {
		g.Tool.Version = cmp.Or(g.Tool.Version, call.Version)
	}
	g.Tool.Version = cmp.Or(g.Tool.Version, recipe.Version(texts, program, program.Package, c.view))
	g.Layout = c.hasLayout()
	return g, nil
}

// makefile returns the Makefile's content, or nil without one.
func (c *Codebase) makefile() ([]byte, error) {
	content, err := c.view.ReadFile(makefile.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &report.Error{Class: report.BadProject, What: "the Makefile cannot be read", Where: makefile.Name, Err: err}
	}
	return content, nil
}

// generates reports whether a call generates files rather than verifies them, by the names of its file and target.
func generates(call recipe.Call) bool {
	return !strings.HasPrefix(path.Base(call.File), "verify") && !strings.HasPrefix(call.Target, "verify")
}

// handRunScripts returns calls of the scripts that repositories in the style of Kubernetes keep for running by hand.
func (c *Codebase) handRunScripts() (texts []recipe.Text) {
	for _, pattern := range []string{"hack/update*.sh", "hack/generate*.sh"} {
		scripts, _ := fs.Glob(c.view, pattern) // ErrBadPattern cannot occur
		for _, script := range scripts {
			texts = append(texts, recipe.Text{File: script, Line: 1, Command: script, Shell: shellword.Quote(script)})
		}
	}
	return texts
}

// runsDirectives reports whether a text runs go generate.
func runsDirectives(t recipe.Text) bool {
	return strings.Contains(t.Shell, "go generate") || strings.Contains(t.Source, "(GO) generate")
}

// same reports whether two calls do the same, as when the Makefile and a Taskfile run one script.
func (c Call) same(other recipe.Call) bool {
	if c.Unclear != "" || other.Unclear != "" {
		return c.File == other.File && c.Line == other.Line && c.Unclear == other.Unclear
	}
	return c.Dir == other.Dir && slices.Equal(c.Call.Arguments, other.Arguments)
}

// hasLayout reports whether PROJECT names a known layout. It ignores other mistakes in the file.
func (c *Codebase) hasLayout() bool {
	content, err := c.view.ReadFile(project.FileName)
	if err != nil {
		return false
	}
	var file struct {
		Version any
		Layout  any
	}
	if yaml.Unmarshal(content, &file) != nil {
		return false
	}
	described := project.Project{Version: fmt.Sprint(file.Version)}
	switch layout := file.Layout.(type) {
	case string:
		described.Layout = strings.Split(layout, ",")
	case []any:
		for _, one := range layout {
			described.Layout = append(described.Layout, fmt.Sprint(one))
		}
	}
	return described.KnownLayout()
}

func (c *Codebase) readCall(found recipe.Call) Call {
	call := Call{Call: found}
	if call.Unclear == "" && call.Dir != "" {
		if info, err := c.view.Stat(call.Dir); err != nil || !info.IsDir() {
			call.Unclear = "the project has no folder " + call.Dir
		}
	}
	if call.Unclear != "" {
		return call
	}
	args, tags, err := arguments.WithoutFlags(found.Arguments)
	if err != nil {
		call.Err = err
		return call
	}
	call.Tags = tags
	call.Arguments, call.Obsolete = withoutObsoleteOptions(args, call.At())
	read, err := arguments.Read(call.Arguments, Generators())
	call.Uses, call.Paths, call.Err = read.Uses, read.Paths, err
	return call
}

// Generators returns the names of the generators that a call may run.
func Generators() []string {
	return []string{"applyconfiguration", "crd", "object", "rbac", "schemapatch", "webhook"}
}
