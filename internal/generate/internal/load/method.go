package load

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// Method is a method as it is declared.
type Method struct {
	Name string
	// Pointer is set when the receiver is a pointer.
	Pointer bool
	// Decl is the receiver's type; nil for a method of an interface.
	Decl *TypeDecl

	receiver string
	scope    scope
	syntax   *ast.FuncType
	checked  *types.Signature // set instead of syntax when go/types had to say
	loader   *Loader
}

// newMethod returns nil for what is not a method of interest.
func newMethod(f *File, d *ast.FuncDecl) *Method {
	if d.Recv == nil || len(d.Recv.List) != 1 || !slices.Contains(methodsOfInterest[:], d.Name.Name) {
		return nil
	}
	m := &Method{Name: d.Name.Name, scope: scope{file: f}, syntax: d.Type}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.ParenExpr:
			expr = e.X
			continue
		case *ast.StarExpr:
			m.Pointer = true
			expr = e.X
			continue
		case *ast.IndexExpr:
			expr = e.X
			continue
		case *ast.IndexListExpr:
			expr = e.X
			continue
		case *ast.Ident:
			m.receiver = e.Name
			return m
		}
		return nil
	}
}

// unaliasReceivers gives methods whose receiver is an alias of one of the package's
// types to that type.
func (p *Package) unaliasReceivers() {
	for _, name := range slices.Sorted(maps.Keys(p.methods)) {
		if target := p.unaliased(name); target != "" && target != name {
			p.methods[target] = append(p.methods[target], p.methods[name]...)
		}
	}
}

// unaliased is the type of the package that a name is, or is an alias of; "" when there is none.
func (p *Package) unaliased(name string) string {
	for range maxDepth {
		decl := p.byName[name]
		if decl == nil || !decl.IsAlias() {
			break
		}
		ident, ok := ast.Unparen(decl.Spec.Type).(*ast.Ident)
		if !ok {
			return ""
		}
		name = ident.Name
	}
	if p.byName[name] == nil {
		return ""
	}
	return name
}

// Params are the types of the method's parameters.
func (m *Method) Params() []*Type {
	if m.checked != nil {
		return m.tuple(m.checked.Params())
	}
	return m.list(m.syntax.Params)
}

// Results are the types of the method's results.
func (m *Method) Results() []*Type {
	if m.checked != nil {
		return m.tuple(m.checked.Results())
	}
	return m.list(m.syntax.Results)
}

func (m *Method) list(fields *ast.FieldList) []*Type {
	if fields == nil {
		return nil
	}
	var list []*Type
	for _, f := range fields.List {
		t := m.scope.resolve(f.Type)
		for range max(1, len(f.Names)) {
			list = append(list, t)
		}
	}
	return list
}

func (m *Method) tuple(vars *types.Tuple) []*Type {
	var list []*Type
	for v := range vars.Variables() {
		list = append(list, m.loader.fromGo(m.scope.file.Package, v.Type()))
	}
	return list
}

// Method finds the method that a value of type t, or a pointer to it, has under
// the name: its own or one promoted from an embedded field. Depth is 0 for its
// own. There is none when a field hides it or two are promoted from the same
// depth. The name must be MarshalJSON, MarshalText, UnmarshalJSON,
// UnmarshalText, DeepCopy or DeepCopyInto.
func (t *Type) Method(name string) (m *Method, depth int) {
	if t.Kind == Pointer {
		t = t.Elem
		if t.Underlying().Kind == Pointer || t.Underlying().Kind == Interface {
			return nil, 0
		}
	}
	level := []embedding{{typ: t}}
	seen := make(instances)
	for ; len(level) > 0 && depth < maxDepth; depth++ {
		found, fields, next := searchLevel(level, name, seen)
		switch {
		case len(found) == 1 && fields == 0:
			return found[0], depth
		case len(found)+fields > 0:
			return nil, 0
		}
		level = joined(next)
	}
	return nil, 0
}

// embedding is a type embedded at some depth. It is double when the depth has it more than once: then it, and all that
// it embeds, promotes nothing, and what it has hides what lies deeper.
type embedding struct {
	typ    *Type
	double bool
}

// named is the type without aliases and, for an embedded *T, without the pointer.
func (e embedding) named() *Type {
	t := e.typ.Unalias()
	if t.Kind == Pointer {
		t = t.Elem.Unalias()
	}
	return t
}

