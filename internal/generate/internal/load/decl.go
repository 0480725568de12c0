package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// TypeDecl is a type declaration at package level.
type TypeDecl struct {
	Package *Package
	File    *File
	Gen     *ast.GenDecl // the declaration that Spec is part of
	Spec    *ast.TypeSpec

	read    sync.Once
	markers marker.Values
	bad     bool
	fields  []*Field

	named      *Type
	under      sync.Once
	underlying *Type
	leads      sync.Once
	ending     bool // see ends
}

// Field is a field of a struct type as it is declared; a declaration of several
// names is a field for each.
type Field struct {
	Name    string // "" when the field is embedded
	Tag     reflect.StructTag
	Doc     string
	Markers marker.Values
	Syntax  *ast.Field
}

// Name is the declared name.
func (d *TypeDecl) Name() string { return d.Spec.Name.Name }

// IsAlias reports whether the declaration has the form type A = B.
func (d *TypeDecl) IsAlias() bool { return d.Spec.Assign.IsValid() }

// IsGeneric reports whether the declaration has type parameters.
func (d *TypeDecl) IsGeneric() bool { return d.Spec.TypeParams != nil }

// Doc is the doc comment without markers, see [docOf].
func (d *TypeDecl) Doc() string {
	doc := d.Spec.Doc
	if doc == nil && !d.Gen.Lparen.IsValid() {
		doc = d.Gen.Doc
	}
	return d.docOf(doc)
}

// docOf is the text of a doc comment as descriptions have it.
func (d *TypeDecl) docOf(group *ast.CommentGroup) string {
	return docOf(group, d.Package.Loader().Edition().Schemas.PlainDocs)
}

// Markers are the type's markers. Bad values among them become findings.
func (d *TypeDecl) Markers() marker.Values {
	d.readMarkers()
	return d.markers
}

// Fields are the fields when the type is declared as a struct, else nil. Bad
// values among their markers become findings.
func (d *TypeDecl) Fields() []*Field {
	d.readMarkers()
	return d.fields
}

// Broken reports whether a marker of the type or of its fields has a bad value.
func (d *TypeDecl) Broken() bool {
	d.readMarkers()
	return d.bad
}

func (d *TypeDecl) readMarkers() {
	d.read.Do(func() {
		attached := d.File.attached()
		d.markers = d.parse(attached.Types[d.Spec], marker.Type)
		st, ok := d.Spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, syntax := range st.Fields.List {
			f := Field{
				Tag:     tagOf(syntax.Tag),
				Doc:     d.docOf(syntax.Doc),
				Markers: d.parse(attached.Fields[syntax], marker.Field),
				Syntax:  syntax,
			}
			if len(syntax.Names) == 0 {
				d.fields = append(d.fields, &f)
			}
			for _, name := range syntax.Names {
				one := f
				one.Name = name.Name
				d.fields = append(d.fields, &one)
			}
		}
	})
}

func (d *TypeDecl) parse(comments []marker.Comment, target marker.Target) marker.Values {
	l := d.Package.loader
	values, findings := l.config.Registry.Parse(l.fset, comments, target)
	d.bad = d.bad || len(findings) > 0
	l.Report(findings...)
	return values
}

func tagOf(literal *ast.BasicLit) reflect.StructTag {
	if literal == nil {
		return ""
	}
	tag, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(tag)
}

// index records what f declares.
func (p *Package) index(f *File) {
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if m := newMethod(f, d); m != nil {
				p.methods[m.receiver] = append(p.methods[m.receiver], m)
			}
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				t := &TypeDecl{Package: p, File: f, Gen: d, Spec: spec.(*ast.TypeSpec)}
				t.named = &Type{Kind: Named, Decl: t}
				if t.IsAlias() {
					t.named.Kind = Alias
				}
				p.decls = append(p.decls, t)
				p.enter(t)
			}
		}
	}
}

// enter lets t be found by its name. What a compiler would refuse, and what would
// take endless depth to read, is told.
func (p *Package) enter(t *TypeDecl) {
	if tooDeep(t.Spec.Type, deepest) {
		p.mistake(t, t.Name()+" is nested too deeply")
		t.Spec.Type = &ast.BadExpr{From: t.Spec.Type.Pos(), To: t.Spec.Type.End()}
	}
	first := p.byName[t.Name()]
	switch {
	case first == nil:
		p.byName[t.Name()] = t
	case p.Root && t.Name() != "_":
		p.mistake(t, fmt.Sprintf("%s redeclared in this package, see %s", t.Name(), p.loader.ShortPosition(first.Spec.Pos())))
	}
}

func (p *Package) mistake(t *TypeDecl, message string) {
	p.loader.Report(report.Finding{Rule: report.RuleDeclaration, Position: p.loader.Position(t.Spec.Pos()), Message: message, Fatal: true})
}

// deepest is how many types may stand within each other without names.
const deepest = 200

// tooDeep reports whether more than limit type expressions stand within each other.
func tooDeep(expr ast.Expr, limit int) bool {
	if limit == 0 {
		return true
	}
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return tooDeep(e.X, limit-1)
	case *ast.StarExpr:
		return tooDeep(e.X, limit-1)
	case *ast.ArrayType:
		return tooDeep(e.Elt, limit-1)
	case *ast.ChanType:
		return tooDeep(e.Value, limit-1)
	case *ast.MapType:
		return tooDeep(e.Key, limit-1) || tooDeep(e.Value, limit-1)
	case *ast.IndexExpr:
		return tooDeep(e.Index, limit-1)
	case *ast.StructType:
		return slices.ContainsFunc(e.Fields.List, func(f *ast.Field) bool { return tooDeep(f.Type, limit-1) })
	}
	return false
}
