package codebase_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// TestControlled: the argument of For is the type, whatever package it is of.
func TestControlled(t *testing.T) {
	const head = "package p\n\nimport (\n\tcorev1 \"k8s.io/api/core/v1\"\n\t\"example.com/op/api/v1\"\n)\n\ntype PodReconciler struct{}\n\n"
	for _, test := range []struct {
		name, src string
		want      []codebase.Controlled
	}{
		{"of a renamed package", "func (r *PodReconciler) SetupWithManager(mgr ctrl.Manager) error {\n\treturn ctrl.NewControllerManagedBy(mgr).\n\t\tFor(&corev1.Pod{}).Complete(r)\n}\n", []codebase.Controlled{{Package: "k8s.io/api/core/v1", Kind: "Pod", Line: 12}}},
		{"of a package with its own name", "func SetUp(mgr ctrl.Manager) error {\n\treturn builder.ControllerManagedBy(mgr).For(&v1.Pod{}, builder.WithPredicates(p)).Complete(r)\n}\n", []codebase.Controlled{{Package: "example.com/op/api/v1", Kind: "Pod", Line: 11}}},
		{"of a package that the file does not name", "func SetUp() {\n\tb.For(&jobs.Pod{})\n}\n", []codebase.Controlled{{Kind: "Pod", Line: 11}}},
		{"of the same package", "func (r PodReconciler) SetUp() {\n\tb.For(&Pod{})\n}\n", []codebase.Controlled{{Kind: "Pod", Line: 11}}},
		{"another reconciler's", "func (r *JobReconciler) SetUp() {\n\tb.For(&Job{})\n}\n", nil},
		{"one of a generic type", "func (r *Reconciler[T]) SetUp() {\n\tb.For(&Job{})\n}\n", nil},
		{"a webhook's", "func SetUp() {\n\tctrl.NewWebhookManagedBy(mgr).For(&corev1.Pod{}).Complete()\n}\n", nil},
		{"of a value", "func SetUp() {\n\tb.For(newJob().Object())\n\tb.For(object)\n\tb.For()\n\tb.For(&x)\n}\n", nil},
	} {
		controllers, err := read(unpacked(t, "-- a.go --\n"+head+test.src)).Controllers()
		for i := range test.want {
			test.want[i].File = "a.go"
		}
		want := []codebase.Controller{{Type: "PodReconciler", Dir: ".", File: "a.go", Line: 8, For: test.want}}
		if diff := cmp.Diff(want, controllers, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", test.name, err, diff)
		}
	}
}

// TestControllers: a controller is a type that reconciles, or is called so, wherever its methods are.
func TestControllers(t *testing.T) {
	for _, test := range []struct {
		name, files string
		want        []codebase.Controller
	}{
		{"none", "-- a.go --\npackage a\n\ntype Job struct{}\n", nil},
		{"of any name", "-- a/a.go --\npackage a\n\nfunc (c *Captain) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {\n}\n", []codebase.Controller{{Type: "Captain", Dir: "a", File: "a/a.go", Line: 3, Reconciles: true}}},
		{"with a method of another form", "-- a/a.go --\npackage a\n\nfunc (c *Captain) Reconcile(ctx context.Context, req *Job) error {\n}\n", nil},
		{"one that embeds another", "-- a/a.go --\npackage a\n\ntype JobReconciler struct{ base }\n", []codebase.Controller{{Type: "JobReconciler", Dir: "a", File: "a/a.go", Line: 3}}},
		{
			"in two files", "-- a/setup.go --\npackage a\n\nfunc (r *JobReconciler) SetUp() {\n\tb.For(&Job{})\n}\n-- a/type.go --\npackage a\n\ntype JobReconciler struct{}\n\nfunc (r *JobReconciler) Reconcile(ctx context.Context, req ctrl.Request) error {\n}\n",
			[]codebase.Controller{{Type: "JobReconciler", Dir: "a", File: "a/type.go", Line: 3, Reconciles: true, For: []codebase.Controlled{{Kind: "Job", File: "a/setup.go", Line: 4}}}},
		},
		{"what is not Go", "-- a/a.go --\npackage a\n\ntype JobReconciler struct {\n", nil},
		{"in a test", "-- a/a_test.go --\npackage a\n\ntype JobReconciler struct{}\n", nil},
	} {
		controllers, err := read(unpacked(t, test.files)).Controllers()
		if diff := cmp.Diff(test.want, controllers, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", test.name, err, diff)
		}
	}
}
