package load

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
)

// checkedPackage is what go/types says about a package.
type checkedPackage struct {
	types *types.Package
	info  *types.Info
}

// unknown answers for an expression that syntax cannot: it type-checks the
// package around it, once, and counts that.
func (s scope) unknown(expr ast.Expr) *Type {
	p := s.file.Package
	checked := p.typeCheck()
	if t := checked.info.TypeOf(expr); t != nil {
		return p.loader.fromGo(p, t)
	}
	return invalid
}

// typeCheck checks the declarations of p. Errors are tolerated: what is invalid
// shows itself as an invalid type.
func (p *Package) typeCheck() *checkedPackage {
	p.check.Do(func() {
		p.loader.checked.Add(1)
		p.loader.Note(fmt.Sprintf("%s: type-checked with go/types", p.Path))
		c := p.loader.checker
		c.mu.Lock()
		defer c.mu.Unlock()
		p.checkedTypes = c.check(p)
	})
	return p.checkedTypes
}

// checker checks packages and, for their sake, the declarations of those that
// they import. It sees the types, constants and methods of interest in the files
// of interest, see [onlyTypes], and in others what they take the lengths of arrays from.
type checker struct {
	loader *Loader

	mu   sync.Mutex
	done map[*Package]*checkedPackage
}

// check checks p unless that was done before. The caller holds c.mu.
func (c *checker) check(p *Package) *checkedPackage {
	if done := c.done[p]; done != nil {
		return done
	}
	c.loader.config.Notes.Handle(report.Detail{Text: fmt.Sprintf("type-checking package %d, %s", len(c.done)+1, p.Path)})
	result := &checkedPackage{
		types: types.NewPackage(p.Path, p.Name()),
		info: &types.Info{
			Types: make(map[ast.Expr]types.TypeAndValue),
			Defs:  make(map[*ast.Ident]types.Object),
			Uses:  make(map[*ast.Ident]types.Object),
		},
	}
	c.done[p] = result
	var files []*ast.File
	sources, lengths := p.withLengths()
	for _, f := range sources {
		files = append(files, onlyTypes(f, lengths))
	}
	config := types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.importFor(p, path) }),
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Error:            func(error) {},
	}
	// Errors are in Config.Error's hands; what is left is in result.
	_ = types.NewChecker(&config, c.loader.fset, result.types, result.info).Files(files)
	return result
}

func (c *checker) importFor(from *Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p, err := from.Import(path)
	if err != nil {
		return nil, err
	}
	return c.check(p).types, nil
}

type importer func(path string) (*types.Package, error)

// Import implements [types.Importer].
func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// fromGo says in this package's words what go/types found while checking p.
func (l *Loader) fromGo(p *Package, t types.Type) *Type {
	switch t := t.(type) {
	case *types.Basic:
		return fromBasic(t)
	case *types.Pointer:
		return &Type{Kind: Pointer, Elem: l.fromGo(p, t.Elem())}
	case *types.Slice:
		return &Type{Kind: Slice, Elem: l.fromGo(p, t.Elem())}
	case *types.Array:
		return &Type{Kind: Array, Elem: l.fromGo(p, t.Elem())}
	case *types.Map:
		return &Type{Kind: Map, Key: l.fromGo(p, t.Key()), Elem: l.fromGo(p, t.Elem())}
	case *types.Chan:
		return &Type{Kind: Chan, Elem: l.fromGo(p, t.Elem())}
	case *types.Signature:
		return &Type{Kind: Func}
	case *types.TypeParam:
		return &Type{Kind: TypeParam, Name: t.Obj().Name()}
	case *types.Struct:
		return &Type{Kind: Struct, checked: t, scope: scope{file: anyFile(p)}}
	case *types.Interface:
		return &Type{Kind: Interface, checked: t, scope: scope{file: anyFile(p)}}
	case *types.Named:
		return l.fromNamed(p, t, t.Obj(), t.TypeArgs().Len() > 0)
	case *types.Alias:
		if !l.Edition().Types.Aliases {
			return l.fromGo(p, types.Unalias(t))
		}
		return l.fromNamed(p, t, t.Obj(), t.TypeArgs().Len() > 0)
	}
	return invalid
}

// anyFile gives a scope to what has no place in the syntax.
func anyFile(p *Package) *File {
	if files := p.Files(); len(files) > 0 {
		return files[0]
	}
	return &File{Package: p}
}

func fromBasic(t *types.Basic) *Type {
	switch {
	case t.Kind() == types.UnsafePointer:
		return unsafePointer
	case universe[t.Name()] != nil:
		return universe[t.Name()]
	}
	return invalid
}

func (l *Loader) fromNamed(p *Package, t types.Type, name *types.TypeName, instance bool) *Type {
	if name.Pkg() == nil {
		if u := universe[name.Name()]; u != nil {
			return u
		}
		return invalid
	}
	home := p
	if name.Pkg().Path() != p.Path {
		var err error
		if home, err = p.Import(name.Pkg().Path()); err != nil {
			return invalid
		}
	}
	decl := home.Decl(name.Name())
	switch {
	case decl == nil:
		return invalid
	case !instance:
		return decl.named
	}
	return &Type{Kind: Named, Decl: decl, checked: t}
}

func (t *Type) checkedFields() []StructField {
	st, ok := t.checked.(*types.Struct)
	if !ok {
		return nil
	}
	p := t.scope.file.Package
	fields := make([]StructField, st.NumFields())
	for i := range fields {
		f := st.Field(i)
		fields[i] = StructField{
			Name:     f.Name(),
			Embedded: f.Embedded(),
			Tag:      reflect.StructTag(st.Tag(i)),
			Type:     p.loader.fromGo(p, f.Type()),
		}
	}
	return fields
}

func (t *Type) checkedMethod(name string) *Method {
	iface, ok := t.checked.(*types.Interface)
	if !ok {
		return nil
	}
	for m := range iface.Methods() {
		if m.Name() == name {
			return &Method{Name: name, scope: t.scope, checked: m.Signature(), loader: t.scope.file.Package.loader}
		}
	}
	return nil
}
