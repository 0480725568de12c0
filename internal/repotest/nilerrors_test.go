package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoMessageOfNil: no message is made of an error that is, or may be, nil there. It would have %!w(<nil>).
func TestNoMessageOfNil(t *testing.T) {
	for _, name := range files(t, ".go") {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range nilUses(syntax) {
			t.Errorf("%s: the message has %s, which may be nil here", set.Position(use.Pos()), use.Name)
		}
	}
}

// TestNilUses: the rule finds what it is for, and nothing else.
func TestNilUses(t *testing.T) {
	for body, want := range map[string]int{
		`if err != nil || n == 0 { return fmt.Errorf("read: %w", err) }`:                                                                   1,
		`switch { case err != nil, n == 0: return fmt.Errorf("read: %w", err) }`:                                                           1,
		`if err == nil && n == 0 { return fmt.Errorf("read: %w", err) }`:                                                                   1,
		`if err != nil { return err }; if n == 0 { return fmt.Errorf("read: %w", err) }`:                                                   1,
		`if err != nil { return err }; for n < 1 { n++; return fmt.Errorf("read: %w", err) }`:                                              1,
		`if err != nil { return fmt.Errorf("read: %w", err) }`:                                                                             0,
		`if err != nil && n == 0 { return fmt.Errorf("read: %w", err) }`:                                                                   0,
		`if err != nil { return err }; if err = f(); n == 0 { return fmt.Errorf("read: %w", err) }`:                                        0,
		`if err != nil { return err }; if n, err := f(); n == 0 { return fmt.Errorf("read: %w", err) }`:                                    0,
		`if err != nil { n = 1 }; if n == 0 { return fmt.Errorf("read: %w", err) }`:                                                        0,
		`if err != nil || n == 0 { err = cmp.Or(err, errNone); return fmt.Errorf("read: %w", err) }`:                                       0,
		`if err == nil || n == 0 { return fmt.Errorf("read: %w", errNone) }`:                                                               0,
		`if err != nil { return err }; if n == 0 { return fmt.Errorf("read %d: %w", n, errNone) }`:                                         0,
		`if err != nil { return err }; go func() { err = f(); t.Log(fmt.Errorf("read: %w", err)) }()`:                                      0,
		`switch { case err == nil: return nil; case n == 0: return fmt.Errorf("read: %w", err) }`:                                          0,
		`if err == nil { return nil }; return fmt.Errorf("read: %w", err)`:                                                                 0,
		`if err != nil || n == 0 { t.Fatalf("%d, %v", n, err) }`:                                                                           0,
		`var last error; err := until(func() { last = f() }); return fmt.Errorf("wait: %w: %w", err, last)`:                                1,
		`var last error; err := until(func() { last = f() }); if last != nil { err = fmt.Errorf("%w: %w", err, last) }; return err`:        0,
		`var last error; if n == 0 { last = f() } else { last = g() }; if last == nil { return nil }; return fmt.Errorf("wait: %w", last)`: 0,
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), "a.go", "package p\nfunc f() error {\n"+body+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(nilUses(syntax)); got != want {
			t.Errorf("%s: found %d, want %d", body, got, want)
		}
	}
}

// nilUses are the errors in calls of Errorf that are wrapped where they may be nil, as far as syntax shows it: beside
// another reason to fail, or after a return for all that are not nil.
func nilUses(syntax *ast.File) (uses []*ast.Ident) {
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			uses = append(uses, wrapsAny(n.Body.List, nilIn([]ast.Expr{n.Cond}))...)
		case *ast.CaseClause:
			uses = append(uses, wrapsAny(n.Body, nilIn(n.List))...)
			uses = append(uses, afterReturn(n.Body)...)
		case *ast.BlockStmt:
			uses = append(uses, afterReturn(n.List)...)
			uses = append(uses, unset(n.List)...)
		}
		return true
	})
	return uses
}

// nilIn are the errors that may be nil where one of several conditions holds.
func nilIn(conditions []ast.Expr) (names []string) {
	var either []ast.Expr
	for _, c := range conditions {
		either = append(either, operands(c, token.LOR)...)
	}
	for _, c := range either {
		if name := comparedToNil(c, token.NEQ); name != "" && len(either) > 1 {
			names = append(names, name)
		}
		for _, part := range operands(c, token.LAND) {
			if name := comparedToNil(part, token.EQL); name != "" && len(either) == 1 {
				names = append(names, name)
			}
		}
	}
	return names
}

