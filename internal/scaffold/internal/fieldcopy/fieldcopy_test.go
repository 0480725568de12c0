package fieldcopy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// statements are those that make a T of the package hub what one of the package spoke is.
func statements(t *testing.T, hub, spoke string) string {
	t.Helper()
	root := t.TempDir()
	projecttest.Unpack(t, root, "-- hub/types.go --\npackage hub\n\n"+hub+"\n-- spoke/types.go --\npackage spoke\n\n"+spoke+"\n-- spoke/broken.go --\nnot Go\n-- spoke/x_test.go --\npackage spoke\n\ntype T int\n")
	to, err := fieldcopy.Read(plan.Reading(fileview.Disk(root)).Code(), "hub", "hub.")
	if err != nil {
		t.Fatal(err)
	}
	from, err := fieldcopy.Read(plan.Reading(fileview.Disk(root)).Code(), "spoke", "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(fieldcopy.Statements("T", to, from), "\t", "")
}

func TestStatements(t *testing.T) {
	for _, test := range []struct{ name, hub, spoke, want string }{
		{"same types", "type T struct { A int; B []string; C map[string]*bool }", "type T struct { C map[string]*bool; B []string; A int }", "dst.A = src.A\ndst.B = src.B\ndst.C = src.C\n"},
		{"tags", "type T struct { A int `json:\"a\"` }", "type T struct { A int }", "dst.A = src.A\n"},
		{"the object's own", "type T struct { metav1.TypeMeta; metav1.ObjectMeta; A int }", "type T struct { metav1.TypeMeta; metav1.ObjectMeta; A int }", "dst.A = src.A\n"},
		{"names of both packages", "type T struct { A Phase }\ntype Phase string", "type T struct { A Phase }\ntype Phase string", "dst.A = hub.Phase(src.A)\n"},
		{"structs that are alike", "type T struct { S Spec }\ntype Spec struct { A int `json:\"a\"` }", "type T struct { S Spec }\ntype Spec struct { A int }", "dst.S = hub.Spec(src.S)\n"},
		{"pointers to them", "type T struct { S *Spec }\ntype Spec struct { A int }", "type T struct { S *Spec }\ntype Spec struct { A int }", "dst.S = (*hub.Spec)(src.S)\n"},
		{
			"slices of them", "type T struct { S []Spec }\ntype Spec struct { A int }", "type T struct { S []Spec }\ntype Spec struct { A int }",
			"if src.S != nil {\ndst.S = make([]hub.Spec, len(src.S))\nfor i := range src.S {\ndst.S[i] = hub.Spec(src.S[i])\n}\n}\n",
		},
		{
			"structs that differ", "type T struct { S Spec }\ntype Spec struct { A, B int }", "type T struct { S Spec }\ntype Spec struct { A, C int }",
			"dst.S.A = src.S.A\n// TODO: dst.S.B (int) has no counterpart here.\n// TODO: src.S.C (int) would be lost.\n",
		},
		{"types that differ", "type T struct { A int; P *int }", "type T struct { A string; P int }", "// TODO: dst.A (int) from src.A (string).\n// TODO: dst.P (*int) from src.P (int).\n"},
		{
			"the same package under two names", "import one \"x.org/y\"\ntype T struct { A one.Z }", "import two \"x.org/y\"\ntype T struct { A two.Z }",
			"// TODO: dst.A (one.Z) from src.A (two.Z).\n",
		},
		{"two packages of the same name", "import \"x.org/y\"\ntype T struct { A y.Z }", "import \"z.org/y\"\ntype T struct { A y.Z }", "// TODO: dst.A (y.Z) from src.A (y.Z).\n"},
		{"names for the same", "type T struct { A Phase; B string; P *Phase }\ntype Phase string", "type T struct { A string; B Phase; P *string }\ntype Phase string", "dst.A = hub.Phase(src.A)\ndst.B = string(src.B)\ndst.P = (*hub.Phase)(src.P)\n"},
		{"names for slices and maps", "type T struct { L List; M map[string]string }\ntype List []string", "type T struct { L []string; M Labels }\ntype Labels map[string]string", "dst.L = hub.List(src.L)\ndst.M = map[string]string(src.M)\n"},
		{"other names at any depth", "type T struct { A Phase }\ntype Phase Text\ntype Text string", "type T struct { A State }\ntype State string", "dst.A = hub.Phase(src.A)\n"},
		{"names for what differs", "type T struct { A Phase }\ntype Phase int32", "type T struct { A Phase }\ntype Phase string", "// TODO: dst.A (Phase) from src.A (Phase).\n"},
		{
			"slices of names", "type T struct { S []Phase }\ntype Phase string", "type T struct { S []string }",
			"if src.S != nil {\ndst.S = make([]hub.Phase, len(src.S))\nfor i := range src.S {\ndst.S[i] = hub.Phase(src.S[i])\n}\n}\n",
		},
		{
			"maps of structs", "type T struct { M map[Key]Spec }\ntype Key string\ntype Spec struct { A Key }", "type T struct { M map[string]Spec }\ntype Spec struct { A string }",
			"if src.M != nil {\ndst.M = make(map[hub.Key]hub.Spec, len(src.M))\nfor i, fromI := range src.M {\nvar toI hub.Spec\ntoI.A = hub.Key(fromI.A)\ndst.M[hub.Key(i)] = toI\n}\n}\n",
		},
		{
			"pointers to structs that differ", "type T struct { P *Spec }\ntype Spec struct { A Phase; B int }\ntype Phase string", "type T struct { P *Spec }\ntype Spec struct { A string }",
			"if src.P != nil {\ndst.P = new(hub.Spec)\ndst.P.A = hub.Phase(src.P.A)\n// TODO: dst.P.B (int) has no counterpart here.\n}\n",
		},
		{"maps of structs that differ", "type T struct { M map[string]Spec }\ntype Spec struct { A int }", "type T struct { M map[string]Spec }\ntype Spec struct { B int }", "// TODO: dst.M (map[string]Spec) from src.M (map[string]Spec).\n"},
		{
			"types within themselves", "type T struct { S Spec }\ntype Spec struct { A Phase; In *Spec }\ntype Phase string", "type T struct { S Spec }\ntype Spec struct { A string; In *Spec }",
			"dst.S.A = hub.Phase(src.S.A)\n// TODO: dst.S.In (*Spec) from src.S.In (*Spec).\n",
		},
		{"not exported", "type T struct { S Spec }\ntype Spec struct { A, b int }", "type T struct { S Spec }\ntype Spec struct { A, b int }", "dst.S.A = src.S.A\n// TODO: dst.S.b (int) from src.S.b (int).\n"},
		{"names within themselves", "type T struct { L List }\ntype List []List", "type T struct { L List }\ntype List []List", "// TODO: dst.L (List) from src.L (List).\n"},
		{"embedded", "type T struct { Spec; *More }\ntype Spec struct { A int }\ntype More struct { A int }", "type T struct { Spec; *More }\ntype Spec struct { A int }\ntype More struct { A int }", "dst.Spec = hub.Spec(src.Spec)\ndst.More = (*hub.More)(src.More)\n"},
		{"types that syntax says nothing of", "type T struct { A struct{ B int }; F func() }", "type T struct { A struct{ B int }; F func() }", "// TODO: dst.A (struct{B int}) from src.A (struct{B int}).\n// TODO: dst.F (func()) from src.F (func()).\n"},
		{"arrays", "type T struct { A [2]Spec }\ntype Spec struct { A int }", "type T struct { A [2]Spec }\ntype Spec struct { A int }", "// TODO: dst.A ([2]Spec) from src.A ([2]Spec).\n"},
		{"no such kind", "type U struct{}", "type T struct { A int }", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, statements(t, test.hub, test.spoke)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStatementsCompile: statements for types that differ in names alone leave nothing open and are valid Go, both
// ways.
func TestStatementsCompile(t *testing.T) {
	const (
		hub = `
type T struct { Spec Spec }
type Spec struct {
	Phase Phase
	Phases []Phase
	Deep [][]Phase
	Pointers []*Phase
	Table map[Key]map[string]Part
	Parts List
	Part *Part
	Count *Count
	Same []map[string]*int
}
type List []Part
type Part struct { Phase Phase; Parts *[]Inner }
type Inner struct { Keys map[Key]Phase }
type Phase string
type Key string
type Count int32
`
		spoke = `
type T struct { Spec Spec }
type Spec struct {
	Phase string
	Phases Phases
	Deep [][]string
	Pointers []*string
	Table map[string]map[string]Part
	Parts []Part
	Part *Part
	Count *int32
	Same []map[string]*int
}
type Phases []string
type Part struct { Phase State; Parts *[]Inner }
type Inner struct { Keys map[string]State }
type State string
`
	)
	for _, test := range []struct{ name, dst, src string }{{"to the hub", hub, spoke}, {"from the hub", spoke, hub}} {
		t.Run(test.name, func(t *testing.T) {
			body := statements(t, test.dst, test.src)
			if strings.Contains(body, "TODO") {
				t.Errorf("left open:\n%s", body)
			}
			check(t, test.dst, test.src, body)
		})
	}
}

// check compiles statements that set a hub.T from a T.
func check(t *testing.T, hub, spoke, body string) {
	t.Helper()
	set := token.NewFileSet()
	compile := func(path, source string, imports types.ImporterFrom) *types.Package {
		file, err := parser.ParseFile(set, path+".go", source, 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		config := types.Config{Importer: imports}
		made, err := config.Check(path, set, []*ast.File{file}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		return made
	}
	known := imported{"hub": compile("hub", "package hub\n"+hub, nil)}
	compile("spoke", "package spoke\nimport \"hub\"\n"+spoke+"\nfunc convert(src *T, dst *hub.T) {\n"+body+"}\n", known)
}

// imported are packages by path.
type imported map[string]*types.Package

func (i imported) Import(path string) (*types.Package, error) { return i[path], nil }

func (i imported) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	return i[path], nil
}

// TestStatementsEnd: types that use others twice at each of many levels do not make endless statements.
func TestStatementsEnd(t *testing.T) {
	var hub, spoke strings.Builder
	for i := range 60 {
		fmt.Fprintf(&hub, "type T%d struct { A, B []T%d }\n", i, i+1)
		fmt.Fprintf(&spoke, "type T%d struct { A, B []T%d }\n", i, i+1)
	}
	hub.WriteString("type T struct { A T0 }\ntype T60 struct { A Phase }\ntype Phase string")
	spoke.WriteString("type T struct { A T0 }\ntype T60 struct { A string }")
	if body := statements(t, hub.String(), spoke.String()); !strings.Contains(body, "TODO") || len(body) > 10<<20 {
		t.Errorf("%d bytes", len(body))
	}
}

// TestReadNothing: a folder that does not exist declares nothing.
func TestReadNothing(t *testing.T) {
	if _, err := fieldcopy.Read(plan.Reading(fileview.Disk(t.TempDir())).Code(), "api/v1", ""); err != nil {
		t.Error(err)
	}
}
