package vet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/vet"
)

// base is a project with a kind that has no status subresource.
const base = `
-- PROJECT --
domain: example.com
layout:
- go.kubebuilder.io/v4
repo: example.com/shop
version: "3"
-- go.mod --
module example.com/shop

require sigs.k8s.io/controller-runtime v0.25.2
-- api/v1/types.go --
// +groupName=store.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Order struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
`

// served is a marker of a webhook for a path.
func served(path string) string {
	return "// +kubebuilder:webhook:path=" + path + ",mutating=true,failurePolicy=fail,sideEffects=None,groups=store.example.com,resources=orders,verbs=create,versions=v1,name=m.a.b,admissionReviewVersions=v1\n\n"
}

// TestFindings: each code has the finding, or none where syntax leaves open what it does.
func TestFindings(t *testing.T) {
	const (
		head     = "package main\n\nimport (\n\tcorev1 \"k8s.io/api/core/v1\"\n\tstore \"example.com/shop/api/v1\"\n)\n\n"
		noPath   = "no code of the project serves the path /x"
		noStatus = "the status of Order is written"
		unserved = "there is no resource"
	)
	for name, test := range map[string]struct{ code, want string }{
		"a path that a builder does not have":   {served("/x") + "func f() { ctrl.NewWebhookManagedBy(mgr, &store.Order{}) }", noPath},
		"two builders of old":                   {served("/mutate-store-example-com-v1-order") + "func f() { ctrl.NewWebhookManagedBy(mgr).For(&corev1.Pod{}); ctrl.NewWebhookManagedBy(mgr).For(&store.Order{}) }", ""},
		"no builder at all":                     {served("/x"), ""},
		"a builder for a type parameter":        {served("/x") + "func f[T any](o *T) { ctrl.NewWebhookManagedBy(mgr, o) }", ""},
		"a builder for an interface":            {served("/x") + "func f(o client.Object) { ctrl.NewWebhookManagedBy(mgr, o) }", ""},
		"a builder for a value":                 {served("/x") + "func f() { ctrl.NewWebhookManagedBy(mgr, objects[0]) }", ""},
		"a builder of a variable":               {served("/mutate-store-example-com-v1-order") + "func f() { var o store.Order; ctrl.NewWebhookManagedBy(mgr, &o) }", ""},
		"a kind of Kubernetes":                  {served("/mutate--v1-pod") + "func f() { ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}) }", ""},
		"another kind of Kubernetes":            {served("/x") + "func f() { ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}) }", noPath},
		"a path in a constant":                  {served("/x") + "const p = \"/x\"\nfunc f() { ctrl.NewWebhookManagedBy(mgr, &store.Order{}).WithCustomPath(p) }", ""},
		"a server that passes a path on":        {served("/x") + "type own struct{ webhook.Server }\n\nfunc (s own) Register(path string, h http.Handler) { s.Server.Register(path, h) }\n\nfunc f() { ctrl.NewWebhookManagedBy(mgr, &store.Order{}) }", noPath},
		"a function with a path of its caller":  {served("/x") + "func f(path string) { ctrl.NewWebhookManagedBy(mgr, &store.Order{}); server.Register(path, nil) }", ""},
		"a path that is put together":           {served("/x") + "func f() { ctrl.NewWebhookManagedBy(mgr, &store.Order{}); server.Register(\"/\" + p, nil) }", ""},
		"status of a value":                     {"func f() { c.Status().Update(ctx, &store.Order{}) }", noStatus},
		"status of a parameter":                 {"func f(o *store.Order) { c.Status().Patch(ctx, o, p) }", noStatus},
		"status of new":                         {"func f() { o := new(store.Order); c.Status().Update(ctx, o) }", noStatus},
		"status in a function of the function":  {"func f(o *store.Order) { func() { c.Status().Update(ctx, o) }() }", noStatus},
		"status of a field":                     {"func f(o struct{ order *store.Order }) { c.Status().Update(ctx, o.order) }", ""},
		"status of an element":                  {"func f(l store.OrderList) { for _, o := range l.Items { c.Status().Update(ctx, &o) } }", ""},
		"status of what a function returns":     {"func f() { o, err := g(); c.Status().Update(ctx, o) }", ""},
		"status of one of two types":            {"func f(o *store.Order) { if true { o := &corev1.Pod{}; c.Status().Update(ctx, o) } }", ""},
		"status of a Pod":                       {"func f() { c.Status().Update(ctx, &corev1.Pod{}) }", ""},
		"another status":                        {"func f(o *store.Order) { c.Status(1).Update(ctx, o); c.Update(ctx, o) }", ""},
		"a permission for nothing":              {"// +kubebuilder:rbac:groups=core,resources=pod,verbs=get\n\n", unserved},
		"a permission without a group":          {"// +kubebuilder:rbac:resources=configmap,verbs=get\n\n", unserved},
		"a permission for two groups":           {"// +kubebuilder:rbac:groups=extensions;networking.k8s.io,resources=ingresses;networkpolicies,verbs=get\n\n", ""},
		"a permission of two groups for none":   {"// +kubebuilder:rbac:groups=apps;batch,resources=pods,verbs=get\n\n", unserved},
		"a permission for a subresource":        {"// +kubebuilder:rbac:groups=store.example.com,resources=orders/status;orders/finalizers,verbs=update\n\n", ""},
		"a permission for a kind":               {"// +kubebuilder:rbac:groups=store.example.com,resources=Order,verbs=get\n\n", unserved},
		"a permission in a shared group":        {"// +kubebuilder:rbac:groups=store.example.com,resources=invoices,verbs=get\n\n", ""},
		"a permission of an earlier version":    {"// +kubebuilder:rbac:groups=resource.k8s.io,resources=podschedulingcontexts,verbs=get\n\n", ""},
		"a permission for another's":            {"// +kubebuilder:rbac:groups=\"*\";metrics.k8s.io;apiextensions.k8s.io,resources=nothing,verbs=get\n\n", ""},
		"a permission for a path":               {"// +kubebuilder:rbac:urls=/metrics,verbs=get\n\n", ""},
		"a permission to act as others":         {"// +kubebuilder:rbac:groups=\"\",resources=users;groups,verbs=impersonate\n\n", ""},
		"a permission to act as a node's":       {"// +kubebuilder:rbac:groups=authentication.k8s.io,resources=users;groups;serviceaccounts;nodes;uids,verbs=\"impersonate:user-info\"\n\n", ""},
		"a method of the former form elsewhere": {"type T struct{}\n\nfunc (T) Default() {}\n\nfunc f() { ctrl.NewWebhookManagedBy(mgr, &store.Order{}) }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := found(t, base+"-- main.go --\n"+head+test.code+"\n-- ignored.go --\n//go:build ignore\n\npackage main\n\nfunc g() { c.Status().Update(ctx, &store.Order{}) }\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// found are the messages about a project.
func found(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := vet.Findings(codebase.Read(fileview.Disk(dir), func(string) string { return "" }), nil)
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, f := range findings {
		messages = append(messages, f.String()+": "+f.Message)
	}
	return strings.Join(messages, "\n")
}
