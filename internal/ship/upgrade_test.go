package ship

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// staged is a role whose rules change, so that an upgrade is staged and the server judges everything before.
func staged(name, resource string) string {
	return fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %s}
rules:
- {apiGroups: [""], resources: [%s], verbs: [get]}
`, name, resource)
}

// TestQuotaThatComes: objects that the quota forbids until it is raised, with them, are deployed. The server takes a
// moment to go by a new quota.
func TestQuotaThatComes(t *testing.T) {
	c, _ := connect(t)
	quota := func(role, secrets string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: limited}\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: limited}\nspec: {hard: {count/secrets: \"" +
			secrets + "\"}}\n---" + staged("limited", role)
	}
	remove(t, c, quota("pods", "0"))
	o := ApplyOptions{Set: &Set{Project: "limited", Namespace: "limited"}, Wait: true, Timeout: testlimit.Hang}
	mustApply(t, c, quota("pods", "0"), o)
	if err := poll(t.Context(), testlimit.Hang, func(context.Context) (bool, error) {
		few := at(t, c, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: limited}")
		_, found, err := unstructured.NestedString(few.Object, "status", "hard", "count/secrets")
		return found, err
	}); err != nil {
		t.Error(err)
	}
	more := objects(t, quota("nodes", "9")+"\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: one, namespace: limited}")
	var err error
	_ = poll(t.Context(), testlimit.Hang, func(ctx context.Context) (bool, error) {
		err = c.Apply(ctx, more, o)
		return err == nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNamespaceThatGoes: a namespace that is being deleted is waited for, whatever else changes.
func TestNamespaceThatGoes(t *testing.T) {
	c, events := connect(t)
	const space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: going}"
	text := func(role string) string {
		return space + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: going}\n---" + staged("going", role)
	}
	remove(t, c, text("pods"))
	o := ApplyOptions{Set: &Set{Project: "going", Namespace: "going"}, Wait: true, Timeout: testlimit.Hang}
	mustApply(t, c, text("pods"), o)
	resource, object, err := c.locate(t.Context(), objects(t, space)[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	finalizers := func(ctx context.Context, list string) {
		if _, err := resource.Patch(ctx, object.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	finalizers(t.Context(), `["example.com/wait"]`)
	if err := resource.Delete(t.Context(), object.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	emptied := func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		left, _, _ := unstructured.NestedSlice(live.Object, "spec", "finalizers")
		return len(left) == 0, nil
	}
	if err := poll(t.Context(), testlimit.Hang, emptied); err != nil {
		t.Fatal(err)
	}
	let := sync.OnceFunc(func() { finalizers(context.Background(), "null") }) // the step may be told again when it is gone
	events.step = func(step string) {
		if strings.Contains(step, "waiting for namespace/going") {
			let()
		}
	}
	mustApply(t, c, text("nodes"), o)
}

// TestRoleOfAnother: a user who may not grant what a role has may deploy one that has less.
func TestRoleOfAnother(t *testing.T) {
	c, _ := connect(t)
	deployer := `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deployer}
rules:
- {apiGroups: [""], resources: [pods, configmaps], verbs: [get, list, create, patch]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get, list, create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: deployer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: deployer}]
`
	remove(t, c, deployer+"\n---"+staged("granted", "pods"))
	mustApply(t, c, deployer, ApplyOptions{})
	o := ApplyOptions{Set: &Set{Project: "granted", Namespace: "default"}, Wait: true, Timeout: testlimit.Hang}
	mustApply(t, c, staged("granted", "nodes"), o)
	config, err := clientcmd.BuildConfigFromFlags("", running.session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate.UserName = "deployer"
	as, err := New(config, "default", &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	mustApply(t, as, staged("granted", "pods"), o)
}

// TestWebhookThatGoes: what a webhook refuses that is not in the manifests any more is deployed.
func TestWebhookThatGoes(t *testing.T) {
	c, _ := connect(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct{ UID types.UID }
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false}}`, review.Request.UID)
	}))
	defer server.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hook := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: refusing}
webhooks:
- name: refusing.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  objectSelector: {matchLabels: {judged: "yes"}}
  clientConfig: {url: %q, caBundle: %s}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
`, server.URL, base64.StdEncoding.EncodeToString(bundle))
	const one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: judged, namespace: default, labels: {judged: \"yes\"}}"
	remove(t, c, one)
	o := ApplyOptions{Set: &Set{Project: "judged", Namespace: "default"}, Wait: true, Timeout: testlimit.Hang}
	mustApply(t, c, hook, o)
	refused := func(ctx context.Context) (bool, error) {
		_, err := c.Preview(ctx, objects(t, one+"\n---"+hook), o)
		return err != nil, nil
	}
	if err := poll(t.Context(), testlimit.Hang, refused); err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, one, o)
}
