package load_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

const resolveTree = `
-- go.mod --
module example.com/m

go 1.26

require example.com/dep v1.0.0
-- types.go --
package m

import (
	"encoding/json"
	"time"
	"unsafe"

	"example.com/dep"
	. "example.com/dep/dotted"
)

type (
	Text     string
	TextToo  Text
	Alias    = Text
	AliasToo = Alias
	List     []Text
	Table    map[string]*List
	ListToo  = []string
	Any      any
	Fn       func()
	Ptr      *Text
	Fixed    [4]byte
	Unsafe   unsafe.Pointer
	Shadow   struct{ string }
	Loop     Loop
	LoopA    LoopB
	LoopB    = LoopA
	Dep      dep.T
	DepAlias = dep.Alias
	Dotted   DotT
	Nowhere  nothing
	Chan     chan int
	Paren    (Text)
	Iface    interface{ json.Marshaler }
)

// Methods.
type (
	Own        struct{}
	OnPointer  struct{}
	Wrong      struct{}
	Promoted   struct{ Own }
	Deep       struct{ *Promoted }
	Hidden     struct{ Own; MarshalJSON int }
	Twice      struct{ Own; OnPointer }
	Both       struct{ Own; Other Own }
	ByIface    struct{ json.Marshaler }
	ByAlias    = Own
	Received   struct{}
	received   = (Received)
	receives   = received
	FromDep    struct{ dep.Marshals }
	Time       struct{ time.Time }
	Cycle      struct{ *Cycle }
	Named      Own
)

func (*receives) MarshalJSON() ([]byte, error) { return nil, nil }
func (Own) MarshalJSON() ([]byte, error)        { return nil, nil }
func (*OnPointer) MarshalJSON() ([]byte, error) { return nil, nil }
func (Wrong) MarshalJSON(x int) []byte          { return nil }
-- generic/generic.go --
package generic

type Base[T any] struct{ Value T }

func (Base[T]) MarshalJSON() ([]byte, error) { return nil, nil }

type Plain struct{ Name string }

type Uses struct {
	Base[int]
	Pair Pair[string, *Plain]
}

type Pair[A, B any] struct {
	First  A
	Second []B
}
-- modcache/example.com/dep@v1.0.0/dep.go --
package dep

type T int32

type Alias = []T

type Marshals struct{}

func (m *Marshals) MarshalJSON() ([]byte, error) { return nil, nil }
-- modcache/example.com/dep@v1.0.0/dotted/dotted.go --
package dotted

type DotT bool
`

func resolveRoots(t *testing.T) (plain, generic *load.Package) {
	t.Helper()
	dir := tree(t, resolveTree)
	roots, err := newLoader(t, dir, nil).Roots(t.Context(), ".", "./generic")
	if err != nil || len(roots) != 2 {
		t.Fatal(roots, err)
	}
	return roots[0], roots[1]
}

// spell writes a type as messages about tests do.
func spell(t *load.Type) string {
	switch t.Kind {
	case load.Basic, load.TypeParam:
		return t.Name
	case load.Named, load.Alias:
		return filepath.Base(t.Decl.Package.Path) + "." + t.Decl.Name()
	case load.Pointer:
		return "*" + spell(t.Elem)
	case load.Slice:
		return "[]" + spell(t.Elem)
	case load.Array:
		return "[n]" + spell(t.Elem)
	case load.Map:
		return "map[" + spell(t.Key) + "]" + spell(t.Elem)
	}
	return t.Kind.String()
}

