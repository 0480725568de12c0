package feature

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// watchByHand refuses a manager whose options are not written where it is made, with the code for its author to add.
// Code that mentions the variable is left alone the next time.
func watchByHand(p *plan.Plan, files []string) error {
	refused := &report.Error{What: "the manager has no ctrl.Options{ … }", Where: files[len(files)-1] + ":1"}
	options, imports := "options", []byte(nil)
	for _, file := range files {
		c, err := p.Find(file)
		if err != nil {
			return err
		}
		if line, given := managerCall(c.After()); line > 0 {
			refused.What, refused.Where = "the manager's options are not a ctrl.Options{ … } in this call", fmt.Sprintf("%s:%d", file, line)
			options, imports = given, c.After()
		}
	}
	refused.Hint = "nothing was changed; let the manager watch the namespaces in WATCH_NAMESPACE: add this before it is made and run the command again:\n" +
		watchingCode(options, gofile.ImportsOf(imports))
	return refused
}

// managerCall is the line at which a file makes the manager, or 0, and what it gives it as options: the name of a
// variable, or a usual one.
func managerCall(src []byte) (line int, options string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return 0, ""
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || line > 0 || len(call.Args) != 2 || !makesManager(call.Fun) {
			return line == 0
		}
		line, options = fset.Position(call.Pos()).Line, "options"
		switch call.Args[1].(type) {
		case *ast.Ident, *ast.SelectorExpr:
			options = string(src[fset.Position(call.Args[1].Pos()).Offset:fset.Position(call.Args[1].End()).Offset])
		}
		return false
	})
	return line, options
}

// makesManager reports whether a function is ctrl.NewManager or manager.New.
func makesManager(function ast.Expr) bool {
	selector, ok := function.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return selector.Sel.Name == "NewManager" || ok && pkg.Name == "manager" && selector.Sel.Name == "New"
}

// watchingCode has options watch the namespaces of the variable. It begins with the imports that a file lacks.
func watchingCode(options string, imported gofile.Imports) string {
	var code strings.Builder
	for _, pkg := range []string{"os", "strings", "sigs.k8s.io/controller-runtime/pkg/cache"} {
		if _, has := imported[pkg]; !has {
			fmt.Fprintf(&code, "import %q\n", pkg)
		}
	}
	cache := imported.Name("sigs.k8s.io/controller-runtime/pkg/cache", "cache")
	fmt.Fprintf(&code, `if list := os.Getenv("WATCH_NAMESPACE"); list != "" {
	%[1]s.Cache.DefaultNamespaces = map[string]%[2]s.Config{}
	for _, name := range strings.Split(list, ",") {
		%[1]s.Cache.DefaultNamespaces[name] = %[2]s.Config{}
	}
}`, options, cache)
	return code.String()
}
