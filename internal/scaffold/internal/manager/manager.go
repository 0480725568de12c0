// Package manager knows the project's manager: the file with its main function, what code there does
// with an error, and where its permissions come from.
package manager

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
	"github.com/slipway-dev/slipway/project"
)

// LeftToUser introduces the lines that the user is to add to a file where the manager's code is left alone. The file is
// "" where it is not known.
func LeftToUser(file string) string {
	if file != "" {
		file = " to " + file
	}
	return "--skip-wiring leaves the manager's code to you; add these lines" + file + ":\n"
}

// FlagsFile is the code, in projects made by slipway, with which a manager starts before it has a certificate.
const FlagsFile = "internal/manager/flags.go"

// Failure is what happens to err at the builder's insertion point: it is returned
// from a function that can, and ends the process in one that cannot, which is how
// other tools scaffold main. A plan that records names needs no code.
func Failure(p *plan.Plan, src []byte, imports gofile.Imports, doing string) string {
	switch {
	case p.NamesOnly():
		return ""
	case !returnsError(src):
		return fmt.Sprintf("\t%s.Error(err, %q)\n\tos.Exit(1)\n", wiring.Logger(src), "unable to "+doing)
	case imports["fmt"] == "":
		return "\treturn err\n"
	}
	return fmt.Sprintf("\treturn fmt.Errorf(\"%s: %%w\", err)\n", doing)
}

// returnsError reports whether the function around the builder's insertion point, or around the place that stands
// for it, returns an error alone.
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

// MainFile is the file with the code that sets up controllers: the main function, where the layout has it or another
// one has, or what that calls in another package of the project.
func MainFile(p *plan.Plan, file *project.Project) (string, error) {
	return mainFile(p, file, wiring.SetsUpControllers)
}

// WebhookMainFile is the file with the code that sets up webhooks: [MainFile], unless another main does it.
func WebhookMainFile(p *plan.Plan, file *project.Project) (string, error) {
	return mainFile(p, file, wiring.SetsUpWebhooks, wiring.SetsUpControllers)
}

// mainFile finds that file. Of several mains below cmd it is the one of which the first sign is true that is of any.
func mainFile(p *plan.Plan, file *project.Project, setsUp ...func([]byte) bool) (string, error) {
	usual := file.MainFile()
	for _, name := range []string{usual, "cmd/main.go", "main.go"} {
		c, err := p.Find(name)
		if err != nil {
			return name, err
		}
		if c.There() {
			return calledBy(p, file.Repo, c)
		}
	}
	mains, err := mainsBelowCmd(p)
	if err != nil {
		return "", err
	}
	several := likeliest(mains, setsUp...)
	if len(several) == 1 {
		return several[0], nil
	}
	name, beyond, err := beyondMain(p, file.Repo, mains)
	if err != nil || name != "" {
		return name, err
	}
	if p.Recording() { // nothing is in it then
		return usual, nil
	}
	return "", noManager(usual, mains, append(several, beyond...))
}

// calledBy is a main file or, if it has no place for controllers, the one that it leads to which has.
func calledBy(p *plan.Plan, module string, main *plan.File) (string, error) {
	if hasPlace(main.After()) {
		return main.Path(), nil
	}
	name, _, err := beyondMain(p, module, []*plan.File{main})
	if name == "" {
		name = main.Path()
	}
	return name, err
}

// ErrNoManager is why nothing can be added to the manager: its code is not where slipway looks for it.
var ErrNoManager = errors.New("slipway looks for the manager in cmd/main.go, main.go, the folders of cmd and what these import")

// noManager says which files were looked at: the several that could be the one or, without any, the main.go files, and
// what each of them lacks.
func noManager(usual string, mains []*plan.File, several []string) error {
	e := &report.Error{What: "there is no " + usual + " to add code to", Where: usual, Err: ErrNoManager, Hint: "nothing was changed"}
	switch {
	case len(several) > 0:
		e.What, e.Where = "several files have a manager to add code to", strings.Join(several, ", ")
		e.Hint = "put the comment // +" + insertionPoint + " into the right one alone, or add the lines that --skip-wiring shows; nothing was changed"
	case len(mains) > 0:
		var names []string
		for _, c := range mains {
			names = append(names, c.Path())
		}
		e.What, e.Where = "no main.go has a place for the code", strings.Join(names, ", ")
		e.Hint = "expected a call of NewManager, or the comment +" + insertionPoint + "; nothing was changed"
	}
	return e
}

// insertionPoint is the comment above which kinds are added.
const insertionPoint = "kubebuilder:scaffold:builder"

// Source is [MainFile] or [WebhookMainFile] and its text, or nothing where there is none: for showing code that is left
// to the user.
func Source(p *plan.Plan, of *project.Project, mainFile func(*plan.Plan, *project.Project) (string, error)) (file string, src []byte) {
	file, err := mainFile(p, of)
	if err != nil {
		return "", nil
	}
	c, err := p.Find(file)
	if err != nil || !c.There() {
		return "", nil
	}
	return file, c.After()
}