// joined has each type of a depth once.
func joined(level []embedding) []embedding {
	once, at := level[:0], make(instances)
	for _, e := range level {
		if first, seen := at.add(e.named(), len(once)); seen {
			once[first].double = true
			continue
		}
		once = append(once, e)
	}
	return once
}

// instances are types with a number each, by declaration. One that is generic has several types.
type instances map[*TypeDecl][]instance

type instance struct {
	typ    *Type
	number int
}

// add adds t with a number unless it is there, and returns the number that t has then.
func (in instances) add(t *Type, number int) (first int, seen bool) {
	for _, other := range in[t.Decl] {
		if other.typ == t || Identical(other.typ, t) {
			return other.number, true
		}
	}
	in[t.Decl] = append(in[t.Decl], instance{t, number})
	return number, false
}

// searchLevel looks for the name among types embedded at one depth; next are
// the types that they embed.
func searchLevel(level []embedding, name string, seen instances) (found []*Method, fields int, next []embedding) {
	add := func(m *Method, double bool) {
		found = append(found, m)
		if double {
			found = append(found, m)
		}
	}
	for _, e := range level {
		t := e.named()
		if t.Kind == Named {
			if _, before := seen.add(t, 0); before {
				continue
			}
			if m := t.own(name); m != nil {
				add(m, e.double)
				continue
			}
		}
		under := t.Underlying()
		if under.Kind == Interface {
			if m := under.interfaceMethod(name); m != nil {
				add(m, e.double)
			}
			continue
		}
		hidden, embedded := under.members(name)
		fields += hidden
		for _, t := range embedded {
			next = append(next, embedding{t, e.double})
		}
	}
	return found, fields, next
}

// members counts the fields of a struct that have the name and resolves those
// that are embedded, and no others: the rest may lead to packages that nobody
// needs.
func (t *Type) members(name string) (named int, embedded []*Type) {
	st, ok := t.syntax.(*ast.StructType)
	if !ok {
		for _, f := range t.StructFields() {
			if f.Name == name {
				named++
			}
			if f.Embedded {
				embedded = append(embedded, f.Type)
			}
		}
		return named, embedded
	}
	for _, f := range st.Fields.List {
		if slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			named++
		}
		if len(f.Names) > 0 {
			continue
		}
		if embeddedName(f.Type) == name {
			named++
		}
		embedded = append(embedded, t.scope.resolve(f.Type))
	}
	return named, embedded
}

// own is the method that is declared on the named type t itself. A type whose
// underlying type is a pointer has none.
func (t *Type) own(name string) *Method {
	p := t.Decl.Package
	p.parseFiles()
	for _, m := range p.methods[t.Decl.Name()] {
		if m.Name == name {
			m := *m
			m.Decl = t.Decl
			m.checked, m.loader = t.signature(name), p.loader
			return &m
		}
	}
	return nil
}

// signature is that of a method of an instance of a generic type, with the instance's arguments; nil for other types.
func (t *Type) signature(name string) *types.Signature {
	named, ok := types.Unalias(t.checked).(*types.Named)
	if !ok {
		return nil
	}
	for m := range named.Methods() {
		if m.Name() == name {
			return m.Signature()
		}
	}
	return nil
}

// interfaceMethod finds a method of an interface, embedded ones included.
func (t *Type) interfaceMethod(name string) *Method {
	return t.embeddedMethod(name, make(map[*ast.InterfaceType]bool))
}

// embeddedMethod looks into each interface once: one may embed another many times, and itself by mistake.
func (t *Type) embeddedMethod(name string, seen map[*ast.InterfaceType]bool) *Method {
	if t.checked != nil {
		return t.checkedMethod(name)
	}
	syntax, ok := t.syntax.(*ast.InterfaceType)
	if !ok || seen[syntax] {
		return nil
	}
	seen[syntax] = true
	for _, f := range syntax.Methods.List {
		signature, isMethod := f.Type.(*ast.FuncType)
		if isMethod && len(f.Names) == 1 && f.Names[0].Name == name {
			return &Method{Name: name, scope: t.scope, syntax: signature}
		}
		if len(f.Names) > 0 {
			continue
		}
		if embedded := t.scope.resolve(f.Type).Underlying(); embedded.Kind == Interface {
			if m := embedded.embeddedMethod(name, seen); m != nil {
				return m
			}
		}
	}
	return nil
}
