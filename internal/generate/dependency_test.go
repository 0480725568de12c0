package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate"
)

// plainFile is a file without a type.
const plainFile = "package dep\n\nfunc Plain() {}\n"

// withDependency is a project that requires a module in another folder.
func withDependency(t *testing.T) (dir, dep string) {
	t.Helper()
	dir, dep = project(t), t.TempDir()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", string(mod)+"\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => "+filepath.ToSlash(dep)+"\n")
	write(t, dep, "go.mod", "module example.com/dep\n")
	return dir, dep
}

// TestMistakesOfDependencies: what is wrong with a type of a dependency is reported there, with the field of the
// project that leads there, if only by other types.
func TestMistakesOfDependencies(t *testing.T) {
	for name, test := range map[string]struct{ field, dep, at string }{
		"directly":         {"dep.Size", "type Size struct { A int }\n", "dep.go:2"},
		"by other types":   {"map[string][]*dep.Outer", "type Outer struct { S Sizes `json:\"s\"` }\ntype Sizes []Size\ntype Size struct { A int }\n", "dep.go:4"},
		"a marker":         {"dep.Size", "// +kubebuilder:validation:MaxLength=x\ntype Size string\n", "dep.go:2"},
		"a field's marker": {"*dep.Size", "type Size struct {\n\t// +kubebuilder:validation:MaxLength=x\n\tA string `json:\"a\"`\n}\n", "dep.go:3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, dep := withDependency(t)
			write(t, dep, "dep.go", "package dep\n"+test.dep)
			write(t, dir, "api/v1/types.go", kindSource("v1", "example.com", "Widget", `"example.com/dep"`, test.field))
			result, err := generate.Run(t.Context(), options(dir))
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Findings) != 1 || !strings.Contains(result.Findings[0].String(), test.at) || !strings.Contains(result.Findings[0].Suggestion, "the field Widget.Field, api/v1/types.go:") {
				t.Errorf("got %+v, want one finding at %s that names the field", result.Findings, test.at)
			}
		})
	}
}

// TestPlainFilesOfDependencies: a file of a dependency that declares no type is not read again as long as it is the
// same, and becomes part of the schema as soon as it declares one.
func TestPlainFilesOfDependencies(t *testing.T) {
	dir, dep := withDependency(t)
	write(t, dep, "plain.go", plainFile)
	write(t, dep, "size.go", "package dep\n\ntype Size string\n")
	o := options(dir)
	o.Cache = t.TempDir()
	for _, step := range []struct{ name, field, plain string }{
		{"first", "dep.Size", plainFile},
		{"field changed", "*dep.Size", plainFile},
		{"field changed again", "[]dep.Size", plainFile},
		{"plain file declares a type", "[]dep.Size", "package dep\n\n// +kubebuilder:validation:MaxLength=9\ntype Other string\n"},
		{"the type is used", "dep.Other", "package dep\n\n// +kubebuilder:validation:MaxLength=9\ntype Other string\n"},
		{"the type changed", "dep.Other", "package dep\n\n// +kubebuilder:validation:MaxLength=8\ntype Other string\n"},
		{"left out of the build", "dep.Size", "//go:build never\n\npackage dep\n\ntype Size int\n"},
		{"field changed while it is left out", "*dep.Size", "//go:build never\n\npackage dep\n\ntype Size int\n"},
		{"plain again", "*dep.Size", plainFile},
		{"not imported", "string", plainFile},
		{"changed while it is not imported", "string", "package dep\n\n// +kubebuilder:validation:MaxLength=7\ntype Other string\n"},
		{"imported again", "dep.Other", "package dep\n\n// +kubebuilder:validation:MaxLength=7\ntype Other string\n"},
	} {
		write(t, dep, "plain.go", step.plain)
		imports := `"example.com/dep"`
		if !strings.Contains(step.field, "dep.") {
			imports = ""
		}
		write(t, dir, "api/v1/types.go", kindSource("v1", "example.com", "Widget", imports, step.field))
		sameAsAfresh(t, step.name, o)
	}
}
