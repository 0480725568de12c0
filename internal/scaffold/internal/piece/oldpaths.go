package piece

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// OldPaths is the statement by which webhooks answer at the paths of another version of their kind, too. It stands in
// the function that sets them up, before the chain of calls that builds them, and has that chain's expressions:
//
//	if err := setupCronJobV1alpha1Webhooks(mgr, &CronJobDefaulter{}, &CronJobValidator{}); err != nil {
//		return err
//	}
type OldPaths struct{ Kind, Version string }

// Call is the function that the statement calls.
func (o OldPaths) Call() string {
	return "setup" + o.Kind + strings.ToUpper(o.Version[:1]) + o.Version[1:] + "Webhooks"
}

// ID implements plan.Piece.
func (o OldPaths) ID() string { return "old paths " + o.Call() }

// builderMethods are the methods of a chain that builds webhooks which the webhooks of other paths need not have.
var builderMethods = []string{
	"NewWebhookManagedBy", "For", "WithDefaulter", "WithValidator", "WithCustomPath", "WithDefaulterCustomPath", "WithValidatorCustomPath", "WithLogConstructor", "RecoverPanic", "Complete",
}

// Moves reports whether a function sets up webhooks whose paths contain the version. The error names the place of code
// whose form is not recognized.
func (o OldPaths) Moves(file string, src []byte) (bool, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	chain, err := o.chain(file, parsed, fset)
	return err == nil && (chain.defaulter != nil || chain.validator != nil), err
}

// Insert implements plan.Piece.
func (o OldPaths) Insert(file string, src []byte) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.SkipObjectResolution)
	if err != nil || callsOf(parsed, o.Call()) != nil {
		return src, err
	}
	chain, err := o.chain(file, parsed, fset)
	if err != nil {
		return nil, err
	}
	text := func(e ast.Expr) string {
		if e == nil {
			return "nil"
		}
		return string(src[fset.Position(e.Pos()).Offset:fset.Position(e.End()).Offset])
	}
	at := fset.Position(chain.statement.Pos()).Offset
	indent := string(src[at-fset.Position(chain.statement.Pos()).Column+1 : at])
	if strings.TrimSpace(indent) != "" {
		indent = ""
	}
	code := fmt.Sprintf("if err := %s(%s, %s, %s); err != nil {\n%s\treturn err\n%s}\n%s", o.Call(), text(chain.manager), text(chain.defaulter), text(chain.validator), indent, indent, indent)
	return slices.Concat(src[:at], []byte(code), src[at:]), nil
}

// Remove implements plan.Piece.
func (o OldPaths) Remove(src []byte) ([]byte, int) {
	parsed, fset, err := gofile.Parse("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	for _, statement := range setupBody(parsed, o.Kind) {
		if call := failing(statement); call != nil && types.ExprString(call.Fun) == o.Call() {
			from, to := fset.Position(statement.Pos()).Offset, fset.Position(statement.End()).Offset
			return slices.Concat(src[:from], []byte(strings.TrimLeft(string(src[to:]), " \t\r\n"))), 0
		}
	}
	if call := callsOf(parsed, o.Call()); call != nil {
		return src, fset.Position(call.Pos()).Line
	}
	return src, 0
}

// A chain of calls builds webhooks in a statement. The defaulter and the validator are nil if they have no path that
// contains the version.
type chain struct {
	statement                     ast.Stmt
	manager, defaulter, validator ast.Expr
}

// chain finds the chain in the function that sets up the webhooks.
func (o OldPaths) chain(file string, parsed *ast.File, fset *token.FileSet) (*chain, error) {
	place := parsed.Pos()
	for _, statement := range setupBody(parsed, o.Kind) {
		if callsOf(statement, "NewWebhookManagedBy") == nil {
			continue
		}
		place = statement.Pos()
		if c := chainIn(statement); c != nil {
			return c, nil
		}
	}
	return nil, &report.Error{Class: report.BadProject, What: "create version does not recognize how this sets up the webhooks of " + o.Kind, Where: report.Position{File: file, Line: fset.Position(place).Line}.String()}
}