// afterReturn are the uses in statements after those that leave if an error is not nil.
func afterReturn(list []ast.Stmt) (uses []*ast.Ident) {
	for i, s := range list {
		leaves, ok := s.(*ast.IfStmt)
		if !ok || leaves.Init != nil || leaves.Else != nil || !returns(leaves.Body) {
			continue
		}
		if name := comparedToNil(leaves.Cond, token.NEQ); name != "" {
			uses = append(uses, wraps(list[i+1:], name)...)
		}
	}
	return uses
}

// unset are the uses of errors that are declared without a value, and that nothing compares to nil.
func unset(list []ast.Stmt) (uses []*ast.Ident) {
	for i, s := range list {
		d, ok := s.(*ast.DeclStmt)
		if !ok {
			continue
		}
		for _, spec := range d.Decl.(*ast.GenDecl).Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Values) > 0 || !isNamed(v.Type, "error") {
				continue
			}
			for _, name := range v.Names {
				for _, later := range list[i+1:] {
					if !compared(list[i+1:], name.Name) {
						uses = append(uses, wrapped(later, name.Name)...)
					}
				}
			}
		}
	}
	return uses
}

// compared reports whether a statement compares a name to nil.
func compared(list []ast.Stmt, name string) (found bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			found = found || ok && isNamed(b.X, name) && isNamed(b.Y, "nil")
			return true
		})
	}
	return found
}

func returns(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	_, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return ok
}

func operands(x ast.Expr, op token.Token) []ast.Expr {
	if b, ok := ast.Unparen(x).(*ast.BinaryExpr); ok && b.Op == op {
		return append(operands(b.X, op), operands(b.Y, op)...)
	}
	return []ast.Expr{ast.Unparen(x)}
}

// comparedToNil is the name of the error that a condition compares to nil, or "".
func comparedToNil(x ast.Expr, op token.Token) string {
	b, ok := x.(*ast.BinaryExpr)
	if !ok || b.Op != op || !isNamed(b.Y, "nil") {
		return ""
	}
	if name, ok := b.X.(*ast.Ident); ok && strings.HasPrefix(strings.ToLower(name.Name), "err") {
		return name.Name
	}
	return ""
}

func isNamed(x ast.Expr, name string) bool {
	ident, ok := x.(*ast.Ident)
	return ok && ident.Name == name
}

func wrapsAny(list []ast.Stmt, names []string) (uses []*ast.Ident) {
	for _, name := range names {
		uses = append(uses, wraps(list, name)...)
	}
	return uses
}

// wraps are the uses of a name in calls of Errorf, up to the first statement that gives it a value.
func wraps(list []ast.Stmt, name string) (uses []*ast.Ident) {
	for _, s := range list {
		if assigns(s, name) {
			break
		}
		uses = append(uses, wrapped(s, name)...)
	}
	return uses
}

// wrapped are the uses of a name in calls of Errorf in a statement.
func wrapped(s ast.Stmt, name string) (uses []*ast.Ident) {
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		format, ok := call.Args[0].(*ast.BasicLit)
		if called, is := call.Fun.(*ast.SelectorExpr); !is || called.Sel.Name != "Errorf" || !ok || !strings.Contains(format.Value, "%w") {
			return true
		}
		for _, argument := range call.Args[1:] {
			if isNamed(argument, name) {
				uses = append(uses, argument.(*ast.Ident))
			}
		}
		return true
	})
	return uses
}

// assigns reports whether a statement gives a name a value anywhere, or declares it anew.
func assigns(s ast.Stmt, name string) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				found = found || isNamed(left, name)
			}
		case *ast.ValueSpec:
			for _, declared := range n.Names {
				found = found || declared.Name == name
			}
		case *ast.Field:
			for _, declared := range n.Names {
				found = found || declared.Name == name
			}
		case *ast.RangeStmt:
			found = found || n.Key != nil && isNamed(n.Key, name) || n.Value != nil && isNamed(n.Value, name)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && isNamed(n.X, name)
		}
		return true
	})
	return found
}
