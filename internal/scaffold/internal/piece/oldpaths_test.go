package piece

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestOldPaths: the statement stands before the chain of calls and has its expressions. It goes as it came.
func TestOldPaths(t *testing.T) {
	const start, calls = "\tif err := setupJobV1Webhooks(", "); err != nil {\n\t\treturn err\n\t}\n"
	for _, test := range []struct {
		name, body, arguments string // without arguments the code stays as it is
		refused               bool
	}{
		{"a return", "\treturn ctrl.NewWebhookManagedBy(mgr, &v2.Job{}).\n\t\tWithDefaulter(&D{Of: mgr.GetClient()}).\n\t\tWithValidator(v()).\n\t\tComplete()\n", "mgr, &D{Of: mgr.GetClient()}, v()", false},
		{"an older form", "\treturn ctrl.NewWebhookManagedBy(m()).For(&v2.Job{}).WithValidator(v).Complete()\n", "m(), nil, v", false},
		{"a condition", "\tif err := ctrl.NewWebhookManagedBy(mgr, j).WithDefaulter(d).Complete(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n", "mgr, d, nil", false},
		{"a variable", "\terr := ctrl.NewWebhookManagedBy(mgr, j).RecoverPanic(true).WithDefaulter(d).Complete()\n\treturn err\n", "mgr, d, nil", false},
		{"one path of its own", "\treturn ctrl.NewWebhookManagedBy(mgr, j).WithDefaulter(d).WithDefaulterCustomPath(\"/d\").WithValidator(v).Complete()\n", "mgr, nil, v", false},
		{"paths of their own", "\treturn ctrl.NewWebhookManagedBy(mgr, j).WithDefaulter(d).WithCustomPath(\"/d\").Complete()\n", "", false},
		{"options", "\treturn ctrl.NewWebhookManagedBy(mgr, j).WithDefaulter(d, admission.DefaulterRemoveUnknownOrOmitableFields).Complete()\n", "", true},
		{"a method that others need", "\treturn ctrl.NewWebhookManagedBy(mgr, j).WithContextFunc(f).WithDefaulter(d).Complete()\n", "", true},
		{"a builder in a variable", "\tb := ctrl.NewWebhookManagedBy(mgr, j)\n\treturn b.WithDefaulter(d).Complete()\n", "", true},
		{"webhooks that are methods", "\treturn ctrl.NewWebhookManagedBy(mgr).For(j).Complete()\n", "", true},
		{"no builder", "\treturn nil\n", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, src := OldPaths{Kind: "Job", Version: "v1"}, "package p\n\nfunc SetupJobWebhookWithManager(mgr ctrl.Manager) error {\n"+test.body+"}\n"
			moves, err := o.Moves("f.go", []byte(src))
			if refusal, is := errors.AsType[*report.Error](err); is != test.refused || moves != (test.arguments != "") || is && !strings.HasPrefix(refusal.Where, "f.go:") {
				t.Fatalf("moves: %v, %v", moves, err)
			}
			if !moves {
				return
			}
			want := strings.Replace(src, test.body, start+test.arguments+calls+test.body, 1)
			got, err := o.Insert("f.go", []byte(src))
			if err != nil || string(got) != want {
				t.Fatalf("got %s, %v", got, err)
			}
			if again, err := o.Insert("f.go", got); err != nil || string(again) != want {
				t.Errorf("a second time: %s, %v", again, err)
			}
			if back, line := o.Remove(got); line != 0 || string(back) != src {
				t.Errorf("taken: %s, line %d", back, line)
			}
			changed := strings.Replace(want, "\t\treturn err\n\t}\n"+test.body, "\t\tpanic(err)\n\t}\n"+test.body, 1)
			if back, line := o.Remove([]byte(changed)); line != 4 || string(back) != changed {
				t.Errorf("of another form: %s, line %d", back, line)
			}
		})
	}
}

// TestOldPathsArgument: the webhooks that stay go on to answer when another one goes.
func TestOldPathsArgument(t *testing.T) {
	const src = "package p\n\nfunc SetupJobWebhookWithManager(mgr ctrl.Manager) error {\n\tif err := setupJobV1Webhooks(mgr, &D{}, &V{}); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"
	a := OldPathsArgument{Kind: "Job", Argument: "&D{}"}
	if got, err := a.Insert("f.go", []byte(src)); err != nil || string(got) != src {
		t.Errorf("put: %s, %v", got, err)
	}
	if got, line := a.Remove([]byte(src)); line != 0 || string(got) != strings.Replace(src, "&D{}", "nil", 1) {
		t.Errorf("taken: %s, line %d", got, line)
	}
}
