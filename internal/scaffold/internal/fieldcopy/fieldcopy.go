// Package fieldcopy writes the Go statements that convert one version of a kind to another, as far as syntax shows.
// [Read] reads the types of a package. [Statements] copies the fields whose types are the same, or differ only in names
// at any depth, and adds a TODO for each other field.
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
	renamed  []Renamed
	within   []string // the types of dst that are being copied, outermost first: none is looked into again
	left     int      // how many more values are looked into
}

// most bounds how many values are copied. Types that use others twice, at each of many levels, have no end otherwise.
const most = 5000

// A Renamed is a field that has another name in one version than in the others.
type Renamed struct{ Before, After string }

// Statements returns the statements that set dst, of dst's package, to the values of src.
func Statements(kind string, dst, src *Types, renamed ...Renamed) string {
	c := &fieldCopy{dst: dst, src: src, renamed: renamed, left: most}
	var b block
	c.structs(&b, place{"dst", "src"}, dst.declared[kind], src.declared[kind])
	return b.text.String()
}

// A place is what is set, and what it is set from: two Go expressions.
type place struct{ dst, src string }

// isObject reports whether a place is the object itself.
func (p place) isObject() bool { return p.dst == "dst" }

// structs copies the fields of a struct. It reports whether both are structs.
func (c *fieldCopy) structs(b *block, at place, dst, src goType) bool {
	to, ok := fields(dst)
	from, ok2 := fields(src)
	if !ok || !ok2 {
		return false
	}
	for _, f := range to {
		if at.isObject() && isMeta(f) {
			continue
		}
		i := c.counterpart(f.name, from)
		if i < 0 {
			b.todo("%s.%s (%s) has no counterpart here", at.dst, f.name, types.ExprString(f.Expr))
			continue
		}
		at := place{at.dst + "." + f.name, at.src + "." + from[i].name}
		if !ast.IsExported(f.name) || !c.value(b, at, f.goType, from[i].goType) {
			b.todo("%s (%s) from %s (%s)", at.dst, types.ExprString(f.Expr), at.src, types.ExprString(from[i].Expr))
		}
	}
	for _, f := range from {
		if c.counterpart(f.name, to) < 0 && !(at.isObject() && isMeta(f)) {
			b.todo("%s.%s (%s) would be lost", at.src, f.name, types.ExprString(f.Expr))
		}
	}
	return true
}

