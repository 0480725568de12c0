package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainFile is a file without a type.
const plainFile = "package dep\n\nfunc Plain() {}\n"

// TestPlainFilesOfDependencies: a file of a dependency that declares no type is not read again as long as it is the
// same, and becomes part of the schema as soon as it declares one.
func TestPlainFilesOfDependencies(t *testing.T) {
	dir, dep := project(t), t.TempDir()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", string(mod)+"\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => "+filepath.ToSlash(dep)+"\n")
	write(t, dep, "go.mod", "module example.com/dep\n")
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
