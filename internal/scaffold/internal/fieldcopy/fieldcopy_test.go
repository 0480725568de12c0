package fieldcopy_test

import (
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
			"for _, item := range src.S {\ndst.S = append(dst.S, hub.Spec(item))\n}\n",
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

// TestReadNothing: a folder that does not exist declares nothing.
func TestReadNothing(t *testing.T) {
	if _, err := fieldcopy.Read(plan.Reading(fileview.Disk(t.TempDir())).Code(), "api/v1", ""); err != nil {
		t.Error(err)
	}
}
