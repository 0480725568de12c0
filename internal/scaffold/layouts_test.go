package scaffold

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// terse is what version 2 of PROJECT says of the project in v3.txtar.
const terse = "domain: example.com\nrepo: example.com/op\nresources:\n- group: crew\n  kind: Captain\n  version: v1\nversion: \"2\"\n"

// olderProject is the project of an older layout, with another version of controller-runtime, those of Kubernetes that
// go with it, and another PROJECT; "" for what the archive has.
func olderProject(t *testing.T, version, kubernetes, projectFile string) string {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", "layouts", "v3.txtar"))
	must(t, err)
	root := t.TempDir()
	text := string(archive)
	if version != "" {
		text = strings.NewReplacer("v0.15.3", version, "v0.27.7", kubernetes).Replace(text)
	}
	projecttest.Unpack(t, root, text)
	if projectFile != "" {
		must(t, os.WriteFile(filepath.Join(root, "PROJECT"), []byte(projectFile), 0o644))
	}
	return root
}

func probe() API {
	return API{Group: "crew", Version: "v1", Kind: "Probe", Resource: true, Controller: true, Namespaced: true}
}

func captains() Webhook {
	return Webhook{Group: "crew", Version: "v1", Kind: "Captain", Defaulting: true, Validation: true}
}

// createAll creates a kind, webhooks and, in a project that has room for it, a second version with its conversion.
func createAll(t *testing.T, root string) {
	t.Helper()
	second := API{Group: "crew", Version: "v2", Kind: "Captain", Resource: true, Namespaced: true}
	conversion := Webhook{Group: "crew", Version: "v1", Kind: "Captain", Conversion: true}
	apply(t)(CreateAPI(fileview.Disk(root), probe()))
	apply(t)(CreateWebhook(fileview.Disk(root), captains()))
	apply(t)(CreateAPI(fileview.Disk(root), second))
	apply(t)(CreateWebhook(fileview.Disk(root), conversion))
}

// TestOlderLayouts: what is created in an older layout is where that has it, in the form of its controller-runtime.
func TestOlderLayouts(t *testing.T) {
	const typed, untyped = "ctrl.NewWebhookManagedBy(mgr, r).", "ctrl.NewWebhookManagedBy(mgr).\n\t\tFor(r).\n"
	for _, test := range []struct{ name, version, kubernetes, project, form string }{
		{"version 3", "", "", "", untyped},
		{"version 2", "", "", terse, untyped},
		{"the last without types", "v0.22.4", "v0.34.1", "", untyped},
		{"the first with types", "v0.23.1", "v0.35.0", "", typed},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := olderProject(t, test.version, test.kubernetes, test.project)
			createAll(t, root)
			checkCompiles(t, root)
			projecttest.Holds(t, root, "api/v1/captain_webhook.go", test.form, "func (r *Captain) SetupWebhookWithManager(mgr ctrl.Manager) error", "+kubebuilder:object:generate=false")
			projecttest.Holds(t, root, "api/v1/probe_types.go", "SchemeBuilder.Register(&Probe{}, &ProbeList{})", "!pkg/runtime\"")
			projecttest.Holds(t, root, "main.go", "(&controllers.ProbeReconciler{", "(&crewv1.Captain{}).SetupWebhookWithManager(mgr)")
			projecttest.Holds(t, root, "controllers/probe_controller.go", "package controllers\n", "example.com/op/api/v1")
			projecttest.Holds(t, root, "config/default/kustomization.yaml", "bases:\n- ../crd\n- ../rbac\n- ../manager\n## - ../webhook\n", "components:\n- ../webhook\n- ../certmanager\n", "resources:\n- services.yaml\n")
			projecttest.Holds(t, root, "config/certmanager/manager.yaml", "mountPath: /tmp/k8s-webhook-server/serving-certs")
			projecttest.Holds(t, root, "config/certmanager/kustomization.yaml", "!--webhook-cert-path")
		})
	}
}

// TestOlderLayoutUndone: what was created goes again, to the last byte.
func TestOlderLayoutUndone(t *testing.T) {
	for _, file := range []string{"", terse} {
		root := olderProject(t, "", "", file)
		before := projecttest.Tree(t, root)
		apply(t)(CreateAPI(fileview.Disk(root), probe()))
		apply(t)(CreateWebhook(fileview.Disk(root), captains()))
		apply(t)(DeleteWebhook(fileview.Disk(root), webhookDeletion(captains())))
		apply(t)(DeleteAPI(fileview.Disk(root), Deletion{Group: "crew", Version: "v1", Kind: "Probe"}))
		if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
			t.Error(diff)
		}
	}
}

