package ship

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
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

	restore, err := callHere(t, c, LocalWebhooks{
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

// callHere makes a detour; restore takes it back, from what another process would read of it.
func callHere(t *testing.T, c *Cluster, w LocalWebhooks) (restore func() error, err error) {
	t.Helper()
	d, err := c.PlanDetour(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	read := &Detour{}
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if !read.Made(t.Context(), c) {
		t.Errorf("%s is of another cluster", text)
	}
	return func() error { return c.TakeBack(t.Context(), read) }, c.CallHere(t.Context(), d)
}

// TestConversionAsBefore: a kind that is converted elsewhere, at a URL, is so again afterwards, and its fields have the
// owner that they had. Whatever somebody else says meanwhile stays.
func TestConversionAsBefore(t *testing.T) {
	c, _ := connect(t)
	text := definition("elsewhere.example.com", "a boat")
	remove(t, c, text)
	crd := objects(t, text)[0]
	theirs := map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://127.0.0.1:2/theirs"},
	}}
	if err := unstructured.SetNestedField(crd.Object, theirs, "spec", "conversion"); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), []*unstructured.Unstructured{crd}, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	get := func() *unstructured.Unstructured {
		live, err := c.objects.Resource(crdResource).Get(t.Context(), crd.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	owners := func(o *unstructured.Unstructured) string {
		all, err := ownersOf(o, conversionPath)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, entry := range all {
			text = append(text, entry.Manager+entry.FieldsV1.String())
		}
		return strings.Join(text, "\n")
	}
	url := func(o *unstructured.Unstructured) string {
		u, _, _ := unstructured.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "url")
		return u
	}
	before := get()
	restore, err := callHere(t, c, LocalWebhooks{Converted: []string{crd.GetName()}, Address: "127.0.0.1:1", Authority: []byte(authority)})
	if err != nil || url(get()) != "https://127.0.0.1:1/convert" {
		t.Fatalf("asks %s: %v", url(get()), err)
	}
	for range 2 {
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		after := get()
		if diff := gocmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
			t.Errorf("afterwards (-before +after):\n%s", diff)
		}
		if diff := gocmp.Diff(owners(before), owners(after)); diff != "" {
			t.Errorf("owners afterwards (-before +after):\n%s", diff)
		}
		if slices.ContainsFunc(after.GetManagedFields(), isCallHere) {
			t.Errorf("the run still owns fields: %v", after.GetManagedFields())
		}
	}
	if restore, err = callHere(t, c, LocalWebhooks{Converted: []string{crd.GetName()}, Address: "127.0.0.1:1", Authority: []byte(authority)}); err != nil {
		t.Fatal(err)
	}
	other := get()
	if err := unstructured.SetNestedField(other.Object, "https://127.0.0.1:3/new", "spec", "conversion", "webhook", "clientConfig", "url"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.objects.Resource(crdResource).Update(t.Context(), other, metav1.UpdateOptions{FieldManager: "other"}); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil || url(get()) != "https://127.0.0.1:3/new" {
		t.Errorf("asks %s: %v", url(get()), err)
	}
}

// TestCallHereSparesOthers: a configuration that is none of a run's is not overwritten, and one that another run made
// meanwhile not removed.
func TestCallHereSparesOthers(t *testing.T) {
	c, _ := connect(t)
	w := LocalWebhooks{Manifests: []byte(localHooks), Prefix: "spared-", Address: "127.0.0.1:1", Authority: []byte(authority)}
	configurations := c.objects.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"})
	const name = "spared-validating-webhook-configuration"
	first, err := callHere(t, c, w)
	if err != nil {
		t.Fatal(err)
	}
	second := w
	second.Address = "127.0.0.1:2"
	restore, err := callHere(t, c, second)
	if err != nil {
		t.Fatal(err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	if _, err := configurations.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("the second's configuration: %v", err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	theirs := objects(t, strings.ReplaceAll(localHooks, "name: validating", "name: spared-validating"))[0]
	if _, err := configurations.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := configurations.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.PlanDetour(t.Context(), w); failure(t, err).Where != "validatingwebhookconfiguration/"+name {
		t.Errorf("got %v", err)
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
		restore, err := callHere(t, c, LocalWebhooks{Converted: []string{"boats." + group}, Address: "127.0.0.1:1"})
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
	_, err := c.PlanDetour(t.Context(), LocalWebhooks{Converted: []string{"ships.nowhere.example.com"}})
	if failure(t, err).Next != "slipway install" {
		t.Errorf("got %v", err)
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
