// Package fieldcopy writes the Go statements that convert one version of a kind to another, as far as syntax shows.
// [Read] reads the types of a package. [Statements] copies the fields whose types are the same or convertible, and adds
// a TODO for each other field.
package fieldcopy

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

type fieldCopy struct {
	dst, src *Types
	b        strings.Builder
}

// Statements returns the statements that set dst, of dst's package, to the values of src.
func Statements(kind string, dst, src *Types) string {
	c := &fieldCopy{dst: dst, src: src}
	c.structs("", dst.declared[kind], src.declared[kind])
	return c.b.String()
}

// structs copies the fields of a struct at a path such as ".Spec".
func (c *fieldCopy) structs(path string, dst, src goType) bool {
	to, ok := fields(dst)
	from, ok2 := fields(src)
	if !ok || !ok2 {
		return false
	}
	for _, f := range to {
		if path == "" && (f.name == "TypeMeta" || f.name == "ObjectMeta") {
			continue
		}
		i := slices.IndexFunc(from, func(g goField) bool { return g.name == f.name })
		if i < 0 {
			c.todo("dst%s.%s (%s) has no counterpart here", path, f.name, types.ExprString(f.Expr))
			continue
		}
		c.field(path+"."+f.name, f.goType, from[i].goType)
	}
	for _, f := range from {
		if !slices.ContainsFunc(to, func(g goField) bool { return g.name == f.name }) && (path != "" || f.name != "TypeMeta" && f.name != "ObjectMeta") {
			c.todo("src%s.%s (%s) would be lost", path, f.name, types.ExprString(f.Expr))
		}
	}
	return true
}

func (c *fieldCopy) field(path string, dst, src goType) {
	if conversion, ok := c.conversion(dst, src); ok {
		fmt.Fprintf(&c.b, "\tdst%s = %s\n", path, fmt.Sprintf(conversion, "src"+path))
		return
	}
	if c.items(path, dst, src) {
		return
	}
	to, ok := c.dst.local(dst)
	from, ok2 := c.src.local(src)
	if ok && ok2 && c.structs(path, c.dst.declared[to], c.src.declared[from]) {
		return
	}
	c.todo("dst%s (%s) from src%s (%s)", path, types.ExprString(dst.Expr), path, types.ExprString(src.Expr))
}

// items copies a slice item by item, if the items are convertible.
func (c *fieldCopy) items(path string, dst, src goType) bool {
	to, ok := dst.Expr.(*ast.ArrayType)
	from, ok2 := src.Expr.(*ast.ArrayType)
	if !ok || !ok2 || to.Len != nil || from.Len != nil {
		return false
	}
	conversion, ok := c.conversion(goType{to.Elt, dst.imports}, goType{from.Elt, src.imports})
	if !ok {
		return false
	}
	fmt.Fprintf(&c.b, "\tfor _, item := range src%s {\n\t\tdst%s = append(dst%s, %s)\n\t}\n", path, path, path, fmt.Sprintf(conversion, "item"))
	return true
}

// conversion returns the expression that converts %s from type src to type dst.
func (c *fieldCopy) conversion(dst, src goType) (string, bool) {
	to, ok := c.dst.foreign(dst)
	from, ok2 := c.src.foreign(src)
	if ok && ok2 {
		return "%s", to == from
	}
	format := "%s(%%s)"
	if toPointer, isPointer := dst.Expr.(*ast.StarExpr); isPointer {
		fromPointer, isPointer := src.Expr.(*ast.StarExpr)
		if !isPointer {
			return "", false
		}
		dst.Expr, src.Expr, format = toPointer.X, fromPointer.X, "(*%s)(%%s)"
	}
	name, ok := c.dst.local(dst)
	other, ok2 := c.src.local(src)
	if !ok || !ok2 || !c.sameUnderlying(c.dst.declared[name], c.src.declared[other]) {
		return "", false
	}
	return fmt.Sprintf(format, c.dst.alias+name), true
}

// sameUnderlying reports whether Go converts between the types: they are equal apart from tags, and refer to nothing
// that the packages declare.
func (c *fieldCopy) sameUnderlying(dst, src goType) bool {
	to, isStruct := fields(dst)
	from, isStruct2 := fields(src)
	if isStruct != isStruct2 {
		return false
	}
	if !isStruct {
		to, from = []goField{{"", dst}}, []goField{{"", src}}
	}
	return slices.EqualFunc(to, from, func(a, b goField) bool {
		one, ok := c.dst.foreign(a.goType)
		other, ok2 := c.src.foreign(b.goType)
		return ok && ok2 && one == other && a.name == b.name
	})
}

func (c *fieldCopy) todo(format string, args ...any) {
	c.b.WriteString("\t// TODO: " + fmt.Sprintf(format, args...) + ".\n")
}
