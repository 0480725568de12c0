package gofile_test

import (
	"errors"
	"go/parser"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

func TestImports(t *testing.T) {
	imports := gofile.ImportsOf([]byte("package p\n\nimport (\n\t\"fmt\"\n\tv1 \"k8s.io/api/core/v1\"\n\t_ \"embed\"\n\tclient \"x.org/y\"\n)\n\nfunc (\n"))
	if diff := cmp.Diff(gofile.Imports{"fmt": "fmt", "k8s.io/api/core/v1": "v1", "embed": "_", "x.org/y": "client"}, imports); diff != "" {
		t.Error(diff)
	}
	for _, test := range []struct{ pkg, usual, want string }{
		{"k8s.io/api/core/v1", "corev1", "v1"}, // as the file calls it
		{"k8s.io/api/apps/v1", "appsv1", "appsv1"},
		{"k8s.io/client", "client", "client2"}, // another package has that name
		{"embed", "embed", "embed"},            // has none
	} {
		if got := imports.Name(test.pkg, test.usual); got != test.want {
			t.Errorf("%s is called %s, want %s", test.pkg, got, test.want)
		}
	}
	if got := gofile.ImportsOf([]byte("not Go")); len(got) > 0 {
		t.Errorf("what is not Go imports %v", got)
	}
}

// TestKeepFormat: what was formatted is formatted again, what its author formats otherwise is left alone.
func TestKeepFormat(t *testing.T) {
	const formatted, others, after, better = "package p\n\nvar a = 1\n", "package p\nvar a=1\n", "package p\n\nvar a  = 2\n", "package p\n\nvar a = 2\n"
	for _, test := range []struct{ name, path, before, after, want string }{
		{"formatted", "a.go", formatted, after, better},
		{"formatted otherwise", "a.go", others, after, after},
		{"not Go before", "a.go", "package", after, after},
		{"not Go afterwards", "a.go", formatted, "package", "package"},
		{"not a Go file", "a.txt", formatted, after, after},
	} {
		if got := gofile.KeepFormat(test.path, []byte(test.before), []byte(test.after)); string(got) != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	if file, fset, err := gofile.Parse("a/b.go", []byte("package b\n"), parser.ParseComments); err != nil || file.Name.Name != "b" || fset.Position(file.Name.Pos()).String() != "a/b.go:1:9" {
		t.Errorf("got %v, %v", file, err)
	}
	_, _, err := gofile.Parse("a/b.go", []byte("package"), 0)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "a/b.go:1" || refusal.Next != "go vet ./a" {
		t.Errorf("what is not Go gives %+v", refusal)
	}
}

func TestUsesGinkgo(t *testing.T) {
	for src, want := range map[string]bool{"RunSpecs(t, \"x\")": true, "RunSpecsWithDefaultAndCustomReporters(t)": true, "m.Run()": false} {
		if gofile.UsesGinkgo([]byte(src)) != want {
			t.Errorf("%s: want %v", src, want)
		}
	}
}
