package ship

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

const deployedObjects = `apiVersion: apps/v1
kind: Deployment
metadata: {name: read, namespace: read, labels: {app: read}}
spec:
  selector: {matchLabels: {app: read}}
  template:
    metadata: {labels: {app: read}}
    spec:
      containers:
      - {name: manager, image: "op:v1", args: [--a, --b], ports: [{name: hook, containerPort: 9443}]}
      volumes: [{name: tmp, emptyDir: {}}]
---
apiVersion: v1
kind: Secret
metadata: {name: read, namespace: read}
stringData: {password: x}
---
apiVersion: v1
kind: Secret
metadata: {name: made, namespace: read}
type: kubernetes.io/tls
data: {tls.crt: "", tls.key: ""}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: read, namespace: read}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: read}, targetCPUUtilizationPercentage: 80}`

// TestDeployed: a deployment is read as it was applied, in the versions in which it was, with what users of kubectl
// changed since, and without what controllers, defaults and others set. It can be applied again as it is read.
func TestDeployed(t *testing.T) {
	c, events := connect(t)
	const space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: read}"
	remove(t, c, space)
	kubectlApply(t, c, space)
	set := &Set{Project: "read", Namespace: "read"}
	mustApply(t, c, deployedObjects, ApplyOptions{Set: set})
	copyOf(t, c, "apiVersion: v1\nkind: Secret\nmetadata: {name: read, namespace: read}", "copy", "kubectl-create")
	for manager, patch := range map[string]string{
		"kubectl-set":  `{"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"op:v2"}]}}}}`,
		"kubectl-edit": `{"metadata":{"annotations":{"team":"x"}}}`,
		"a-controller": `{"metadata":{"annotations":{"injected":"x"}},"spec":{"replicas":2}}`,
	} {
		patchAs(t, c, manager, "apps/v1", "Deployment", "read", patch)
	}
	patchAs(t, c, "the-operator", "v1", "Secret", "made", `{"data":{"tls.crt":"eA==","tls.key":"eA=="}}`)
	patchAs(t, c, "kubectl-edit", "v1", "Secret", "read", `{"stringData":{"token":"of a user"}}`)
	placed, others, err := c.Placed(t.Context(), Set{Project: "read"})
	if err != nil || len(placed) != 1 || placed[0].Namespace != "read" || slices.Contains(others, "read/slipway-read") {
		t.Fatalf("placed %v, others %v, %v", placed, others, err)
	}
	events.lines = nil
	read, err := c.Deployed(t.Context(), placed[0])
	if err != nil {
		t.Fatal(err)
	}
	events.want(t)
	want := objects(t, deployedObjects+"\n---\n"+space)
	container := want[0].Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	container["image"] = "op:v2"
	want[0].SetAnnotations(map[string]string{"team": "x"})
	want[1].Object["data"] = map[string]any{"password": "eA=="}
	delete(want[1].Object, "stringData")
	delete(want[2].Object, "data")
	byName := func(a, b *unstructured.Unstructured) int { return strings.Compare(nameOf(a), nameOf(b)) }
	slices.SortFunc(want, byName)
	slices.SortFunc(read, byName)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// patchAs changes an object in namespace read as another field manager.
func patchAs(t *testing.T, c *Cluster, manager, version, kind, name, patch string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetNamespace("read")
	resource, _, err := c.locate(t.Context(), object, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resource.Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}

// TestPlaced: a project may be deployed into several namespaces. Inventories of other projects are named.
func TestPlaced(t *testing.T) {
	c, _ := connect(t)
	const spaces = "apiVersion: v1\nkind: Namespace\nmetadata: {name: placed-a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: placed-b}"
	remove(t, c, spaces)
	mustApply(t, c, spaces, ApplyOptions{})
	for _, set := range []*Set{{Project: "placed", Namespace: "placed-a"}, {Project: "placed", Namespace: "placed-b"}, {Project: "placed", Part: "over", Namespace: "placed-b"}} {
		mustApply(t, c, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x"+set.Part+", namespace: "+set.Namespace+"}", ApplyOptions{Set: set})
	}
	for namespace, want := range map[string]int{"": 2, "placed-a": 1, "placed-c": 0} {
		placed, others, err := c.Placed(t.Context(), Set{Project: "placed", Namespace: namespace})
		if err != nil || len(placed) != want || slices.Contains(others, "placed-b/slipway-placed-over") != (namespace == "") {
			t.Errorf("in %q: %d, others %v, %v", namespace, len(placed), others, err)
		}
	}
}

// TestDeployedForbidden: the error names what the user may not read.
func TestDeployedForbidden(t *testing.T) {
	c, _ := connect(t)
	set := &Set{Project: "unread", Namespace: "default"}
	mustApply(t, c, configMap("unread")+"\n---\n"+secret, ApplyOptions{Set: set})
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), nil, DeleteOptions{Set: set}); err != nil {
			t.Error(err)
		}
	})
	const rights = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: unread, namespace: default}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: unread, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: unread}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: unread}]`
	remove(t, c, rights)
	mustApply(t, c, rights, ApplyOptions{})
	config := rest.CopyConfig(c.config)
	config.Impersonate.UserName = "unread"
	limited, err := New(config, "", report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := limited.Placed(t.Context(), Set{Project: "unread"}); !apierrors.IsForbidden(err) {
		t.Errorf("all namespaces: %v", err)
	}
	if placed, _, err := limited.Placed(t.Context(), *set); err != nil || len(placed) != 1 {
		t.Errorf("one namespace: %v, %v", placed, err)
	}
	_, err = limited.Deployed(t.Context(), set)
	if e, ok := errors.AsType[*report.Error](err); !ok || !apierrors.IsForbidden(err) || e.What != "not allowed" || e.Hint == "" {
		t.Errorf("got %v", err)
	}
}