// counterpart returns which field of the other version is meant by the name of one; -1 for none.
func (c *fieldCopy) counterpart(name string, others []goField) int {
	if i := slices.IndexFunc(others, func(g goField) bool { return g.name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(others, func(g goField) bool {
		return slices.Contains(c.renamed, Renamed{g.name, name}) || slices.Contains(c.renamed, Renamed{name, g.name})
	})
}

// isMeta reports whether a field of an object has the same type in all versions, and is copied elsewhere.
func isMeta(f goField) bool { return f.name == "TypeMeta" || f.name == "ObjectMeta" }

// value copies a value of any type. It reports whether there is a way, and writes nothing otherwise.
func (c *fieldCopy) value(b *block, at place, dst, src goType) bool {
	if c.left--; c.left < 0 {
		return false
	}
	if conversion, ok := c.conversion(dst, src); ok {
		b.line("%s = %s", at.dst, fmt.Sprintf(conversion, at.src))
		return true
	}
	name, named := c.dst.local(dst)
	if named && slices.Contains(c.within, name) {
		return false
	}
	if named {
		c.within = append(c.within, name)
		defer func() { c.within = c.within[:len(c.within)-1] }()
	}
	to, from := c.dst.resolve(dst), c.src.resolve(src)
	if _, isStruct := to.Expr.(*ast.StructType); isStruct {
		_, both := c.src.local(src)
		return named && both && c.structs(b, at, to, from)
	}
	made, ok := c.dst.spell(dst)
	if !ok {
		return false
	}
	switch to := to.Expr.(type) {
	case *ast.StarExpr:
		from, ok := from.Expr.(*ast.StarExpr)
		return ok && c.pointer(b, at, goType{to.X, dst.imports}, goType{from.X, src.imports})
	case *ast.ArrayType:
		from, ok := from.Expr.(*ast.ArrayType)
		return ok && to.Len == nil && from.Len == nil && c.items(b, at, made, goType{to.Elt, dst.imports}, goType{from.Elt, src.imports})
	case *ast.MapType:
		from, ok := from.Expr.(*ast.MapType)
		return ok && c.entries(b, at, made, [2]goType{{to.Key, dst.imports}, {to.Value, dst.imports}}, [2]goType{{from.Key, src.imports}, {from.Value, src.imports}})
	}
	return false
}

// pointer copies what a pointer leads to, and leaves nil alone.
func (c *fieldCopy) pointer(b *block, at place, dst, src goType) bool {
	made, ok := c.dst.spell(dst)
	inner := b.inner(1)
	if !ok || !c.value(inner, place{inside(c.dst, dst, at.dst), inside(c.src, src, at.src)}, dst, src) {
		return false
	}
	b.line("if %s != nil {", at.src)
	b.line("\t%s = new(%s)", at.dst, made)
	b.add(inner)
	b.line("}")
	return true
}

// inside is the expression of what a pointer leads to; a struct's fields are reached through the pointer itself.
func inside(t *Types, of goType, pointer string) string {
	if _, isStruct := t.resolve(of).Expr.(*ast.StructType); isStruct {
		return pointer
	}
	return "(*" + pointer + ")"
}

// items copies a slice item by item, and leaves nil alone.
func (c *fieldCopy) items(b *block, at place, made string, dst, src goType) bool {
	index := b.index()
	inner := b.inner(2)
	if !c.value(inner, place{at.dst + "[" + index + "]", at.src + "[" + index + "]"}, dst, src) {
		return false
	}
	b.line("if %s != nil {", at.src)
	b.line("\t%s = make(%s, len(%s))", at.dst, made, at.src)
	b.line("\tfor %s := range %s {", index, at.src)
	b.add(inner)
	b.line("\t}")
	b.line("}")
	return true
}

// entries copies a map entry by entry, and leaves nil alone. A map is left to the user as a whole if a part of its
// entries is.
func (c *fieldCopy) entries(b *block, at place, made string, dst, src [2]goType) bool {
	key, ok := c.conversion(dst[0], src[0])
	valueType, ok2 := c.dst.spell(dst[1])
	index := b.index()
	inner, entry := b.inner(2), place{"to" + strings.ToUpper(index), "from" + strings.ToUpper(index)}
	if !ok || !ok2 || !c.value(inner, entry, dst[1], src[1]) || inner.open {
		return false
	}
	b.line("if %s != nil {", at.src)
	b.line("\t%s = make(%s, len(%s))", at.dst, made, at.src)
	b.line("\tfor %s, %s := range %s {", index, entry.src, at.src)
	b.line("\t\tvar %s %s", entry.dst, valueType)
	b.add(inner)
	b.line("\t\t%s[%s] = %s", at.dst, fmt.Sprintf(key, index), entry.dst)
	b.line("\t}")
	b.line("}")
	return true
}

// conversion returns the expression that converts %s from type src to type dst.
func (c *fieldCopy) conversion(dst, src goType) (string, bool) {
	to, ok := c.dst.foreign(dst)
	from, ok2 := c.src.foreign(src)
	if ok && ok2 && to == from {
		return "%s", true
	}
	format := "%s(%%s)"
	if toPointer, isPointer := dst.Expr.(*ast.StarExpr); isPointer {
		fromPointer, isPointer := src.Expr.(*ast.StarExpr)
		if !isPointer {
			return "", false
		}
		dst.Expr, src.Expr, format = toPointer.X, fromPointer.X, "(*%s)(%%s)"
	}
	name, ok := c.dst.spell(dst)
	if !ok || !c.isNamed(dst, src) || !c.sameUnderlying(c.dst.resolve(dst), c.src.resolve(src)) {
		return "", false
	}
	return fmt.Sprintf(format, name), true
}

// isNamed reports whether the packages declare one of the types. Go converts between other types only if they are
// equal.
func (c *fieldCopy) isNamed(dst, src goType) bool {
	_, ok := c.dst.local(dst)
	_, ok2 := c.src.local(src)
	return ok || ok2
}

// sameUnderlying reports whether Go converts between the types: they are equal apart from tags, and refer to nothing
// that the packages declare. A field that is not exported is another one in each package.
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
		return ok && ok2 && one == other && a.name == b.name && (!isStruct || ast.IsExported(a.name))
	})
}
