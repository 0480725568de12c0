package scaffold

import (
	"strings"
	"testing"
)

// TestWebhookOfOtherTools wires webhooks into a main.go that ends the process itself, and into a suite of
// Ginkgo's, to which no plain tests are added.
func TestWebhookOfOtherTools(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(root, cronJob()))
	unpack(t, root, `
-- cmd/main.go --
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	batchv1 "example.com/op/api/v1"
	// +kubebuilder:scaffold:imports
)

func main() {
	mgr := ctrl.Manager(nil)
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(nil); err != nil {
		os.Exit(1)
	}
}
-- internal/webhook/v1/webhook_suite_test.go --
package v1

import (
	. "github.com/onsi/ginkgo/v2"
	// +kubebuilder:scaffold:imports
)

func TestWebhooks(t *testing.T) {
	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	// +kubebuilder:scaffold:scheme

	// +kubebuilder:scaffold:webhook
})
-- internal/webhook/v1/cronjob_webhook.go --
package v1

import (
	ctrl "sigs.k8s.io/controller-runtime"

	batchv1 "example.com/op/api/v1"
)

func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &batchv1.CronJob{}).Complete() // mine
}
`)
	apply(t)(CreateWebhook(root, Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Validation: true}))
	for name, wants := range map[string][]string{
		"cmd/main.go": {"\t\tif err := webhookv1.SetupCronJobWebhookWithManager(mgr); err != nil {\n\t\t\tsetupLog.Error(err, \"unable to set up the CronJob webhooks\")\n\t\t\tos.Exit(1)\n"},
		"internal/webhook/v1/webhook_suite_test.go": {"\tExpect(batchv1.AddToScheme(scheme.Scheme)).To(Succeed())\n", "\tExpect(SetupCronJobWebhookWithManager(mgr)).To(Succeed())"},
		"internal/webhook/v1/cronjob_webhook.go":    {".WithValidator(&CronJobCustomValidator{}).Complete() // mine\n", "type CronJobCustomValidator struct"},
	} {
		for _, want := range wants {
			if got := read(t, root, name); !strings.Contains(got, want) {
				t.Errorf("no %q in %s:\n%s", want, name, got)
			}
		}
	}
	for _, f := range tree(t, root).Files {
		if f.Name == "internal/webhook/v1/cronjob_webhook_test.go" {
			t.Error("plain tests were added to a suite of Ginkgo's")
		}
	}
}

// TestPiecesOfWebhooks: what is put into a file can be taken out again, and gives the file as it was.
func TestPiecesOfWebhooks(t *testing.T) {
	const before = "package v1\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\nfunc Setup(mgr ctrl.Manager) error {\n\treturn ctrl.NewWebhookManagedBy(mgr, nil).\n\t\tComplete()\n}\n"
	of := these(
		goImport{"", "context", "example.com/op"}, goImport{"apierrors", "k8s.io/apimachinery/pkg/api/errors", "example.com/op"},
		builderCall{"Setup", "WithValidator", "&V{}"}, declaration{"V", "// V refuses.\ntype V struct{ ctx context.Context }\n\nvar _ = apierrors.IsNotFound\n"},
	)
	after, err := of.put("v1.go", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	again, err := of.put("v1.go", after)
	if err != nil || string(again) != string(after) {
		t.Errorf("a second time, %v:\n%s", err, again)
	}
	pieces := of(nil)
	for i := len(pieces) - 1; i >= 0; i-- {
		var line int
		if after, line = pieces[i].take(after); line != 0 {
			t.Errorf("%s stays, at line %d", pieces[i].id(), line)
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
		of := these(goImport{"", "context", "example.com/op"}, builderCall{"Setup", "WithValidator", "&V{}"}, declaration{"V", "type V struct{}\n"})
		once, err := of.put("v1.go", []byte(src))
		if err != nil {
			return
		}
		if _, _, err := parseGo("v1.go", once, 0); err != nil {
			t.Fatalf("no Go any more:\n%s", once)
		}
		twice, err := of.put("v1.go", once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("a second time, %v:\n%s\n--\n%s", err, once, twice)
		}
	})
}
