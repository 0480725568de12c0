package schema

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// Options change what schemas are made of.
type Options struct {
	// AllowDangerousTypes allows floating-point numbers.
	AllowDangerousTypes bool
	// IgnoreUnexportedFields skips fields that no serialiser sees.
	IgnoreUnexportedFields bool
	// EmbeddedObjectMeta writes out the usual fields of embedded ObjectMeta.
	EmbeddedObjectMeta bool
	// FullObjectMeta reads ObjectMeta's declaration like that of any other type.
	FullObjectMeta bool
	// WithoutDoubts is for schemas that are read and not written: whatever writes them has its doubts, with the options
	// of the project.
	WithoutDoubts bool
}

// Builder makes the schemas of one run. Mistakes in the code that it reads are
// reported to the loader. It may be used by several goroutines.
type Builder struct {
	loader  *load.Loader
	options Options

	mu      sync.Mutex
	flat    map[*load.TypeDecl]*Schema
	merged  map[*Schema]*Schema
	extents map[*Schema]extent
	own     sync.Map // *load.TypeDecl → func() *Schema

	whereUsed sync.Map // doubts that the uses of a struct decide: *Schema of a field → func()
	bounded   sync.Map // *Schema of the first stage → [bounded], the markers of its bounds
	judged    map[use]bool

	reachedMu sync.Mutex
	reached   []*load.Package // the user's packages that types were needed of
}

// NewBuilder returns a builder for the packages of loader.
func NewBuilder(loader *load.Loader, options Options) *Builder {
	return &Builder{
		loader:  loader,
		options: options,
		flat:    make(map[*load.TypeDecl]*Schema),
		merged:  make(map[*Schema]*Schema),
		extents: make(map[*Schema]extent),
		judged:  make(map[use]bool),
	}
}

// schemaOf is the first stage: the schema of a declaration, with references.
func (b *Builder) schemaOf(d *load.TypeDecl) *Schema {
	compute, _ := b.own.LoadOrStore(d, sync.OnceValue(func() *Schema { return b.declared(d) }))
	return compute.(func() *Schema)()
}

func (b *Builder) declared(d *load.TypeDecl) *Schema {
	b.reach(d.Package)
	if s, found := b.known(d); s != nil {
		return s
	} else if found || d.Package.Markers().Has("kubebuilder:skip") {
		b.fail(d.Spec.Pos(), d.File, "%s.%s has no schema", d.Package.Path, d.Name())
		return &Schema{}
	}
	return b.declaredBy(d)
}

// reach notes that a type of p is needed and, if the package is the user's, reads
// all its markers, also of types that nothing refers to: what is wrong with one of
// them is wrong.
func (b *Builder) reach(p *load.Package) {
	if !p.Local() {
		if b.loader.Edition().Syntax.Groups { // it refuses the core group's own marker
			p.Markers()
		}
		return
	}
	b.reachedMu.Lock()
	defer b.reachedMu.Unlock()
	if slices.Contains(b.reached, p) {
		return
	}
	b.reached = append(b.reached, p)
	for _, d := range p.Decls() {
		d.Markers()
	}
}

// Reached are the user's packages that types were needed of so far.
func (b *Builder) Reached() []*load.Package {
	b.reachedMu.Lock()
	defer b.reachedMu.Unlock()
	return slices.Clone(b.reached)
}

// declaredBy reads the declaration, unless the type serialises itself and its
// markers say as what.
func (b *Builder) declaredBy(d *load.TypeDecl) *Schema {
	c := context{b: b, decl: d, own: true}
	switch {
	case marshals(d.Type(), "MarshalJSON"):
		s := &Schema{}
		c.apply(d.Markers(), s, d.Spec.Type.Pos())
		if s.Type != "" {
			return s
		}
	case marshals(d.Type(), "MarshalText") && c.edition().MarshalText:
		s := &Schema{Type: "string"}
		c.apply(d.Markers(), s, d.Spec.Type.Pos())
		if s.Type != "string" {
			b.fail(d.Spec.Type.Pos(), d.File, "%s implements encoding.TextMarshaler, so its schema cannot be %q", d.Name(), s.Type)
		}
		return s
	}
	return c.typ(d.Spec.Type)
}

// marshals reports whether values of t, or pointers to them, have the method
// with the signature func() ([]byte, error).
func marshals(t *load.Type, method string) bool {
	m, _ := t.Method(method)
	if m == nil || len(m.Params()) != 0 {
		return false
	}
	results := m.Results()
	if len(results) != 2 {
		return false
	}
	bytes, err := results[0].Unalias(), results[1].Unalias()
	return bytes.Kind == load.Slice && isByte(bytes.Elem.Unalias()) && err.Kind == load.Interface && err.Name == "error"
}

