package ship

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/kustomization"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// featuredProject is a project with every feature, with certificates of a keeper: its kind has two versions, a rule in
// CEL and all kinds of webhooks.
func featuredProject(t *testing.T, keeper features.Name) string {
	t.Helper()
	root := t.TempDir()
	apply := func(plan *scaffold.Plan, err error) {
		t.Helper()
		if err == nil {
			err = plan.Apply(report.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(scaffold.Init(fileview.Disk(root), scaffold.Project{Name: "op", Domain: "example.com", Repo: "example.com/op"}))
	for _, version := range []string{"v1", "v2"} {
		apply(scaffold.CreateAPI(fileview.Disk(root), scaffold.API{Group: "ship", Version: version, Kind: "Frigate", Resource: true, Controller: version == "v1", Namespaced: true}))
	}
	apply(scaffold.CreateWebhook(fileview.Disk(root), scaffold.Webhook{Group: "ship", Version: "v1", Kind: "Frigate", Defaulting: true, Validation: true, Conversion: true}))
	apply(scaffold.EditProject(fileview.Disk(root), scaffold.Enable(features.Names()...)))
	apply(scaffold.EditProject(fileview.Disk(root), scaffold.Enable(keeper)))
	addRule(t, filepath.Join(root, "api", "v1", "frigate_types.go"))
	options, err := generate.Parse([]string{"crd", "rbac:roleName=manager-role", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"})
	if err != nil {
		t.Fatal(err)
	}
	options.Dir = root
	options.Uses = append(options.Uses, generate.Use{Name: "vap", Output: generate.Output{Config: "config/vap"}})
	if result, err := generate.Run(t.Context(), options); err != nil || result.Failed() {
		t.Fatal(err, result.Findings)
	}
	return root
}

// addRule gives a kind a rule in CEL.
func addRule(t *testing.T, file string) {
	t.Helper()
	const spec = "type FrigateSpec struct {"
	text, err := os.ReadFile(file)
	if err == nil && !strings.Contains(string(text), spec) {
		err = fmt.Errorf("%s has no %s", file, spec)
	}
	if err == nil {
		rule := `// +kubebuilder:validation:XValidation:rule="!has(self.foo) || self.foo.size() < 5"` + "\n"
		err = os.WriteFile(file, []byte(strings.Replace(string(text), spec, rule+spec, 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// combinations yields what is to be deployed with each of [choices] of features, each line on or off; one is always on.
func combinations(t *testing.T, root, always string, yield func(lines []string, objects []*unstructured.Unstructured)) {
	t.Helper()
	name := filepath.Join(root, "config", "default", "kustomization.yaml")
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	features := deployed(string(before))
	for _, choice := range choices(len(features)) {
		if at := slices.Index(features, always); at >= 0 && !choice[at] {
			continue
		}
		var lines []string
		for line := range strings.Lines(string(before)) {
			at := slices.Index(features, strings.TrimSpace(line))
			if at < 0 || choice[at] {
				lines = append(lines, line)
			}
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		objects, err := kustomization.Kustomization{Folder: filepath.Dir(name)}.Build(t.Context())
		if err != nil {
			t.Errorf("%s: %v", strings.Join(lines, ""), err)
			continue
		}
		yield(lines, objects)
	}
}

// deployed are the lines of features in a kustomization.
func deployed(kustomization string) []string {
	var lines []string
	for line := range strings.Lines(kustomization) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ../")
		if ok && slices.Contains(features.Names(), features.Name(name)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// choices are those of n switches of which at most two are on, or at most two are off: any two meet in each way.
func choices(n int) [][]bool {
	var all [][]bool
	for i := range n + 1 { // the last index is no switch
		for j := range i + 1 {
			if i == j && i < n {
				continue
			}
			for _, on := range []bool{true, false} {
				choice := slices.Repeat([]bool{!on}, n)
				for _, at := range []int{i, j} {
					if at < n {
						choice[at] = on
					}
				}
				all = append(all, choice)
			}
		}
	}
	return all
}

// TestFeatureCombinations: every pair of features builds, alone and among all others, and an API server takes all that
// it describes.
func TestFeatureCombinations(t *testing.T) {
	c, _ := connect(t)
	prepare(t, c)
	seen := map[[32]byte]bool{}
	t.Run("selfcert", func(t *testing.T) { testCombinations(t, c, features.SelfCert, "", seen) })
	// Without its keeper it is the same project.
	t.Run("certmanager", func(t *testing.T) { testCombinations(t, c, features.CertManager, "- ../certmanager", seen) })
}

// testCombinations is [TestFeatureCombinations] with certificates of one keeper, and the line always on. It skips
// objects that were seen.
func testCombinations(t *testing.T, c *Cluster, keeper features.Name, always string, seen map[[32]byte]bool) {
	t.Helper()
	root := featuredProject(t, keeper)
	kinds := map[string]bool{}
	combinations(t, root, always, func(lines []string, objects []*unstructured.Unstructured) {
		for _, object := range objects {
			kinds[object.GetKind()] = true
			data, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(data)
			if seen[sum] {
				continue
			}
			seen[sum] = true
			for _, name := range []string{".system.svc", `"system/`, `"namespace":"system"`, `"name":"system"`, `namespace=\"system`} {
				if strings.Contains(string(data), name) {
					t.Errorf("%s %s has %s without the prefix\n%s", object.GetKind(), object.GetName(), name, strings.Join(lines, ""))
				}
			}
			if err := dryRun(t, c, object); err != nil {
				t.Errorf("%s %s: %v\n%s", object.GetKind(), object.GetName(), err, strings.Join(lines, ""))
			}
		}
	})
	t.Logf("%d different objects", len(seen))
	for _, kind := range []string{
		"ServiceMonitor", "PrometheusRule", "PodDisruptionBudget", "NetworkPolicy", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "Role",
	} {
		if !kinds[kind] {
			t.Errorf("no feature deployed a %s", kind)
		}
	}
	if kinds["Certificate"] != (keeper == features.CertManager) {
		t.Errorf("with the keeper %s, cert-manager's kinds are deployed: %t", keeper, kinds["Certificate"])
	}
}

// prepare makes what the objects live in and what other operators define: the namespace and
// definitions of cert-manager's and the Prometheus operator's kinds.
func prepare(t *testing.T, c *Cluster) {
	t.Helper()
	text := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: op-system\n"
	for _, kind := range []struct{ group, version, plural, name string }{
		{"cert-manager.io", "v1", "certificates", "Certificate"},
		{"cert-manager.io", "v1", "issuers", "Issuer"},
		{"monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor"},
		{"monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule"},
	} {
		text += fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[3]s.%[1]s
  annotations: {api-approved.kubernetes.io: unapproved}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[3]s, kind: %[4]s}
  versions:
  - name: %[2]s
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, kind.group, kind.version, kind.plural, kind.name)
	}
	if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, c, text) })
}

// dryRun asks the API server whether it would take an object.
func dryRun(t *testing.T, c *Cluster, object *unstructured.Unstructured) error {
	t.Helper()
	resource, object, err := c.locate(t.Context(), object, patienceOf(0))
	if err != nil {
		return err
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = resource.Patch(t.Context(), object.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
	return err
}
