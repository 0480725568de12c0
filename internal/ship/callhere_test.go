package ship

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const localHooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- name: vboat.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig:
    service: {name: webhook-service, namespace: system, path: /validate-boat}
  rules:
  - {apiGroups: [here.example.com], apiVersions: [v1], operations: [CREATE], resources: [boats]}
`

// authority is the certificate of nobody in particular.
const authority = `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUcb2ytwy1n3vCjz2Qeq58pu+dF7YwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEyMjA0MDlaGA8yMTI2MTAyODIyMDQw
OVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLSw
rZVQgZOPp1Q1QGwrd5lWF4SuIBbScXRzYXmcXmL+a2N6EQu25RcN+psl0TfR7v6Y
LP3ExyXLfFgrLw5goKajUzBRMB0GA1UdDgQWBBQB5nwizv/hYADJDcL7AiRzaCMl
MzAfBgNVHSMEGDAWgBQB5nwizv/hYADJDcL7AiRzaCMlMzAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDlB+171Y+LrZ5OKOA4iXVw8zdB9tXipSvB
3MD0H8x07QIhAIKA2XnqQSeyF6rj8RlAYmEOrUUMpNs1A4vi5G6cn1ak
-----END CERTIFICATE-----
`

// TestCallHere: while a manager runs here the API server asks it, and afterwards nothing is left of that.
func TestCallHere(t *testing.T) {
	c, _ := connect(t)
	text := definition("here.example.com", "a boat")
	if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	defer remove(t, c, text)
	name := objects(t, text)[0].GetName()

	restore, err := c.CallHere(t.Context(), LocalWebhooks{
		Manifests: []byte(localHooks), Converted: []string{name}, Prefix: "op-run-", Address: "127.0.0.1:1", Authority: []byte(authority),
	})
	if err != nil {
		t.Fatal(err)
	}
	configurations := c.objects.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"})
	made, err := configurations.Get(t.Context(), "op-run-validating-webhook-configuration", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hooks, _, _ := unstructured.NestedSlice(made.Object, "webhooks")
	url, _, _ := unstructured.NestedString(hooks[0].(map[string]any), "clientConfig", "url")
	if url != "https://127.0.0.1:1/validate-boat" {
		t.Errorf("the API server asks %q", url)
	}
	// The API server learns of its configurations by and by.
	asks := func(want bool) error {
		return poll(t.Context(), patienceOf(0), func(context.Context) (bool, error) {
			err := dryRun(t, c, objects(t, boat("here.example.com", "{}"))[0])
			return want == (err != nil && strings.Contains(err.Error(), "vboat.example.com")), nil
		})
	}
	if err := asks(true); err != nil {
		t.Errorf("the API server asks nobody: %v", err)
	}
	if strategy(t, c, name) != "Webhook" {
		t.Errorf("strategy %s", strategy(t, c, name))
	}

	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if strategy(t, c, name) != "None" {
		t.Errorf("strategy %s afterwards", strategy(t, c, name))
	}
	if err := asks(false); err != nil {
		t.Errorf("the API server still asks: %v", err)
	}
	if err := restore(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestCallHereServedAfterwards: what is converted here is served in all versions once that is taken back.
func TestCallHereServedAfterwards(t *testing.T) {
	c, _ := connect(t)
	const group = "twice.example.com"
	crd := objects(t, definition(group, "twice"))
	versions, _, _ := unstructured.NestedSlice(crd[0].Object, "spec", "versions")
	second := runtime.DeepCopyJSON(versions[0].(map[string]any))
	second["name"], second["storage"] = "v2", false
	if err := unstructured.SetNestedSlice(crd[0].Object, append(versions, second), "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), append(crd, objects(t, boat(group, "{oars: 2}"))...), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	v2 := c.objects.Resource(schema.GroupVersionResource{Group: group, Version: "v2", Resource: "boats"})
	for range 5 {
		restore, err := c.CallHere(t.Context(), LocalWebhooks{Converted: []string{"boats." + group}, Address: "127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		if err := poll(t.Context(), patienceOf(0), func(ctx context.Context) (bool, error) {
			_, err := v2.Namespace("default").Get(ctx, "one", metav1.GetOptions{})
			return err != nil, nil
		}); err != nil {
			t.Fatalf("nobody is asked to convert: %v", err)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if _, err := v2.Namespace("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
			t.Errorf("v2 is not served: %v", err)
		}
	}
}

// TestCallHereWithoutKind: a kind that the cluster does not know is told, and nothing is left.
func TestCallHereWithoutKind(t *testing.T) {
	c, _ := connect(t)
	restore, err := c.CallHere(t.Context(), LocalWebhooks{Converted: []string{"ships.nowhere.example.com"}})
	if failure(t, err).Next != "slipway install" {
		t.Errorf("got %v", err)
	}
	if err := restore(); err != nil {
		t.Error(err)
	}
}

func strategy(t *testing.T, c *Cluster, name string) string {
	t.Helper()
	found, err := c.objects.Resource(crdResource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := unstructured.NestedString(found.Object, "spec", "conversion", "strategy")
	return s
}
