package feature_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

// TestInjectionOfKubebuilder2: the patch for cert-manager gets the version of what is generated, and is about the
// configurations that the project has.
func TestInjectionOfKubebuilder2(t *testing.T) {
	const object = "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingWebhookConfiguration\nmetadata:\n  name: mutating-webhook-configuration\n  annotations:\n    cert-manager.io/inject-ca-from: $(CERTIFICATE_NAMESPACE)/$(CERTIFICATE_NAME)\n"
	mutating := strings.Replace(object, "v1beta1", "v1", 1)
	validating := strings.NewReplacer("Mutating", "Validating", "mutating", "validating").Replace(mutating)
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, "-- main.go --\n"+projecttest.Read(t, root, "cmd/main.go")+
		"-- config/certmanager/kustomization.yaml --\nresources:\n- certificate.yaml\n"+
		"-- config/default/kustomization.yaml --\nresources:\n- ../manager\n#- ../certmanager\npatchesStrategicMerge:\n#- webhookcainjection_patch.yaml\n"+
		"-- config/default/webhookcainjection_patch.yaml --\n# This patch adds an annotation.\n"+object+"---\n"+strings.NewReplacer("Mutating", "Validating", "mutating", "validating").Replace(object))
	enable := func(hooks project.Webhooks) {
		t.Helper()
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), func(p *plan.Plan, file *project.Project) error {
			file.Layout = []string{"go.kubebuilder.io/v2"}
			file.Resources = []project.Resource{{Group: "batch", Version: "v1", Kind: "CronJob", Webhooks: &hooks}}
			return feature.Enable(features.CertManager)(p, file)
		}))
	}
	enable(project.Webhooks{Defaulting: true})
	const file, comment = "config/default/webhookcainjection_patch.yaml", "# This patch adds an annotation.\n"
	commented := "#" + strings.ReplaceAll(strings.TrimSuffix(validating, "\n"), "\n", "\n#") + "\n"
	if got := projecttest.Read(t, root, file); got != comment+mutating+"---\n"+commented {
		t.Errorf("with defaulting it is\n%s", got)
	}
	projecttest.Unpack(t, root, "-- config/webhook/manifests.yaml --\nkind: ValidatingWebhookConfiguration\n") // of code alone
	enable(project.Webhooks{Defaulting: true})
	if got := projecttest.Read(t, root, file); got != comment+mutating+"---\n"+validating {
		t.Errorf("with both it is\n%s", got)
	}
}
