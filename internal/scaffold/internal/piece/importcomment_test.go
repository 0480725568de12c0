package piece

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// TestImportBesideComments: a new import does not come between a comment and the import that it is about, and gofmt,
// which sorts later, has nothing to move.
func TestImportBesideComments(t *testing.T) {
	const effects = "\t\"m.org/pkg/config\"\n\t\"m.org/pkg/controller/core\"\n\t\"m.org/pkg/version\"\n\n\t// Plug-ins.\n\t_ \"k8s.io/auth\"\n\t// Ensure linking.\n\t_ \"m.org/pkg/controller/jobs\"\n"
	const marker = "\t// +kubebuilder:scaffold:imports\n"
	for _, test := range []struct {
		name          string
		of            plan.Piece
		before, after string
	}{
		{"imports for their effects", Import{Path: "m.org/pkg/controller"}, effects, strings.Replace(effects, "\t\"m.org/pkg/controller/core", "\t\"m.org/pkg/controller\"\n\t\"m.org/pkg/controller/core", 1)},
		{"without a marker", ImportAt("m.org", "controller", "m.org/pkg/controller"), effects, strings.Replace(effects, "\t\"m.org/pkg/controller/core", "\t\"m.org/pkg/controller\"\n\t\"m.org/pkg/controller/core", 1)},
		{"one for its effects", Import{Name: "_", Path: "m.org/pkg/controller"}, effects, strings.Replace(effects, "\t// Ensure", "\t_ \"m.org/pkg/controller\"\n\t// Ensure", 1)},
		{"first", Import{Path: "m.org/a"}, "\t// About b.\n\t\"m.org/b\"\n", "\t\"m.org/a\"\n\t// About b.\n\t\"m.org/b\"\n"},
		{"between", Import{Path: "m.org/b"}, "\t\"m.org/a\"\n\t// About c,\n\t// at length.\n\t\"m.org/c\"\n", "\t\"m.org/a\"\n\t\"m.org/b\"\n\t// About c,\n\t// at length.\n\t\"m.org/c\"\n"},
		{"last", Import{Path: "m.org/d"}, "\t\"m.org/a\"\n\t// About c.\n\t\"m.org/c\"\n", "\t\"m.org/a\"\n\t// About c.\n\t\"m.org/c\"\n\t\"m.org/d\"\n"},
		{"at a marker", ImportAt("m.org", "b", "m.org/b"), "\t\"m.org/a\"\n\t// About c.\n\t\"m.org/c\"\n" + marker, "\t\"m.org/a\"\n\t\"m.org/b\"\n\t// About c.\n\t\"m.org/c\"\n" + marker},
	} {
		file := func(imports string) string { return "package p\n\nimport (\n" + imports + ")\n" }
		out, err := test.of.Insert("p.go", []byte(file(test.before)))
		if got := string(gofile.KeepFormat("p.go", []byte(file(test.before)), out)); err != nil || got != file(test.after) {
			t.Errorf("%s: %v, got:\n%s", test.name, err, got)
		}
	}
}
