package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

// otherTool is what differs in a project as kubebuilder makes it: features are lines and blocks in comments.
const otherTool = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
resources:
- ../crd
- ../rbac
- ../manager
# [WEBHOOK] in this comment
#- ../webhook
# [PROMETHEUS]
#- ../prometheus
- metrics_service.yaml
#- ../network-policy
patches:
- path: manager_metrics_patch.yaml
  target:
    kind: Deployment
#replacements:
# - source:
#     kind: Certificate
-- config/default/metrics_service.yaml --
-- config/default/manager_metrics_patch.yaml --
-- config/prometheus/kustomization.yaml --
resources:
- monitor.yaml
`

// unpack writes the files of an archive into a project.
func unpack(t *testing.T, root, archive string) {
	t.Helper()
	write(t, root, txtar.Parse([]byte(archive)))
}

// TestFeaturesOfOtherTools: lines in comments are made lines, and back; what does not exist becomes a component.
func TestFeaturesOfOtherTools(t *testing.T) {
	root := newProject(t, Project{})
	unpack(t, root, otherTool)
	apply(t)(EditProject(fileview.Disk(root), Enable(features.Prometheus)))
	got := read(t, root, "config/default/kustomization.yaml")
	if !strings.Contains(got, "\n- ../prometheus\n") || strings.Contains(got, "components:") {
		t.Errorf("prometheus is not on:\n%s", got)
	}
	apply(t)(EditProject(fileview.Disk(root), Disable(features.Prometheus), Enable(features.NetworkPolicy)))
	got = read(t, root, "config/default/kustomization.yaml")
	if !strings.Contains(got, "\n#- ../prometheus\n") || !strings.HasSuffix(got, "components:\n- ../network-policy\n") {
		t.Errorf("prometheus is not off, or network-policy not on:\n%s", got)
	}
}

// TestWebhookByHand: what is generated from a marker is deployed, also if PROJECT knows no webhook; without a marker
// there is nothing to list.
func TestWebhookByHand(t *testing.T) {
	const kustomization = "config/webhook/kustomization.yaml"
	root := newProject(t, Project{})
	apply(t)(EditProject(fileview.Disk(root), Enable(features.WebhookServer)))
	if got := read(t, root, kustomization); strings.Contains(got, "- manifests.yaml") {
		t.Errorf("a file is listed that is not generated:\n%s", got)
	}
	unpack(t, root, `
-- internal/webhook/pods.go --
package webhook

// +kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=mpod.kb.io,admissionReviewVersions=v1
`)
	apply(t)(EditProject(fileview.Disk(root), Enable(features.WebhookServer)))
	if got := read(t, root, kustomization); !strings.Contains(got, "\n- manifests.yaml\n") {
		t.Errorf("what is generated is not deployed:\n%s", got)
	}
	pods := Webhook{Group: "core", Version: "v1", Kind: "Pod", Defaulting: true}
	apply(t)(CreateWebhook(fileview.Disk(root), pods))
	unpack(t, root, "-- config/webhook/manifests.yaml --\nkind: MutatingWebhookConfiguration\n")
	apply(t)(DeleteWebhook(fileview.Disk(root), webhookDeletion(pods)))
	read(t, root, "config/webhook/manifests.yaml")
	read(t, root, "config/selfcert/kustomization.yaml")
	if got := read(t, root, kustomization); !strings.Contains(got, "\n- manifests.yaml\n") {
		t.Errorf("after another webhook has come and gone, what is generated is not deployed:\n%s", got)
	}
}

// TestConversionOfOtherTools: a project whose webhooks another tool deploys gets its patches there.
func TestConversionOfOtherTools(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	v2 := cronJob()
	v2.Version, v2.Controller = "v2", false
	apply(t)(CreateAPI(fileview.Disk(root), v2))
	unpack(t, root, `
-- config/webhook/kustomization.yaml --
resources:
- manifests.yaml
- service.yaml
-- config/certmanager/kustomization.yaml --
resources:
- issuer.yaml
-- config/crd/kustomization.yaml --
resources:
- bases/batch.example.com_cronjobs.yaml
# +kubebuilder:scaffold:crdkustomizeresource
patches:
# +kubebuilder:scaffold:crdkustomizewebhookpatch
#configurations:
#- kustomizeconfig.yaml
-- config/default/kustomization.yaml --
resources:
- ../crd
- ../webhook
- ../certmanager
replacements:
 - source:
     kind: Certificate
     fieldPath: .metadata.namespace
   targets:
