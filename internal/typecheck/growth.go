package typecheck

import (
	"go/ast"
	"go/token"
	"unicode/utf8"
)

// A few lines of constants that each double the one before stand for terabytes. So the lengths of constant strings are
// estimated before go/types sees them. The estimate, by names, is never too low.

// maxGrown bounds the bytes that references to long constants stand for in one check. References to at most short bytes
// do not count: the code's size limits those. A constant whose declaration is not read counts as short.
const (
	maxGrown = 64 << 20
	short    = 128
)

const tooGrown = "its constants are too large to check"

// lengths estimates the strings that the constants of a package may be, in bytes.
type lengths struct {
	*moduleSources
	imported map[string]int            // by name, the longest in imported packages
	dotted   bool                      // an import is named "."
	declared map[string]*constantValue // of the package
	local    map[string][]int          // by name, in functions; the innermost is last
	scopes   [][]string                // names that each open block declares
}

// A constantValue is what is known of all constants of one name.
type constantValue struct {
	exprs  []ast.Expr // one per declaration of the name
	known  bool
	length int
}

// constantsTooLarge reports whether the constants of the check, with these files, may become too large.
func (k *moduleSources) constantsTooLarge(files []*file) bool {
	l := k.measured(files)
	for _, f := range files {
		if f.syntax != nil {
			l.walk(f.syntax)
		}
	}
	return k.constantBytes > maxGrown
}

// measured returns the lengths of what the files declare.
func (k *moduleSources) measured(files []*file) *lengths {
	l := &lengths{moduleSources: k, imported: map[string]int{}, declared: map[string]*constantValue{}, local: map[string][]int{}}
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

// longNames returns the lengths of the package's constants that are not short.
func (p *pkg) longNames() map[string]int {
	if p.long != nil {
		return p.long
	}
	p.long = map[string]int{} // set first, since the package may import itself by mistake
	for name, c := range p.code.measured(p.filesThat(func(f *file) bool { return !f.outside() })).declared {
		if c.length > short {
			p.long[name] = c.length
		}
	}
	return p.long
}

// eachConstant calls do for each name and value, including the repeated values of an implicit list, as with iota.
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

// walk counts the references in sums below a node.
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
				if len(l.scopes) > 0 { // those of the package are already measured
					eachConstant(n, l.enter)
				}
				return false
			}
		case *ast.BinaryExpr:
			l.maxLength(n)
			return false
		}
		opened = append(opened, block)
		return true
	})
}

// enter declares a constant in the innermost block.
func (l *lengths) enter(name string, value ast.Expr) {
	l.local[name] = append(l.local[name], l.maxLength(value))
	last := len(l.scopes) - 1
	l.scopes[last] = append(l.scopes[last], name)
}

// leave drops the constants of the innermost block.
func (l *lengths) leave() {
	last := len(l.scopes) - 1
	for _, name := range l.scopes[last] {
		l.local[name] = l.local[name][:len(l.local[name])-1]
	}
	l.scopes = l.scopes[:last]
}

// maxLength returns the greatest length of the string that an expression may be, in bytes. It is 0 for other
// expressions.
func (l *lengths) maxLength(e ast.Expr) (length int) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return len(e.Value)
		}
	case *ast.Ident:
		return l.count(l.ident(e.Name))
	case *ast.SelectorExpr:
		l.maxLength(e.X)
		return l.count(l.elsewhere(e.Sel.Name))
	case *ast.ParenExpr:
		return l.maxLength(e.X)
	case *ast.CallExpr: // a conversion, also from a number to a string, or min or max
		l.maxLength(e.Fun)
		length = utf8.UTFMax
		for _, a := range e.Args {
			length += l.maxLength(a)
		}
		return length
	case *ast.BinaryExpr:
		length = l.maxLength(e.X) + l.maxLength(e.Y)
		if e.Op == token.ADD {
			return length
		}
	case nil:
	default:
		l.walk(e)
	}
	return 0
}

// count adds a reference to k.grown and returns its length. Beyond the limit it returns 0, which ends the growth.
func (l *lengths) count(length int) int {
	if length > short {
		l.constantBytes += length
	}
	if l.constantBytes > maxGrown {
		return 0
	}
	return length
}

// ident returns the length of the constant that a name refers to.
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
		c.known = true // set first, since it may refer to itself by mistake
		for _, e := range c.exprs {
			c.length = max(c.length, l.maxLength(e))
		}
	}
	return c.length
}

// elsewhere returns the length of a constant of another package.
func (l *lengths) elsewhere(name string) int { return max(short, l.imported[name]) }
