package piece

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// TestGoPieces: what is put into a file can be taken out again, and gives the file as it was.
func TestGoPieces(t *testing.T) {
	const before = "package v1\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\nfunc Setup(mgr ctrl.Manager) error {\n\treturn ctrl.NewWebhookManagedBy(mgr, nil).\n\t\tComplete()\n}\n"
	of := plan.These(
		Import{"", "context", "example.com/op"}, Import{"apierrors", "k8s.io/apimachinery/pkg/api/errors", "example.com/op"},
		BuilderCall{"Setup", "WithValidator", "&V{}"}, Declaration{"V", "// V refuses.\ntype V struct{ ctx context.Context }\n\nvar _ = apierrors.IsNotFound\n"},
	)
	after, err := of.Insert("v1.go", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	again, err := of.Insert("v1.go", after)
	if err != nil || string(again) != string(after) {
		t.Errorf("a second time, %v:\n%s", err, again)
	}
	pieces := of(nil)
	for i := len(pieces) - 1; i >= 0; i-- {
		var line int
		if after, line = pieces[i].Remove(after); line != 0 {
			t.Errorf("%s stays, at line %d", pieces[i].ID(), line)
		}
	}
	if got := strings.ReplaceAll(string(after), "\n\n\tctrl", "\n\tctrl"); got != before {
		t.Errorf("what is left:\n%s", got)
	}
}

// FuzzGoPieces: whatever a Go file looks like, putting changes it once, and what is refused leaves it alone.
func FuzzGoPieces(f *testing.F) {
	f.Add("package v1\n")
	f.Add("package v1\nimport \"fmt\"\nfunc Setup() error { return x.Complete() }")
	f.Add("package v1\nimport (\n)\nfunc Setup() error {\n\treturn x.\r\n\t\tComplete()\r\n}\n")
	f.Add("package v1; import ( \"fmt\"; \"os\" ); func Setup() { a.Complete(); b.Complete() }")
	f.Fuzz(func(t *testing.T, src string) {
		of := plan.These(Import{"", "context", "example.com/op"}, BuilderCall{"Setup", "WithValidator", "&V{}"}, Declaration{"V", "type V struct{}\n"})
		once, err := of.Insert("v1.go", []byte(src))
		if err != nil {
			return
		}
		if _, _, err := gofile.Parse("v1.go", once, 0); err != nil {
			t.Fatalf("no Go any more:\n%s", once)
		}
		twice, err := of.Insert("v1.go", once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("a second time, %v:\n%s\n--\n%s", err, once, twice)
		}
	})
}
