package test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// TestServerAlone has a cluster that is an API server and nothing else, beside the stock programs.
func TestServerAlone(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.Controllers = ptr.To(false)
	p, stock := start(t, config), startStock(t)
	c := p.clients()
	t.Run("documents are stock", func(t *testing.T) { testDocumentsAreStock(t, c, stock) })
	t.Run("one document", func(t *testing.T) { testOneDocument(t, c) })
	t.Run("documents", func(t *testing.T) { testDocuments(t, c) })
	t.Run("kubectl validates", func(t *testing.T) { testKubectlValidates(t, config) })
	t.Run("first use", func(t *testing.T) { testFirstUse(t, c) })
	t.Run("first use of the stock programs", func(t *testing.T) { testFirstUse(t, stock) })
	t.Run("the stock programs are alone", func(t *testing.T) { testStockAlone(t, stock) })
	t.Run("reset in flight", func(t *testing.T) { testResetInFlight(t, p, c) })
	t.Run("mutating policy", func(t *testing.T) { testMutatingPolicy(t, c) })
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("%d nodes, %v", len(nodes.Items), err)
	}
	p.stop()
	for _, e := range p.history {
		if e.Event == "progress" && e.Component != protocol.Etcd && e.Component != protocol.APIServer {
			t.Errorf("component %s", e.Component)
		}
	}
}

// testDocuments reads every OpenAPI document that is listed: built-in groups, a custom resource, other APIs.
func testDocuments(t *testing.T, c clients) {
	makeCRD(t, c, schema.GroupVersionResource{Group: "docs.example.com", Version: "v1", Resource: "pages"})
	eventually(t, "the custom resource is listed", func(context.Context) (bool, error) {
		paths, err := c.Discovery().OpenAPIV3().Paths()
		return paths["apis/docs.example.com/v1"] != nil, err
	})
	paths, err := c.Discovery().OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{
		"api/v1": "v1.Pod", "apis/apps/v1": "v1.Deployment", "apis/docs.example.com/v1": "example.docs",
		"apis/apiextensions.k8s.io/v1": "CustomResourceDefinition", "apis/apiregistration.k8s.io/v1": "APIService",
	} {
		if paths[path] == nil {
			t.Errorf("no document for %s", path)
			continue
		}
		data, err := paths[path].Schema("application/json")
		if err != nil || !strings.Contains(string(data), kind) {
			t.Errorf("%s: %.100q does not describe %s, %v", path, data, kind, err)
		}
	}
	for path, entry := range paths {
		data, err := entry.Schema("application/json")
		var document struct{ OpenAPI string }
		if err == nil {
			err = json.Unmarshal(data, &document)
		}
		if err != nil || !strings.HasPrefix(document.OpenAPI, "3.") {
			t.Errorf("%s: %.100q, %v", path, data, err)
		}
	}
}

// testMutatingPolicy applies a policy whose types the server reads from the documents.
func testMutatingPolicy(t *testing.T, c clients) {
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "stamp"},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: `Object{metadata: Object.metadata{labels: {"stamped": "yes"}}}`},
			}},
		},
	}
	if _, err := c.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "stamp"},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "stamp"},
	}
	if _, err := c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	maps := c.CoreV1().ConfigMaps("default")
	eventually(t, "a new ConfigMap is stamped", func(ctx context.Context) (bool, error) {
		m, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "stamped-"}}, metav1.CreateOptions{})
		if apierrors.IsServiceUnavailable(err) { // the policy is in force before its types are known
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return m.Labels["stamped"] == "yes", nil
	})
}
