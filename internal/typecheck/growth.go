package typecheck

import (
	"go/ast"
	"go/token"
	"unicode/utf8"
)

// A constant that is another one twice, of which one is that again, becomes terabytes in some lines. So how long
// strings become is estimated first, by the names of constants, and never as less than it is.

// maxGrown is how many bytes references to constants stand for in all sums of a check together. Those to short ones do
// not count: the code has room for only so many. A constant whose declaration is not read is taken for a short one.
const (
	maxGrown = 64 << 20
	short    = 128
)

const tooGrown = "its constants are too large to check"

// lengths are those of the strings that the constants of a package are, or may be.
type lengths struct {
	*code
	imported map[string]int            // the longest of each name that other packages have
	dotted   bool                      // names of theirs stand without a package
	declared map[string]*constantValue // of the package
	local    map[string][]int          // of functions, the inner ones last
	scopes   [][]string                // the names that blocks declare
}

// A constantValue is what a constant is declared to be.
type constantValue struct {
	exprs  []ast.Expr // of each declaration of the name
	known  bool
	length int
}

// grows reports whether the constants of some files may become too large.
func (k *code) grows(files []*file) bool {
	l := k.measured(files)
	for _, f := range files {
		if f.syntax != nil {
			l.walk(f.syntax)
		}
	}
	return k.grown > maxGrown
}

// measured measures what some files declare.
func (k *code) measured(files []*file) *lengths {
	l := &lengths{code: k, imported: map[string]int{}, declared: map[string]*constantValue{}, local: map[string][]int{}}
	seen := map[string]bool{}
	for _, f := range files {
		if f.syntax == nil {
			continue
		}
		for _, spec := range f.syntax.Imports {
			l.dotted = l.dotted || spec.Name != nil && spec.Name.Name == "."
		}
		for _, importPath := range f.imports {
			if p := k.load(importPath); p != nil && !seen[importPath] {
				seen[importPath] = true
				for name, length := range p.longNames() {
					l.imported[name] = max(l.imported[name], length)
				}
			}
		}
		for _, d := range f.syntax.Decls {
			if g, is := d.(*ast.GenDecl); is && g.Tok == token.CONST {
				eachConstant(g, l.declare)
			}
		}
	}
	for name := range l.declared {
		l.ident(name)
	}
	return l
}

// longNames are the lengths of the constants of a package that are not short.
func (p *pkg) longNames() map[string]int {
	if p.long != nil {
		return p.long
	}
	p.long = map[string]int{} // which may import itself, and then does not compile
	for name, c := range p.code.measured(p.filesThat(func(f *file) bool { return !f.outside() })).declared {
		if c.length > short {
			p.long[name] = c.length
		}
	}
	return p.long
}

// eachConstant calls a function with each name and value, also those that stand for the ones before them.
func eachConstant(d *ast.GenDecl, do func(name string, value ast.Expr)) {
	var values []ast.Expr
	for _, s := range d.Specs {
		spec, is := s.(*ast.ValueSpec)
		if !is {
			continue
		}
		if len(spec.Values) > 0 || spec.Type != nil {
			values = spec.Values
		}
		for i, name := range spec.Names {
			if i < len(values) {
				do(name.Name, values[i])
			}
		}
	}
}

func (l *lengths) declare(name string, value ast.Expr) {
	if l.declared[name] == nil {
		l.declared[name] = &constantValue{}
	}
	l.declared[name].exprs = append(l.declared[name].exprs, value)
}

// walk goes through code, and adds up what its sums are of.
func (l *lengths) walk(node ast.Node) {
	var opened []bool
	ast.Inspect(node, func(n ast.Node) bool {
		block := false
		switch n := n.(type) {
		case nil:
			if last := len(opened) - 1; opened[last] {
				l.leave()
			}
			opened = opened[:len(opened)-1]
			return false
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			block = true
			l.scopes = append(l.scopes, nil)
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				if len(l.scopes) > 0 { // those of the package are measured
					eachConstant(n, l.enter)
				}
				return false
			}
		case *ast.BinaryExpr:
			l.of(n)
			return false
		}
		opened = append(opened, block)
		return true
	})
}

// enter declares a constant in a block.
func (l *lengths) enter(name string, value ast.Expr) {
	l.local[name] = append(l.local[name], l.of(value))
	last := len(l.scopes) - 1
	l.scopes[last] = append(l.scopes[last], name)
}

// leave ends a block.
func (l *lengths) leave() {
	last := len(l.scopes) - 1
	for _, name := range l.scopes[last] {
		l.local[name] = l.local[name][:len(l.local[name])-1]
	}
	l.scopes = l.scopes[:last]
}

// of is how long the string may be that an expression is, if that is constant.
func (l *lengths) of(e ast.Expr) (length int) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return len(e.Value)
		}
	case *ast.Ident:
		return l.count(l.ident(e.Name))
	case *ast.SelectorExpr:
		l.of(e.X)
		return l.count(l.elsewhere(e.Sel.Name))
	case *ast.ParenExpr:
		return l.of(e.X)
	case *ast.CallExpr: // a conversion, also of a number to a character, min or max
		l.of(e.Fun)
		length = utf8.UTFMax
		for _, a := range e.Args {
			length += l.of(a)
		}
		return length
	case *ast.BinaryExpr:
		length = l.of(e.X) + l.of(e.Y)
		if e.Op == token.ADD {
			return length
		}
	case nil:
	default:
		l.walk(e)
	}
	return 0
}

// count counts what a reference stands for.
func (l *lengths) count(length int) int {
	if length > short {
		l.grown += length
	}
	if l.grown > maxGrown {
		return 0
	}
	return length
}

// ident is the length of what a name stands for.
func (l *lengths) ident(name string) int {
	if inner := l.local[name]; len(inner) > 0 {
		return inner[len(inner)-1]
	}
	c := l.declared[name]
	switch {
	case c == nil && l.dotted:
		return l.elsewhere(name)
	case c == nil:
		return 0
	case !c.known:
		c.known = true // it may be made of itself, and then does not compile
		for _, e := range c.exprs {
			c.length = max(c.length, l.of(e))
		}
	}
	return c.length
}

// elsewhere is the length of a constant of another package.
func (l *lengths) elsewhere(name string) int { return max(short, l.imported[name]) }
