package gofile_test

import (
	"errors"
	"go/parser"
	"slices"
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

// TestStructLine: a type may stand alone or in a group, aligned or not; other uses of its name are none.
func TestStructLine(t *testing.T) {
	for _, test := range []struct {
		name, src string
		want      int
	}{
		{"alone", "package p\n\ntype Job struct {\n}\n", 3},
		{"in a group", "package p\n\ntype (\n\tOther struct{}\n\tJob   struct{}\n)\n", 5},
		{"with more space", "package p\n\n  type\t Job \tstruct{}\n", 3},
		{"after other uses", "package p\n\n// Job structures\nvar a, b Job\n\ntype JobList struct{ Items []Job }\n\ntype Job struct{}\n", 8},
		{"another name's end", "package p\n\ntype CronJob struct{}\n", 0},
		{"no space before the name", "package p\n\ntypeJob struct{}\n", 0},
		{"another kind of type", "package p\n\ntype Job structure\n", 0},
		{"in a sentence", "package p\n\n// the type Job struct has\n", 0},
	} {
		if got := gofile.StructLine([]byte(test.src), "Job"); got != test.want {
			t.Errorf("%s: got line %d, want %d", test.name, got, test.want)
		}
	}
}

// TestStructs: a kind has TypeMeta and ObjectMeta, a template the latter alone; what does not parse says nothing.
func TestStructs(t *testing.T) {
	for _, test := range []struct {
		src     string
		some    bool
		objects []string
	}{
		{"package p\n\ntype Job struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n", true, []string{"Job"}},
		{"package p\n\ntype (\n\tA struct{}\n\tJob struct {\n\t\tTypeMeta\n\t\tObjectMeta\n\t}\n)\n", true, []string{"Job"}},
		{"package p\n\ntype Template struct {\n\tmetav1.ObjectMeta\n}\n", true, nil},
		{"package p\n\ntype Configuration struct {\n\tmetav1.TypeMeta\n}\n", true, nil},
		{"package p\n\ntype Name string\n\nvar SchemeBuilder = 1\n", false, nil},
		{"package p\n\ntype Job struct {\n", false, nil},
	} {
		if some, objects := gofile.Structs([]byte(test.src)); some != test.some || !slices.Equal(objects, test.objects) {
			t.Errorf("%q: got %v, %v", test.src, some, objects)
		}
	}
}

// TestControlledBy: the argument of For is the type, whatever package it is of.
func TestControlledBy(t *testing.T) {
	const head = "package p\n\nimport (\n\tcorev1 \"k8s.io/api/core/v1\"\n\t\"example.com/op/api/v1\"\n)\n\n"
	for _, test := range []struct {
		name, src string
		want      []gofile.Controlled
	}{
		{"of a renamed package", "func (r *PodReconciler) SetupWithManager(mgr ctrl.Manager) error {\n\treturn ctrl.NewControllerManagedBy(mgr).\n\t\tFor(&corev1.Pod{}).Complete(r)\n}\n", []gofile.Controlled{{Package: "k8s.io/api/core/v1", Kind: "Pod", Line: 10}}},
		{"of a package with its own name", "func SetUp(mgr ctrl.Manager) error {\n\treturn builder.ControllerManagedBy(mgr).For(&v1.Pod{}, builder.WithPredicates(p)).Complete(r)\n}\n", []gofile.Controlled{{Package: "example.com/op/api/v1", Kind: "Pod", Line: 9}}},
		{"of a package that the file does not name", "func SetUp() {\n\tb.For(&jobs.Pod{})\n}\n", []gofile.Controlled{{Kind: "Pod", Line: 9}}},
		{"of the same package", "func (r PodReconciler) SetUp() {\n\tb.For(&Pod{})\n}\n", []gofile.Controlled{{Kind: "Pod", Line: 9}}},
		{"another reconciler's", "func (r *JobReconciler) SetUp() {\n\tb.For(&Job{})\n}\n", nil},
		{"a webhook's", "func SetUp() {\n\tctrl.NewWebhookManagedBy(mgr).For(&corev1.Pod{}).Complete()\n}\n", nil},
		{"of a value", "func SetUp() {\n\tb.For(newJob().Object())\n\tb.For(object)\n\tb.For()\n\tb.For(&x)\n}\n", nil},
		{"not Go", "func (", nil},
	} {
		if diff := cmp.Diff(test.want, gofile.ControlledBy([]byte(head+test.src), "PodReconciler")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestUsesGinkgo(t *testing.T) {
	for src, want := range map[string]bool{"RunSpecs(t, \"x\")": true, "RunSpecsWithDefaultAndCustomReporters(t)": true, "m.Run()": false} {
		if gofile.UsesGinkgo([]byte(src)) != want {
			t.Errorf("%s: want %v", src, want)
		}
	}
}