func isByte(t *load.Type) bool { return t.IsBasic("byte") || t.IsBasic("uint8") }

// context is the declaration in which a type expression stands. Own is set for
// the expression on its right, which its doc and markers describe.
type context struct {
	b    *Builder
	decl *load.TypeDecl
	own  bool
}

func (c context) inner() context { c.own = false; return c }

// edition is what schemas depend on.
func (c context) edition() *edition.Schemas { return &c.decl.Package.Loader().Edition().Schemas }

// failing is the refusal of what ends the program in its version.
func (c context) failing() error {
	return fmt.Errorf("controller-gen %s fails at this; a later version does not", c.decl.Package.Loader().Edition().Version)
}

func (b *Builder) fail(pos token.Pos, f *load.File, format string, args ...any) {
	b.loader.Report(report.Finding{Rule: report.RuleInvalidSchema, Position: f.Position(pos), Message: fmt.Sprintf(format, args...), Fatal: true})
}

func (c context) fail(node ast.Node, format string, args ...any) *Schema {
	c.b.fail(node.Pos(), c.decl.File, format, args...)
	return &Schema{}
}

// typ is the schema of a type expression.
func (c context) typ(expr ast.Expr) *Schema {
	var s *Schema
	switch e := expr.(type) {
	case *ast.Ident:
		s = c.ident(e)
	case *ast.SelectorExpr:
		s = c.selector(e)
	case *ast.ArrayType:
		s = c.array(e)
	case *ast.MapType:
		s = c.mapping(e)
	case *ast.StarExpr:
		s = c.pointer(e)
	case *ast.StructType:
		s = c.structure(e)
	case *ast.InterfaceType:
		return c.fail(expr, "an interface has no schema; use a concrete type, or apiextensionsv1.JSON for any value")
	case *ast.IndexExpr, *ast.IndexListExpr:
		return c.fail(expr, "a type with type arguments has no schema; declare a type without them")
	default:
		return c.fail(expr, "%s has no schema", describe(expr))
	}
	if c.own {
		s.Description = c.decl.Doc()
		c.apply(c.decl.Markers(), s, expr.Pos())
	} else {
		s.Description = ""
	}
	return s
}

func describe(expr ast.Expr) string {
	switch expr.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return "a type with type arguments"
	case *ast.FuncType:
		return "a function"
	case *ast.ChanType:
		return "a channel"
	case *ast.ParenExpr:
		return "a type in parentheses"
	}
	return fmt.Sprintf("%T", expr)
}

// ident is the schema of a name without a package: of this one, of one imported
// with a dot, or built in.
func (c context) ident(e *ast.Ident) *Schema {
	t := c.decl.TypeOf(e)
	alias := t.Kind == load.Alias
	if alias {
		t = c.aliased(t)
	}
	switch t.Kind {
	case load.Basic:
		s, err := c.b.basic(t)
		if err != nil {
			c.fail(e, "%v", err)
		}
		if t.Name != e.Name && c.edition().AliasedBasics { // an alias after all, but of a basic type
			s.ref = c.aliasOf(e)
		}
		return s
	case load.Named, load.Alias:
		return c.named(t)
	case load.TypeParam:
		return c.fail(e, "%s is a type parameter and has no schema; declare a type without type parameters", e.Name)
	case load.Invalid:
		return c.unknownName(e, alias)
	case load.Interface:
		return c.fail(e, "%s is an interface and has no schema; use a concrete type, or apiextensionsv1.JSON for any value", e.Name)
	}
	return c.fail(e, "%s is an alias, and controller-gen makes no schema of %s through one; declare it without the =: type %s …", e.Name, forms[t.Kind], e.Name)
}

// forms are how messages call types that are no names.
var forms = map[load.Kind]string{
	load.Pointer: "a pointer", load.Slice: "a list", load.Array: "an array", load.Map: "a map", load.Struct: "a struct",
	load.Func: "a function", load.Chan: "a channel",
}

func (c context) unknownName(e *ast.Ident, alias bool) *Schema {
	switch d := c.decl.Package.Decl(e.Name); {
	case alias:
		return c.fail(e, "%s is an alias of a type that is unknown or needs type arguments; declare a type without an alias", e.Name)
	case d != nil && d.IsGeneric():
		return c.fail(e, "%s has type parameters and has no schema; declare a type without type parameters", e.Name)
	}
	return c.fail(e, "unknown type %s", e.Name)
}

// named refers to a declared type. Field markers about lists, maps and values
// need to know what it is in the end.
func (c context) named(t *load.Type) *Schema {
	s := c.reference(t)
	known := c.edition().NamedBasics && (t.Kind == load.Named || c.edition().NamedLists)
	if t.Underlying().Kind == load.Basic && known {
		target := c.b.schemaOf(t.Decl)
		s.Type, s.Format = target.Type, target.Format
	}
	return s
}