func TestResolve(t *testing.T) {
	p, _ := resolveRoots(t)
	for name, want := range map[string][2]string{ // its right side and what is under it all
		"Text":     {"string", "string"},
		"TextToo":  {"m.Text", "string"},
		"Alias":    {"m.Text", "string"},
		"AliasToo": {"m.Alias", "string"},
		"List":     {"[]m.Text", "[]m.Text"},
		"Table":    {"map[string]*m.List", "map[string]*m.List"},
		"ListToo":  {"[]string", "[]string"},
		"Any":      {"interface", "interface"},
		"Fn":       {"func", "func"},
		"Ptr":      {"*m.Text", "*m.Text"},
		"Fixed":    {"[n]byte", "[n]byte"},
		"Unsafe":   {"unsafe.Pointer", "unsafe.Pointer"},
		"Shadow":   {"struct", "struct"},
		"Loop":     {"m.Loop", "invalid"},
		"LoopA":    {"m.LoopB", "invalid"},
		"Dep":      {"dep.T", "int32"},
		"DepAlias": {"dep.Alias", "[]dep.T"},
		"Dotted":   {"dotted.DotT", "bool"},
		"Nowhere":  {"invalid", "invalid"},
		"Chan":     {"chan", "chan"},
		"Paren":    {"m.Text", "string"},
		"Iface":    {"interface", "interface"},
	} {
		d := p.Decl(name)
		got := [2]string{spell(d.Right()), spell(d.Type().Underlying())}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if n := p.Loader().Checked(); n != 0 {
		t.Errorf("%d packages were type-checked", n)
	}
}

func TestMethods(t *testing.T) {
	p, _ := resolveRoots(t)
	type found struct {
		Depth   int
		Pointer bool
		Results []string
	}
	marshal := []string{"[]byte", "interface"}
	for name, want := range map[string]*found{
		"Own":       {0, false, marshal},
		"OnPointer": {0, true, marshal},
		"Wrong":     {0, false, []string{"[]byte"}},
		"Promoted":  {1, false, marshal},
		"Deep":      {2, false, marshal},
		"Hidden":    nil,
		"Twice":     nil,
		"Both":      {1, false, marshal},
		"ByIface":   {1, false, marshal},
		"ByAlias":   {0, false, marshal},
		"Received":  {0, true, marshal},
		"FromDep":   {1, true, marshal},
		"Time":      {1, false, marshal},
		"Iface":     {0, false, marshal},
		"Cycle":     nil,
		"Named":     nil,
		"Text":      nil,
	} {
		var got *found
		if m, depth := p.Decl(name).Type().Method("MarshalJSON"); m != nil {
			got = &found{Depth: depth, Pointer: m.Pointer}
			for _, r := range m.Results() {
				got.Results = append(got.Results, spell(r))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := p.Loader().Checked(); n != 0 {
		t.Errorf("%d packages were type-checked", n)
	}
}

// TestEmbeddedTwice: an interface that embeds another one twice, and that one a third, and so on, is looked through at
// once, as is one that embeds itself.
func TestEmbeddedTwice(t *testing.T) {
	code := "package m\n\ntype I0 interface{ Other() }\n"
	for i := range 60 {
		code += fmt.Sprintf("type I%d interface { I%d; I%[2]d }\n", i+1, i)
	}
	dir := tree(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n-- m.go --\n"+code+"type Self interface { Self; Self }\ntype Uses struct { I60; Self }\n")
	roots, err := newLoader(t, dir, nil).Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := roots[0].Decl("Uses").Type().Method("MarshalJSON"); m != nil {
		t.Errorf("found %+v", m)
	}
}

func TestUnknownIsChecked(t *testing.T) {
	_, p := resolveRoots(t)
	uses := p.Decl("Uses").Type()
	if m, depth := uses.Method("MarshalJSON"); m == nil || depth != 1 {
		t.Errorf("MarshalJSON of an embedded generic type: %v at %d", m, depth)
	}
	var got []string
	for _, f := range uses.StructFields()[1].Type.StructFields() {
		got = append(got, f.Name+" "+spell(f.Type))
	}
	if diff := cmp.Diff([]string{"First string", "Second []*generic.Plain"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := p.Loader().Checked(); n != 1 {
		t.Errorf("%d packages were type-checked, want 1", n)
	}
}

// TestCheckStaysWithTypes: what functions and variables import is not read for the sake of types.
func TestCheckStaysWithTypes(t *testing.T) {
	const head = "package api\n\nimport (\n\t\"example.com/m/heavy\"\n\t\"example.com/m/set\"\n)\n\n"
	dir := tree(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.24\n-- api/api.go --\n"+head+
		"type Names struct{ Set set.Set[string] }\n\nvar size = heavy.Size\n\nfunc (Names) Size(heavy.T) {}\n"+
		"-- set/set.go --\npackage set\n\ntype Set[T comparable] map[T]struct{}\n"+
		"-- heavy/heavy.go --\npackage heavy\n\ntype T int\n\nvar Size T\n")
	l := newLoader(t, dir, nil)
	roots, err := l.Roots(t.Context(), "./api")
	if err != nil || len(roots) != 1 {
		t.Fatal(roots, err)
	}
	if got := spell(roots[0].Decl("Names").Type().StructFields()[0].Type.Underlying()); got != "map[string]struct" {
		t.Errorf("the field is %s", got)
	}
	if l.Checked() != 1 || l.Parsed() != 2 {
		t.Errorf("%d packages were type-checked and %d files parsed, want 1 and the 2 of api and set", l.Checked(), l.Parsed())
	}
}

// TestArrayLengths: the length of an array may be that of a variable, or a constant, in any file.
func TestArrayLengths(t *testing.T) {
	dir := tree(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.24\n-- api/api.go --\npackage api\n\n"+
		"type Of[T any] struct{ Value *T }\n\ntype All struct {\n\tHere Of[[len(here)]int]\n\tThere Of[[len(there)]int]\n\tFar Of[[far]int]\n\tCounted Of[[counted + 1]int]\n}\n\n"+
		"var here, unused = [...]string{\"a\", \"b\"}, 1\n\nconst counted = len(here) + cap(there)\n"+
		"-- api/constants.go --\npackage api\n\nconst far = 3\n-- api/variables.go --\npackage api\n\nvar (\n\tthere [3]string\n\tother = 1\n)\n")
	roots, err := newLoader(t, dir, nil).Roots(t.Context(), "./api")
	if err != nil || len(roots) != 1 {
		t.Fatal(roots, err)
	}
	for _, f := range roots[0].Decl("All").Type().StructFields() {
		fields := f.Type.StructFields()
		if len(fields) != 1 || fields[0].Type.Kind != load.Pointer || fields[0].Type.Elem.Kind != load.Array {
			t.Errorf("%s is %s", f.Name, spell(f.Type))
		}
	}
}

func TestIdentical(t *testing.T) {
	p, _ := resolveRoots(t)
	typ := func(name string) *load.Type { return p.Decl(name).Type() }
	for _, test := range []struct {
		a, b *load.Type
		want bool
	}{
		{typ("Text"), typ("Alias"), true},
		{typ("Text"), typ("AliasToo"), true},
		{typ("Text"), typ("TextToo"), false},
		{typ("Text").Underlying(), typ("TextToo").Underlying(), true},
		{typ("ListToo"), typ("List"), false},
		{typ("List").Underlying(), p.Decl("List").Right(), true},
		{typ("Nowhere").Underlying(), typ("Nowhere").Underlying(), false},
	} {
		if got := load.Identical(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: %v", spell(test.a), spell(test.b), got)
		}
	}
}
