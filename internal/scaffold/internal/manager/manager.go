// Package manager finds the manager in a project's code: the file that sets up controllers, how that code handles an
// error, and where the manager's permissions come from.
package manager

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
	"github.com/slipway-dev/slipway/project"
)

// FlagsFile is a file of projects made by slipway. Its code lets the manager start before it has a certificate.
const FlagsFile = "internal/manager/flags.go"

// Failure returns the code that handles err at the builder's insertion point. It returns err if the function can, and
// otherwise ends the process, as kubebuilder's main does. A plan that records names needs no code.
func Failure(p *plan.Plan, src []byte, imports gofile.Imports, doing string) string {
	switch {
	case p.NamesOnly():
		return ""
	case !returnsError(src):
		return fmt.Sprintf("\tsetupLog.Error(err, %q)\n\tos.Exit(1)\n", "unable to "+doing)
	case imports["fmt"] == "":
		return "\treturn err\n"
	}
	return fmt.Sprintf("\treturn fmt.Errorf(\"%s: %%w\", err)\n", doing)
}

// returnsError reports whether the function around the builder's insertion point, or what stands for it, returns an
// error and nothing else.
func returnsError(src []byte) bool {
	function := wiring.Function(src)
	if function == nil {
		_, _, err := gofile.Parse("", src, parser.SkipObjectResolution)
		return err == nil && !bytes.Contains(src, []byte("+kubebuilder:scaffold:builder"))
	}
	results := function.Results
	if results == nil || len(results.List) != 1 {
		return false
	}
	name, ok := results.List[0].Type.(*ast.Ident)
	return ok && name.Name == "error"
}

// Main is the file that sets up the manager's controllers.
type Main struct {
	File    string        // "" if several files qualify, or none
	Unclear *report.Error // why File is ""
	several []*plan.File  // the files that qualify
}

// Place is where an error about the manager's code points: a file, or several.
func (m Main) Place() string {
	if m.Unclear != nil {
		return m.Unclear.Where
	}
	return m.File
}

// Find finds the file that sets up controllers in the manager's main package.
func Find(p *plan.Plan, file *project.Project) (Main, error) {
	return find(p, file, wiring.SetsUpControllers)
}

// FindForWebhooks is [Find], but prefers a file that sets up webhooks.
func FindForWebhooks(p *plan.Plan, file *project.Project) (Main, error) {
	return find(p, file, wiring.SetsUpWebhooks, wiring.SetsUpControllers)
}

// find tries the signs in order, and takes the files for which the first sign that any file has is true: a manager for
// controllers may stand beside one for webhooks.
func find(p *plan.Plan, file *project.Project, signs ...func([]byte) bool) (Main, error) {
	files, err := mainFiles(p)
	if err != nil {
		return Main{}, err
	}
	usual := file.MainFile()
	if len(files) == 0 { // a new project's files are planned only; a plan that records has none
		there, err := p.Exists(usual)
		if err != nil || there || p.Recording() {
			return Main{File: usual}, err
		}
		return Main{Unclear: &report.Error{Class: report.BadProject, What: "there is no " + usual + " to add code to", Where: usual,
			Hint: "restore the file, or name the folder of the main package with --manager"}}, nil
	}
	found := with(files, func(src []byte) bool { return wiring.HasMarker(src, "builder") })
	if len(found) == 0 {
		found = with(files, func(src []byte) bool { return bytes.Contains(src, []byte("NewManager(")) })
	}
	for _, is := range signs {
		if some := with(found, is); len(some) > 0 {
			found = some
			break
		}
	}
	switch {
	case len(found) == 1:
		return Main{File: found[0].Path()}, nil
	case len(found) > 1:
		what, hint := "several files have a manager to add code to", "put the comment +kubebuilder:scaffold:builder into the right one alone"
		if path.Dir(found[0].Path()) != path.Dir(found[len(found)-1].Path()) {
			what, hint = what+", and --manager names none of their folders", "name the folder of one with --manager"
		}
		return Main{Unclear: &report.Error{Class: report.BadProject, What: what, Where: paths(found), Hint: hint}, several: found}, nil
	case len(files) == 1:
		return Main{File: files[0].Path()}, nil // the refusal names it with its line
	}
	return Main{Unclear: &report.Error{Class: report.BadProject, What: "no file of the main package has the comment +kubebuilder:scaffold:builder, or calls NewManager", Where: paths(files),
		Hint: "put that comment where the manager is set up"}}, nil
}

// mainFiles returns the files of the manager's main package, or of all packages that may be it.
func mainFiles(p *plan.Plan) (files []*plan.File, err error) {
	managers, err := p.Code().Managers()
	if err != nil {
		return nil, err
	}
	for _, m := range managers {
		for _, name := range p.Code().GoFilesIn(m.Package) {
			c, err := p.Find(name)
			if err != nil {
				return nil, err
			}
			files = append(files, c)
		}
	}
	return files, nil
}

func with(files []*plan.File, is func([]byte) bool) (some []*plan.File) {
	for _, c := range files {
		if is(c.After()) {
			some = append(some, c)
		}
	}
	return some
}

func paths(files []*plan.File) string {
	var names []string
	for _, c := range files {
		names = append(names, c.Path())
	}
	return strings.Join(names, ", ")
}

// schemeFile returns the file that registers types with the manager's scheme: main itself, or the file of its package
// with the marker.
func schemeFile(p *plan.Plan, main string) (string, error) {
	names := p.Code().GoFilesIn(path.Dir(main))
	for _, name := range slices.Concat([]string{main}, names) {
		c, err := p.Find(name)
		if err != nil {
			return "", err
		}
		if wiring.HasMarker(c.After(), "scheme") {
			return name, nil
		}
	}
	return main, nil
}