// reference refers to a declared type. Whether it is a list or a map is known without its declaration's schema.
func (c context) reference(t *load.Type) *Schema {
	s := &Schema{ref: t.Decl}
	if !c.edition().NamedLists {
		return s
	}
	switch t.Underlying().Kind {
	case load.Slice:
		s.Type = "array"
	case load.Map:
		s.Type = "object"
	}
	return s
}

// aliased is what the name of an alias stands for. What an alias says about itself does not count.
func (c context) aliased(t *load.Type) *load.Type {
	if c.edition().AliasForms {
		return t.Underlying()
	}
	return t.Decl.Right()
}

// aliasOf is the declaration of the alias that a basic type is called by.
func (c context) aliasOf(e *ast.Ident) *load.TypeDecl {
	if d := c.decl.TypeOf(e).Decl; d != nil {
		return d
	}
	return c.decl.Package.Decl(e.Name)
}

// pointer is the schema of what a pointer points to.
func (c context) pointer(e *ast.StarExpr) *Schema {
	if c.own && c.edition().RepeatedPointers {
		return c.typ(e.X)
	}
	return c.inner().typ(e.X)
}

// selector is the schema of package.Name.
func (c context) selector(e *ast.SelectorExpr) *Schema {
	t := c.decl.TypeOf(e)
	if t.Kind != load.Named && t.Kind != load.Alias {
		return c.unknownSelector(e)
	}
	return c.reference(t)
}

func (c context) unknownSelector(e *ast.SelectorExpr) *Schema {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return c.fail(e, "%s has no schema", describe(e))
	}
	if _, err := c.decl.File.Import(x.Name); err != nil {
		return c.fail(e, "unknown type %s.%s: %v", x.Name, e.Sel.Name, err)
	}
	return c.fail(e, "unknown type %s.%s", x.Name, e.Sel.Name)
}

func (c context) array(e *ast.ArrayType) *Schema {
	if _, composed := e.Elt.(*ast.ArrayType); !composed && e.Len == nil && c.decl.TypeOf(e.Elt).IsBasic("byte") {
		return &Schema{Type: "string", Format: "byte"} // base64
	}
	return &Schema{Type: "array", Items: c.inner().typ(e.Elt)}
}

// mapping is the schema of a map, whose keys are strings in JSON.
func (c context) mapping(e *ast.MapType) *Schema {
	key := c.decl.TypeOf(e.Key)
	if under := key.Underlying(); key.Kind == load.Alias || !under.IsBasic("string") {
		if !c.edition().TextKeys || !marshals(key, "MarshalText") {
			return c.fail(e.Key, "the keys of a map must be strings or implement encoding.TextMarshaler")
		}
	}
	switch e.Value.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.StarExpr, *ast.MapType:
		return &Schema{Type: "object", AdditionalProperties: &Additional{Schema: c.inner().typ(e.Value)}}
	case *ast.InterfaceType:
		return c.fail(e.Value, "an interface has no schema; use a concrete type, or apiextensionsv1.JSON for any value")
	}
	return c.fail(e.Value, "%s cannot be the value of a map here; declare a type for it", describe(e.Value))
}

// errFloat says why floating-point numbers are not allowed.
var errFloat = errors.New("floating-point numbers differ between languages; use a string, or crd:allowDangerousTypes=true")

// basic is the schema of a type that is built in.
func (b *Builder) basic(t *load.Type) (*Schema, error) {
	switch t.Name {
	case "bool":
		return &Schema{Type: "boolean"}, nil
	case "string":
		return &Schema{Type: "string"}, nil
	case "int32", "rune", "uint32":
		return &Schema{Type: "integer", Format: "int32"}, nil
	case "int64", "uint64":
		return &Schema{Type: "integer", Format: "int64"}, nil
	case "int", "int8", "int16", "uint", "uint8", "uint16", "byte", "uintptr":
		return &Schema{Type: "integer"}, nil
	case "float32", "float64":
		if b.options.AllowDangerousTypes {
			return &Schema{Type: "number"}, nil
		}
		return &Schema{}, errFloat
	}
	return &Schema{}, fmt.Errorf("%s has no schema", t.Name)
}

// apply lets markers change s and reports those that cannot, at the marker or
// else at pos.
func (c context) apply(values marker.Values, s *Schema, pos token.Pos) {
	for _, problem := range c.applyAll(values, s) {
		c.b.fail(cmp.Or(problem.pos, pos), c.decl.File, "%v", problem.err)
	}
	c.doubtSchema(values, s)
}