// methods is a webhook as kubebuilder 3 writes it, and what deploys it.
const methods = `
-- api/v1/captain_webhook.go --
package v1

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func (r *Captain) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).
		For(r).
		Complete()
}

var _ webhook.Defaulter = &Captain{}

func (r *Captain) Default() {}
-- config/webhook/kustomization.yaml --
resources:
- manifests.yaml
- service.yaml
-- config/certmanager/kustomization.yaml --
resources:
- certificate.yaml
`

// TestOlderWebhooks: a webhook that is a method of its kind stays, others join it, and the patches of a conversion that
// are there in comments are switched on.
func TestOlderWebhooks(t *testing.T) {
	root := olderProject(t, "", "", "")
	projecttest.Unpack(t, root, methods)
	apply(t)(CreateWebhook(fileview.Disk(root), captains()))
	checkCompiles(t, root)
	projecttest.Holds(t, root, "api/v1/captain_webhook.go", "func (r *Captain) Default() {}", "WithValidator(&CaptainValidator{})", "!CaptainDefaulter")
	projecttest.Holds(t, root, "main.go", "(&crewv1.Captain{}).SetupWebhookWithManager(mgr)")
	apply(t)(CreateAPI(fileview.Disk(root), API{Group: "crew", Version: "v2", Kind: "Captain", Resource: true, Namespaced: true}))
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "crew", Version: "v1", Kind: "Captain", Conversion: true}))
	checkCompiles(t, root)
	projecttest.Holds(t, root, "config/crd/kustomization.yaml", "\n- patches/webhook_in_captains.yaml\n", "\n- patches/cainjection_in_captains.yaml\n")
	projecttest.Holds(t, root, "api/v2/captain_conversion_test.go", "random.Fuzz(before)", "diff.ObjectReflectDiff(", "i := 0; i < 100; i++")
}

// TestOlderGo: a validator for a Go without the package slices does not import it.
func TestOlderGo(t *testing.T) {
	for version, want := range map[string]string{"1.20": "!slices", "1.21": "\t\"slices\"\n"} {
		root := olderProject(t, "", "", "")
		mod := filepath.Join(root, "go.mod")
		text, err := os.ReadFile(mod)
		must(t, err)
		must(t, os.WriteFile(mod, regexp.MustCompile(`(?m)^go .*$`).ReplaceAll(text, []byte("go "+version)), 0o644))
		apply(t)(CreateWebhook(fileview.Disk(root), captains()))
		checkCompiles(t, root)
		projecttest.Holds(t, root, "api/v1/captain_webhook.go", want, "reflect.DeepEqual(old, mistake)")
	}
}

// TestMethodsOfNoUse: a method that controller-runtime does not call any more is no webhook.
func TestMethodsOfNoUse(t *testing.T) {
	for version, want := range map[string]string{"v0.19.7": "!CaptainDefaulter", "v0.20.4": "WithDefaulter(&CaptainDefaulter{})"} {
		root := olderProject(t, version, "v0.32.1", "")
		projecttest.Unpack(t, root, methods)
		apply(t)(CreateWebhook(fileview.Disk(root), captains()))
		checkCompiles(t, root)
		projecttest.Holds(t, root, "api/v1/captain_webhook.go", "func (r *Captain) Default() {}", want)
	}
}

// TestOlderFeatures: webhooks and their certificate are switched by comments in config/default, patches and variables
// included.
func TestOlderFeatures(t *testing.T) {
	root := olderProject(t, "", "", "")
	projecttest.Unpack(t, root, methods+"-- config/default/manager_webhook_patch.yaml --\n-- config/default/webhookcainjection_patch.yaml --\n")
	apply(t)(EditProject(fileview.Disk(root), Enable(features.WebhookServer, features.CertManager)))
	projecttest.Holds(t, root, "config/default/kustomization.yaml",
		"\n- ../webhook\n", "\n- ../certmanager\n", "\n- manager_webhook_patch.yaml\n", "\n- webhookcainjection_patch.yaml\n",
		"vars:\n- name: SERVICE_NAME\n  objref:\n    kind: Service\n    version: v1\n    name: webhook-service\n")
	apply(t)(EditProject(fileview.Disk(root), Disable(features.WebhookServer, features.CertManager)))
	projecttest.Holds(t, root, "config/default/kustomization.yaml", "\n#- ../webhook\n", "\n#- ../certmanager\n", "\n#- manager_webhook_patch.yaml\n", "\n#- webhookcainjection_patch.yaml\n", "\n#- name: SERVICE_NAME\n#  objref:\n#    kind: Service\n")
}