# +kubebuilder:scaffold:crdkustomizecainjectionns
 - source:
     kind: Certificate
     fieldPath: .metadata.name
   targets:
# +kubebuilder:scaffold:crdkustomizecainjectionname
`)
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
	for name, wants := range map[string][]string{
		"config/crd/patches/webhook_in_cronjobs.yaml": {"strategy: Webhook"},
		"config/crd/kustomization.yaml":               {"\n- path: patches/webhook_in_cronjobs.yaml\n", "\nconfigurations:\n- kustomizeconfig.yaml\n"},
		"config/crd/kustomizeconfig.yaml":             {"spec/conversion/webhook/clientConfig/service/name"},
		"config/default/kustomization.yaml":           {"   targets:\n     - select:\n         kind: CustomResourceDefinition\n         name: cronjobs.batch.example.com\n", "index: 0\n", "index: 1\n"},
	} {
		for _, want := range wants {
			if got := read(t, root, name); !strings.Contains(got, want) {
				t.Errorf("no %q in %s:\n%s", want, name, got)
			}
		}
	}
}

// TestFeatureRefused: a list that is not one item a line is told with its place and the text to insert.
func TestFeatureRefused(t *testing.T) {
	root := newProject(t, Project{})
	unpack(t, root, "-- config/default/kustomization.yaml --\nresources: [../rbac, ../manager]\ncomponents: [../metrics]\n")
	before := tree(t, root)
	_, err := EditProject(fileview.Disk(root), Enable(features.NetworkPolicy))
	refused, ok := errors.AsType[*report.Error](err)
	if !ok || !strings.HasPrefix(refused.Where, "config/default/kustomization.yaml"+":") || !strings.Contains(refused.Hint, "../network-policy") {
		t.Errorf("got %v", err)
	}
	if after := tree(t, root); len(after.Files) != len(before.Files) {
		t.Error("something was written")
	}
}

// TestEveryFeatureTwice: the second time there is nothing to do, and PROJECT knows nothing of features.
func TestEveryFeatureTwice(t *testing.T) {
	root := newProject(t, Project{})
	description := read(t, root, project.FileName)
	for range 2 {
		for _, f := range features.Names() {
			plan, err := EditProject(fileview.Disk(root), Enable(f))
			apply(t)(plan, err)
		}
	}
	plan, err := EditProject(fileview.Disk(root), Enable(features.Names()[:4]...))
	apply(t)(plan, err)
	if plan, err = EditProject(fileview.Disk(root), Enable(features.Names()[:4]...)); err != nil || !plan.Empty() {
		t.Errorf("a second time: %v, %v", plan.Changes(), err)
	}
	if read(t, root, project.FileName) != description {
		t.Error("PROJECT has changed")
	}
}

// TestWebhooksGolden compares what webhooks of all kinds and all features write, in a project of several groups,
// with testdata/golden/webhooks.txtar; and no file of it has a block in comments.
func TestWebhooksGolden(t *testing.T) {
	root := newProject(t, Project{MultiGroup: true, License: License{Name: "none"}})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	v2 := cronJob()
	v2.Version, v2.Controller = "v2", false
	apply(t)(CreateAPI(fileview.Disk(root), v2))
	before := tree(t, root)
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true, Validation: true, Conversion: true}))
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "core", Version: "v1", Kind: "Pod", Defaulting: true, DefaultingPath: "/pods"}))
	apply(t)(EditProject(fileview.Disk(root), Enable(features.SelfCert)))
	apply(t)(EditProject(fileview.Disk(root), Enable(features.Names()...)))
	archive := tree(t, root)
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return slices.Contains([]string{base.Path, "go.mod", "go.sum"}, f.Name) ||
			slices.ContainsFunc(before.Files, func(old txtar.File) bool { return old.Name == f.Name && string(old.Data) == string(f.Data) })
	})
	compareGolden(t, filepath.Join("testdata", "golden", "webhooks.txtar"), txtar.Format(archive))
	for _, f := range archive.Files {
		if line, ok := commentedBlock(f); ok {
			t.Errorf("%s: commented-out YAML: %s", f.Name, line)
		}
	}
}

// TestCertificateCodeGoesWithItsFeature: without selfcert the code is as before it, also when the other feature takes
// over; what somebody changed stays and is told, and creating webhooks does not bring it back.
func TestCertificateCodeGoesWithItsFeature(t *testing.T) {
	const code = "internal/manager/certificate.go"
	project := func(t *testing.T) string {
		root := newProject(t, Project{})
		apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
		apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true, Certificates: features.CertManager}))
		return root
	}
	for name, without := range map[string]Edit{"disabled": Disable(features.SelfCert, features.WebhookServer), "replaced": Enable(features.CertManager)} {
		t.Run(name, func(t *testing.T) {
			root := project(t)
			before := read(t, root, "cmd/main.go")
			apply(t)(EditProject(fileview.Disk(root), Enable(features.SelfCert)))
			if !strings.Contains(read(t, root, "cmd/main.go"), "manager.KeepCertificate(mgr)") {
				t.Fatal("the code did not exist in the first place")
			}
			editFile(t, root, "config/manager/manager.yaml", "        env:\n", "        env:\n        - name: ENABLE_WEBHOOKS\n          value: \"false\"\n")
			apply(t)(EditProject(fileview.Disk(root), without))
			apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Validation: true}))
			if diff := cmp.Diff(before, read(t, root, "cmd/main.go")); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(root, code)); err == nil {
				t.Error("the code is there still")
			}
			if regexp.MustCompile(`cert-controller v\S+\n`).MatchString(read(t, root, "go.mod")) {
				t.Error("go.mod says that the code uses the module")
			}
			checkCompiles(t, root)
			apply(t)(EditProject(fileview.Disk(root), Enable(features.SelfCert)))
			checkCompiles(t, root)
		})
	}
	t.Run("changed", func(t *testing.T) {
		root := project(t)
		apply(t)(EditProject(fileview.Disk(root), Enable(features.SelfCert)))
		editFile(t, root, "cmd/main.go", "keep the certificate: %w", "my words: %w")
		plan, err := EditProject(fileview.Disk(root), Enable(features.CertManager))
		apply(t)(plan, err)
		told := map[string]string{}
		for _, f := range plan.Changes() {
			told[f.Path] = f.Why
		}
		if !strings.Contains(told["cmd/main.go"], "has your changes") || !strings.Contains(told[code], "it is used at cmd/main.go") {
			t.Errorf("told %v", told)
		}
		checkCompiles(t, root)
	})
}

// TestFeaturesOfOtherDeployment: the patches of a feature have the names of the project's Deployment, its container and
// its account. A project without a Deployment is refused.
func TestFeaturesOfOtherDeployment(t *testing.T) {
	const manager = "config/manager/manager.yaml"
	root := newProject(t, Project{})
	unpack(t, root, "-- "+manager+` --
