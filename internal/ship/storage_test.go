package ship

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// unanswered is a conversion that nothing serves.
const unanswered = "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: absent, namespace: default}}}}"

// versioned is a definition in a group of the test's own. A version is stored if it ends with +, not served with -.
func versioned(group, conversion string, versions ...string) string {
	text := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}
  conversion: %[2]s
  versions:
`, group, conversion)
	for _, v := range versions {
		text += fmt.Sprintf("  - {name: %s, served: %t, storage: %t, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n",
			strings.TrimRight(v, "+-"), !strings.Contains(v, "-"), strings.Contains(v, "+"))
	}
	return text
}

// mergeInto changes a definition as another manager.
func mergeInto(t *testing.T, c *Cluster, definition string, changes any) {
	t.Helper()
	patch, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.objects.Resource(crdResource).Patch(t.Context(), objects(t, definition)[0].GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "other"}); err != nil {
		t.Fatal(err)
	}
}

// launch creates a Boat.
func launch(t *testing.T, c *Cluster, group, version, name string) error {
	t.Helper()
	text := fmt.Sprintf("apiVersion: %s/%s\nkind: Boat\nmetadata: {name: %s, namespace: default}\n", group, version, name)
	resource, object, err := c.locate(t.Context(), objects(t, text)[0], testlimit.Hang)
	if err != nil {
		return err
	}
	_, err = resource.Create(t.Context(), object, metav1.CreateOptions{})
	return err
}

// storing says how the cluster stores the objects of a definition, and how they may be stored.
func storing(t *testing.T, c *Cluster, definition string) string {
	t.Helper()
	live := at(t, c, definition)
	strategy, _, _ := unstructured.NestedString(live.Object, "spec", "conversion", "strategy")
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	return fmt.Sprint(storageVersion(live), stored, strategy)
}

// TestConversionOfOperator: a conversion that an operator registered for its kind by itself is not the manifests', so
// it stays.
func TestConversionOfOperator(t *testing.T) {
	c, _ := connect(t)
	text := versioned("own.example.com", "", "v1+", "v2")
	text = strings.Replace(text, "  conversion: \n", "", 1)
	remove(t, c, text)
	mustApply(t, c, text, ApplyOptions{})
	mergeInto(t, c, text, map[string]any{"spec": objects(t, "apiVersion: v1\nkind: Spec\nconversion: "+unanswered)[0].Object})
	mustApply(t, c, text, ApplyOptions{})
	if is := storing(t, c, text); is != "v1[v1]Webhook" {
		t.Errorf("storing: %s", is)
	}
}

// TestConversionOfOneVersion: the conversion of a kind with one version goes, though another wrote the authority in it.
func TestConversionOfOneVersion(t *testing.T) {
	c, _ := connect(t)
	text := versioned("single.example.com", unanswered, "v1+")
	remove(t, c, text)
	mustApply(t, c, text, ApplyOptions{})
	mergeInto(t, c, text, map[string]any{"spec": map[string]any{"conversion": map[string]any{"webhook": map[string]any{
		"clientConfig": map[string]any{"caBundle": base64.StdEncoding.EncodeToString([]byte(authority))},
	}}}})
	mustApply(t, c, strings.Replace(text, "  conversion: "+unanswered+"\n", "", 1), ApplyOptions{})
	if is := storing(t, c, text); is != "v1[v1]None" {
		t.Errorf("storing: %s", is)
	}
}

// TestLeavesForUnserved: objects are stored anew although the version to store is not served.
func TestLeavesForUnserved(t *testing.T) {
	c, _ := connect(t)
	text := versioned("unserved.example.com", "{strategy: None}", "v1+", "v2")
	remove(t, c, text)
	mustApply(t, c, text, ApplyOptions{})
	if err := launch(t, c, "unserved.example.com", "v1", "one"); err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, versioned("unserved.example.com", "{strategy: None}", "v2+-", "v3"), ApplyOptions{})
	if is := storing(t, c, text); is != "v2[v2]None" {
		t.Errorf("storing: %s", is)
	}
}

// TestRefusedRetreat: where nothing converts, a version with objects is not left, and writes that need no conversion go
// on as before.
func TestRefusedRetreat(t *testing.T) {
	c, _ := connect(t)
	const group = "refused.example.com"
	one, both := versioned(group, unanswered, "v1+"), versioned(group, unanswered, "v1", "v2+")
	mustApply(t, c, one, ApplyOptions{})
	t.Cleanup(func() { // what cannot be read cannot be deleted
		_, err := c.objects.Resource(crdResource).Patch(context.Background(), "boats."+group, types.MergePatchType, []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`), metav1.PatchOptions{})
		if err != nil {
			t.Error(err)
		}
		if err := c.Delete(context.Background(), objects(t, one), DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	if err := launch(t, c, group, "v1", "one"); err != nil {
		t.Fatal(err)
	}
	mergeInto(t, c, one, map[string]any{"spec": objects(t, both)[0].Object["spec"]})
	if err := poll(t.Context(), testlimit.Hang, func(context.Context) (bool, error) { return launch(t, c, group, "v2", "two") == nil, nil }); err != nil {
		t.Fatal(err)
	}
	err := c.Apply(t.Context(), objects(t, one), ApplyOptions{Wait: true, Force: true})
	if err == nil || !strings.Contains(err.Error(), "cannot be read as v1") {
		t.Errorf("error %v", err)
	}
	if is := storing(t, c, one); is != "v2[v1 v2]Webhook" {
		t.Errorf("storing: %s", is)
	}
}