// chainIn returns the chain that a statement evaluates first, or nil if it has no such form.
func chainIn(statement ast.Stmt) *chain {
	c, called := &chain{statement: statement}, map[string]*ast.CallExpr{}
	for call := evaluated(statement); call != nil; {
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || called[method.Sel.Name] != nil {
			return nil
		}
		called[method.Sel.Name] = call
		call, _ = method.X.(*ast.CallExpr)
	}
	begin := called["NewWebhookManagedBy"]
	if begin == nil || len(begin.Args) == 0 || called["WithDefaulter"] == nil && called["WithValidator"] == nil {
		return nil
	}
	c.manager = begin.Args[0]
	for name, call := range called {
		switch {
		case !slices.Contains(builderMethods, name):
			return nil
		case name != "WithDefaulter" && name != "WithValidator", called["WithCustomPath"] != nil, called[name+"CustomPath"] != nil:
		case len(call.Args) != 1:
			return nil // it has options
		case name == "WithDefaulter":
			c.defaulter = call.Args[0]
		default:
			c.validator = call.Args[0]
		}
	}
	return c
}

// evaluated returns the call that a statement evaluates first: that of return, of err :=, or of if err :=.
func evaluated(statement ast.Stmt) (call *ast.CallExpr) {
	var values []ast.Expr
	switch s := statement.(type) {
	case *ast.ReturnStmt:
		values = s.Results
	case *ast.AssignStmt:
		values = s.Rhs
	case *ast.IfStmt:
		if assignment, ok := s.Init.(*ast.AssignStmt); ok {
			values = assignment.Rhs
		}
	}
	if len(values) == 1 {
		call, _ = values[0].(*ast.CallExpr)
	}
	return call
}

// setupBody returns the statements of the function that sets up a kind's webhooks and returns an error alone.
func setupBody(file *ast.File, kind string) []ast.Stmt {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && f.Body != nil && f.Name.Name == "Setup"+kind+"WebhookWithManager" && f.Type.Results.NumFields() == 1 {
			return f.Body.List
		}
	}
	return nil
}

// failing returns the call whose error a statement returns: if err := f(); err != nil { return err }.
func failing(statement ast.Stmt) *ast.CallExpr {
	s, ok := statement.(*ast.IfStmt)
	if !ok || s.Else != nil || len(s.Body.List) != 1 || types.ExprString(s.Cond) != "err != nil" {
		return nil
	}
	if returned, ok := s.Body.List[0].(*ast.ReturnStmt); !ok || len(returned.Results) != 1 || types.ExprString(returned.Results[0]) != "err" {
		return nil
	}
	return evaluated(s)
}

// callsOf returns the first call of a function or method of a name, or nil.
func callsOf(in ast.Node, name string) (found *ast.CallExpr) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil {
			return found == nil
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			ok = f.Name == name
		case *ast.SelectorExpr:
			ok = f.Sel.Name == name
		default:
			ok = false
		}
		if ok {
			found = call
		}
		return found == nil
	})
	return found
}

// OldPathsArgument takes a webhook that goes out of the statements of [OldPaths], which go on with the other one.
type OldPathsArgument struct{ Kind, Argument string }

// ID implements plan.Piece.
func (a OldPathsArgument) ID() string { return "old paths " + a.Kind + " " + a.Argument }

// Insert implements plan.Piece: a new webhook has no old paths.
func (a OldPathsArgument) Insert(_ string, src []byte) ([]byte, error) { return src, nil }

// Remove implements plan.Piece.
func (a OldPathsArgument) Remove(src []byte) ([]byte, int) {
	parsed, fset, err := gofile.Parse("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	for _, statement := range slices.Backward(setupBody(parsed, a.Kind)) {
		call := failing(statement)
		if call == nil || len(call.Args) != 3 || !strings.HasPrefix(types.ExprString(call.Fun), "setup"+a.Kind) {
			continue
		}
		for _, argument := range slices.Backward(call.Args) {
			from, to := fset.Position(argument.Pos()).Offset, fset.Position(argument.End()).Offset
			if string(src[from:to]) == a.Argument {
				src = slices.Concat(src[:from], []byte("nil"), src[to:])
			}
		}
	}
	return src, 0
}