// TestOlderLayoutMoves: several groups are in apis/, which Dockerfiles copy, and one group is in api/ again.
func TestOlderLayoutMoves(t *testing.T) {
	for _, file := range []string{"", terse} {
		root := olderProject(t, "", "", file)
		before := projecttest.Tree(t, root)
		apply(t)(EditProject(fileview.Disk(root), MultiGroup(true)))
		checkCompiles(t, root)
		projecttest.Holds(t, root, "Dockerfile", "COPY apis/ apis/\n", "COPY controllers/ controllers/\n")
		projecttest.Holds(t, root, "main.go", `crewv1 "example.com/op/apis/crew/v1"`, `"example.com/op/controllers/crew"`)
		createAll(t, root)
		checkCompiles(t, root)
		projecttest.Holds(t, root, "apis/crew/v1/captain_webhook.go", "func (r *Captain) SetupWebhookWithManager")
		root = olderProject(t, "", "", file)
		apply(t)(EditProject(fileview.Disk(root), MultiGroup(true)))
		apply(t)(EditProject(fileview.Disk(root), MultiGroup(false)))
		if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOlderFeaturesLeaveOwnVariables: variables that are not cert-manager's stay as they are, switched on or in
// comments.
func TestOlderFeaturesLeaveOwnVariables(t *testing.T) {
	const own = "- name: OWN\n  objref:\n    kind: Service\n    version: v1\n    name: metrics\n" +
		"#- name: OFF\n#  objref:\n#    kind: Service\n#    version: v1\n#    name: none\n"
	root := olderProject(t, "", "", "")
	projecttest.Unpack(t, root, methods)
	const config = "config/default/kustomization.yaml"
	file := filepath.Join(root, config)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(text, own...), 0o644))
	before := projecttest.Tree(t, root)
	apply(t)(EditProject(fileview.Disk(root), Enable(features.WebhookServer, features.CertManager)))
	projecttest.Holds(t, root, config, "\n- name: SERVICE_NAME\n", "\n"+own)
	apply(t)(EditProject(fileview.Disk(root), Disable(features.WebhookServer, features.CertManager)))
	if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

// TestGroupedConfiguration: a kind's definition and roles go where the project keeps these, as jobset in
// config/components, and leave with the kind.
func TestGroupedConfiguration(t *testing.T) {
	root := olderProject(t, "", "", "")
	must(t, os.Mkdir(filepath.Join(root, "config", "components"), 0o755))
	for _, part := range []string{"crd", "rbac", "manager"} {
		must(t, os.Rename(filepath.Join(root, "config", part), filepath.Join(root, "config", "components", part)))
	}
	const deployed = "config/default/kustomization.yaml"
	file := filepath.Join(root, deployed)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "- ../", "- ../components/")), 0o644))
	before := projecttest.Tree(t, root)
	apply(t)(CreateAPI(fileview.Disk(root), probe()))
	projecttest.Holds(t, root, "config/components/crd/kustomization.yaml", "\n- bases/crew.example.com_probes.yaml\n")
	projecttest.Holds(t, root, "config/components/rbac/kustomization.yaml", "probe_viewer_role.yaml\n")
	projecttest.Holds(t, root, deployed, "- ../components/crd\n", "!- ../crd\n")
	apply(t)(DeleteAPI(fileview.Disk(root), Deletion{Group: "crew", Version: "v1", Kind: "Probe"}))
	if diff := cmp.Diff(before, projecttest.Tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

// TestSamplesListLeaves: slipway's list of samples goes with the last sample in it, though kinds stay whose samples
// were never in it. A list with its author's lines stays.
func TestSamplesListLeaves(t *testing.T) {
	const list = "config/samples/kustomization.yaml"
	for _, own := range []string{"", "- own.yaml\n", "# mine\n"} {
		root := olderProject(t, "", "", "")
		must(t, os.RemoveAll(filepath.Join(root, "config", "samples")))
		before := projecttest.Tree(t, root)
		apply(t)(CreateAPI(fileview.Disk(root), probe()))
		file := filepath.Join(root, list)
		text, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, append(text, own...), 0o644))
		apply(t)(DeleteAPI(fileview.Disk(root), Deletion{Group: "crew", Version: "v1", Kind: "Probe"}))
		after := projecttest.Tree(t, root)
		if _, there := after[list]; there != (own != "") {
			t.Errorf("with %q of its author the list is there: %t", own, there)
		}
		if diff := cmp.Diff(before, after); own == "" && diff != "" {
			t.Error(diff)
		}
	}
}