// TestRenamedVersion: a definition whose only version has another name is refused, and its preview as well: nothing
// could convert objects of the old name.
func TestRenamedVersion(t *testing.T) {
	c, _ := connect(t)
	before := definition("renamed.example.com", "x")
	remove(t, c, before)
	mustApply(t, c, before, ApplyOptions{})
	after := objects(t, strings.Replace(before, "name: v1", "name: v2", 1))
	known := failure(t, c.Apply(t.Context(), after, ApplyOptions{}))
	if !strings.Contains(known.What, "objects may be stored as v1") || !strings.Contains(known.Hint, "delete the definition instead: slipway kubectl delete") {
		t.Errorf("%v\nhint %s", known, known.Hint)
	}
	if _, err := c.Preview(t.Context(), after, ApplyOptions{}); failure(t, err).What != known.What {
		t.Errorf("the preview says %v", err)
	}
}

// TestRetreatByURL: a conversion whose authority is in the manifests goes on to convert until no object needs it.
func TestRetreatByURL(t *testing.T) {
	c, _ := connect(t)
	const group = "byurl.example.com"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		request, _ := review["request"].(map[string]any)
		converted, _ := request["objects"].([]any)
		for _, object := range converted {
			object.(map[string]any)["apiVersion"] = request["desiredAPIVersion"]
		}
		review["response"] = map[string]any{"uid": request["uid"], "convertedObjects": converted, "result": map[string]any{"status": "Success"}}
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	conversion := fmt.Sprintf("{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: %q, caBundle: %s}}}", server.URL, base64.StdEncoding.EncodeToString(bundle))
	one := versioned(group, "{strategy: None}", "v1+")
	remove(t, c, one)
	mustApply(t, c, versioned(group, conversion, "v1", "v2+"), ApplyOptions{})
	if err := launch(t, c, group, "v2", "one"); err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, one, ApplyOptions{})
	if is := storing(t, c, one); is != "v1[v1]None" {
		t.Errorf("storing: %s", is)
	}
}

// TestExpiredList: a list that takes longer than the server keeps what was there goes on with what is there now.
func TestExpiredList(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		item := func(name string) string {
			return `{"apiVersion":"g.example.com/v1","kind":"Boat","metadata":{"name":"` + name + `"}}`
		}
		list := `{"apiVersion":"g.example.com/v1","kind":"BoatList","metadata":{"continue":"%s"},"items":[%s]}`
		switch r.URL.Query().Get("continue") {
		case "":
			fmt.Fprintf(w, list, "old", item("a"))
		case "old":
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","code":410,"metadata":{"continue":"new"}}`)
		case "new":
			fmt.Fprintf(w, list, "", item("b"))
		}
	}))
	defer server.Close()
	c, err := New(&rest.Config{Host: server.URL}, "default", &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	definition := objects(t, versioned("g.example.com", "{strategy: None}", "v1+"))[0]
	var names []string
	err = eachPage(t.Context(), c.objects.Resource(retreat{definition: definition, interim: definition, to: "v1"}.resource()), func(page []unstructured.Unstructured) error {
		for _, item := range page {
			names = append(names, item.GetName())
		}
		return nil
	})
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q: %v", names, err)
	}
}

// TestStaysStored: where no conversion answers yet, objects stay stored as they are. The second time nothing changes.
func TestStaysStored(t *testing.T) {
	c, events := connect(t)
	const group = "stays.example.com"
	one, both := versioned(group, "{strategy: None}", "v1+"), versioned(group, unanswered, "v1", "v2+")
	remove(t, c, one)
	mustApply(t, c, one, ApplyOptions{})
	if err := launch(t, c, group, "v1", "one"); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
	for _, want := range []string{"updated", "unchanged"} {
		mustApply(t, c, both, ApplyOptions{})
		if is := storing(t, c, both); is != "v1[v1]Webhook" {
			t.Errorf("storing: %s", is)
		}
		events.want(t, want+" crd/boats."+group)
	}
}
