package vet

import (
	"fmt"
	"go/ast"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/report"
)

// formerWebhook is a method by which kinds were webhooks before controller-runtime v0.20.
type formerWebhook struct {
	name       string
	parameters int
	results    bool
	now        string // the method that took its place
	with       string // by which that is registered
	flag       string
}

var formerWebhooks = []formerWebhook{
	{"Default", 0, false, "Default(ctx context.Context, obj *%s) error", "WithDefaulter", "--defaulting"},
	{"ValidateCreate", 0, true, "ValidateCreate(ctx context.Context, obj *%s) (admission.Warnings, error)", "WithValidator", "--programmatic-validation"},
	{"ValidateUpdate", 1, true, "ValidateUpdate(ctx context.Context, oldObj, newObj *%s) (admission.Warnings, error)", "WithValidator", "--programmatic-validation"},
	{"ValidateDelete", 0, true, "ValidateDelete(ctx context.Context, obj *%s) (admission.Warnings, error)", "WithValidator", "--programmatic-validation"},
}

// withoutFormer is the first version of controller-runtime that calls none of them.
const withoutFormer = "v0.20.0"

// formerWebhooks finds such methods of kinds, unless the project's own code calls them.
func (v *vetting) formerWebhooks() {
	declared, err := v.code.Webhooks()
	if err != nil || len(declared) == 0 && !v.anyCalls("NewWebhookManagedBy") {
		return // its kinds are no webhooks, and such methods may be another library's
	}
	if semver.Compare(v.code.Required("sigs.k8s.io/controller-runtime"), withoutFormer) < 0 {
		return
	}
	called := map[string]bool{}
	for _, f := range v.files {
		f.calls(func(name string, call *ast.CallExpr) {
			if slices.ContainsFunc(formerWebhooks, func(w formerWebhook) bool { return w.name == name && w.parameters == len(call.Args) }) {
				called[name] = true
			}
		})
	}
	for _, f := range v.files {
		for _, decl := range f.syntax.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if !ok || called[method.Name.Name] {
				continue
			}
			of := methodOf(method)
			i := slices.IndexFunc(formerWebhooks, func(w formerWebhook) bool { return w.isForm(method) })
			if i < 0 || of == "" || v.code.KindIn(f.dir, of) == nil {
				continue
			}
			v.reportFormer(method, of, formerWebhooks[i])
		}
	}
}

func (v *vetting) reportFormer(method *ast.FuncDecl, of string, w formerWebhook) {
	v.report(report.RuleFormerWebhook, method.Name.Pos(), "nothing calls this method: controller-runtime has no webhooks of this form since "+withoutFormer,
		"move it to a type with the method "+fmt.Sprintf(w.now, of)+", and register that with "+w.with+"; slipway create webhook "+w.flag+" writes both")
}

// isForm reports whether a method has the name and the numbers of parameters and results.
func (w formerWebhook) isForm(method *ast.FuncDecl) bool {
	return method.Name.Name == w.name && method.Type.Params.NumFields() == w.parameters && (method.Type.Results.NumFields() > 0) == w.results
}