apiVersion: v1
kind: Namespace
metadata:
  name: crew
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: crew-operator
  namespace: crew
spec:
  selector:
    matchLabels:
      app: crew
  template:
    spec:
      serviceAccountName: crew-account
      containers:
      - name: operator
        args: []
`)
	apply(t)(EditProject(fileview.Disk(root), Enable(features.HA, features.WebhookServer, features.CertManager, features.Tracing)))
	for file, wants := range map[string][]string{
		"config/ha/manager.yaml":              {"\n  name: crew-operator\n  namespace: crew\n", "\n            app: crew\n"},
		"config/ha/kustomization.yaml":        {"\n    kind: Deployment\n    name: crew-operator\n"},
		"config/webhook/manager.yaml":         {"\n  name: crew-operator\n", "\n      - name: operator\n"},
		"config/tracing/manager.yaml":         {"\n  name: crew-operator\n", "\n      - name: operator\n"},
		"config/certmanager/manager.yaml":     {"\n  name: crew-operator\n", "\n      - name: operator\n"},
		"config/certmanager/certificate.yaml": {"\n  name: crew-operator\n"},
		"config/default/names.yaml":           {"\n    kind: Deployment\n    name: crew-operator\n"},
	} {
		projecttest.Holds(t, root, file, wants...)
	}
	unpack(t, root, "-- "+manager+" --\nkind: Namespace\n")
	_, err := EditProject(fileview.Disk(root), Enable(features.PProf))
	refused, ok := errors.AsType[*report.Error](err)
	if !ok || refused.Where != "config/default" || refused.Next == "" {
		t.Errorf("a project without a Deployment: %v", err)
	}
}

// TestFeatureOffAgain: a feature's line takes the list that it began along, and the report names the folder that stays.
func TestFeatureOffAgain(t *testing.T) {
	const deployed = "config/default/kustomization.yaml"
	root := newProject(t, Project{})
	unpack(t, root, otherTool)
	before := read(t, root, deployed)
	apply(t)(EditProject(fileview.Disk(root), Enable(features.NetworkPolicy)))
	plan, err := EditProject(fileview.Disk(root), Disable(features.NetworkPolicy))
	apply(t)(plan, err)
	if diff := cmp.Diff(before, read(t, root, deployed)); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(plan.Changes(), func(f report.File) bool {
		return f.Path == "config/network-policy/kustomization.yaml" && strings.Contains(f.Why, "config/network-policy stays")
	}) {
		t.Errorf("the report does not name the folder: %v", plan.Changes())
	}
	if plan, err = EditProject(fileview.Disk(root), Disable(features.NetworkPolicy)); err != nil || !plan.Empty() {
		t.Errorf("a second time: %v, %v", plan.Changes(), err)
	}
}

// TestMetricsOfOtherTools: metrics are the lines that a project has for them: those of kubebuilder 4, or those of 3,
// which are in two kustomizations. Off and on again all is as it was.
func TestMetricsOfOtherTools(t *testing.T) {
	const list, roles = "config/default/kustomization.yaml", "config/rbac/kustomization.yaml"
	const older = "-- " + list + " --\nnamespace: op-system\nnamePrefix: op-\nbases:\n- ../manager\n- ../rbac\npatchesStrategicMerge:\n# Protect the endpoint.\n- manager_auth_proxy_patch.yaml\n" +
		"-- " + roles + " --\nresources:\n- role.yaml\n# Comment these lines.\n- auth_proxy_service.yaml\n- auth_proxy_role.yaml\n" +
		"-- config/default/manager_auth_proxy_patch.yaml --\n-- config/rbac/auth_proxy_service.yaml --\n-- config/rbac/auth_proxy_role.yaml --\n"
	const named = "-- " + list + " --\nnamespace: op-system\nresources:\n- ../manager\n- manager_metrics_service.yaml\npatches:\n- path: manager_metrics_patch.yaml\n#- path: certmanager_metrics_manager_patch.yaml\n" +
		"#replacements:\n#- source:\n#    kind: Service\n#    name: controller-manager-metrics-service\n#    fieldPath: .metadata.name\n#  targets: []\n" +
		"-- config/default/manager_metrics_service.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: controller-manager-metrics-service, namespace: system}\nspec:\n  ports: [{name: https, port: 8443, targetPort: 8443}]\n"
	for name, test := range map[string]struct{ archive, off, offRoles string }{
		"named otherwise": {otherTool + named, "\n#- manager_metrics_service.yaml\n#patches:\n#- path: manager_metrics_patch.yaml\n", ""},
		"4":               {otherTool, "\n#- metrics_service.yaml\n#- ../network-policy\n#patches:\n#- path: manager_metrics_patch.yaml\n#  target:\n", ""},
		"3":               {older, "\npatchesStrategicMerge:\n# Protect the endpoint.\n#- manager_auth_proxy_patch.yaml\n", "\n- role.yaml\n# Comment these lines.\n#- auth_proxy_service.yaml\n#- auth_proxy_role.yaml\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, Project{})
			unpack(t, root, test.archive)
			before := read(t, root, list) + read(t, root, roles)
			apply(t)(EditProject(fileview.Disk(root), Disable(features.Metrics)))
			if off, offRoles := read(t, root, list), read(t, root, roles); !strings.Contains(off, test.off) || !strings.Contains(offRoles, test.offRoles) {
				t.Errorf("off:\n%s\n%s", off, offRoles)
			}
			apply(t)(EditProject(fileview.Disk(root), Enable(features.Metrics)))
			if diff := cmp.Diff(before, read(t, root, list)+read(t, root, roles)); diff != "" {
				t.Error(diff)
			}
			if again, err := EditProject(fileview.Disk(root), Enable(features.Metrics)); err != nil || !again.Empty() {
				t.Errorf("a second time it is %v", err)
			}
		})
	}
}
