// Package manager knows the project's manager: the file with its main function, what code there does
// with an error, and where its permissions come from.
package manager

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

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
		return fmt.Sprintf("\tsetupLog.Error(err, %q)\n\tos.Exit(1)\n", "unable to "+doing)
	case imports["fmt"] == "":
		return "\treturn err\n"
	}
	return fmt.Sprintf("\treturn fmt.Errorf(\"%s: %%w\", err)\n", doing)
}

// returnsError reports whether the function around the builder's insertion point
// returns an error alone.
func returnsError(src []byte) bool {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(file.Comments, func(g *ast.CommentGroup) bool {
		return slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return strings.HasSuffix(c.Text, "+kubebuilder:scaffold:builder") })
	})
	if i < 0 {
		return true
	}
	at := file.Comments[i].Pos()
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || at < f.Pos() || at > f.End() {
			continue
		}
		results := f.Type.Results
		if results == nil || len(results.List) != 1 {
			return false
		}
		name, ok := results.List[0].Type.(*ast.Ident)
		return ok && name.Name == "error"
	}
	return false
}

// MainFile is the file with the manager's main function.
func MainFile(p *plan.Plan) (string, error) {
	for _, file := range []string{"cmd/main.go", "main.go"} {
		if there, err := p.Exists(file); err != nil || there {
			return file, err
		}
	}
	if p.Recording() { // nothing is in it then
		return "cmd/main.go", nil
	}
	return "", &report.Error{What: "there is no cmd/main.go to add the API to", Where: p.Root(), Hint: "the manager's main package belongs there; nothing was changed"}
}
