package scaffold

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestWebhookOfOtherTools wires webhooks into a main.go that ends the process itself, and into a suite of
// Ginkgo's, to which no plain tests are added.
func TestWebhookOfOtherTools(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	unpack(t, root, `
-- cmd/main.go --
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	batchv1 "example.com/op/api/v1"
	// +kubebuilder:scaffold:imports
)

var setupLog = ctrl.Log.WithName("setup")

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
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Validation: true}))
	for name, wants := range map[string][]string{
		"cmd/main.go": {"\t\tif err := webhookv1.SetupCronJobWebhookWithManager(mgr); err != nil {\n\t\t\tsetupLog.Error(err, \"unable to set up the CronJob webhooks\")\n\t\t\tos.Exit(1)\n"},
		"internal/webhook/v1/webhook_suite_test.go": {"\tExpect(batchv1.AddToScheme(scheme.Scheme)).To(Succeed())\n", "\tExpect(SetupCronJobWebhookWithManager(mgr)).To(Succeed())"},
		"internal/webhook/v1/cronjob_webhook.go":    {".WithValidator(&CronJobValidator{}).Complete() // mine\n", "type CronJobValidator struct"},
	} {
		for _, want := range wants {
			if got := read(t, root, name); !strings.Contains(got, want) {
				t.Errorf("no %q in %s:\n%s", want, name, got)
			}
		}
	}
	for _, f := range tree(t, root).Files {
		if f.Name == "internal/webhook/v1/cronjob_admission_test.go" {
			t.Error("plain tests were added to a suite of Ginkgo's")
		}
	}
}
