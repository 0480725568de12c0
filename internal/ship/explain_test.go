package ship

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// TestExplainRefusals: what the server refuses by no role of the user's is not explained by one, and what helps is
// said.
func TestExplainRefusals(t *testing.T) {
	c, _ := connect(t)
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "a:1"}]}}}
`
	const held = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: leaving, finalizers: [example.com/held]}\n"
	const quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none, namespace: full}\nspec: {hard: {count/configmaps: 0}}\n"
	const namespaces = "apiVersion: v1\nkind: Namespace\nmetadata: {name: leaving}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: full}\n"
	remove(t, c, job+"---\n"+namespaces)
	if err := c.Apply(t.Context(), objects(t, job+"---\n"+namespaces+"---\n"+held+"---\n"+quota), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	ofNamespaces := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err := ofNamespaces.Delete(t.Context(), "leaving", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // so that the namespace can go
		free := []byte(`{"metadata":{"finalizers":null}}`)
		_, _ = c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("leaving").
			Patch(context.Background(), "held", types.MergePatchType, free, metav1.PatchOptions{})
	})
	awaitQuota(t, c, "full")
	for name, test := range map[string]struct{ object, what, next string }{
		"what never changes":  {strings.Replace(job, "a:1", "a:2", 1), "immutable fields would change: spec.template", "slipway kubectl -n default delete job.batch migrate"},
		"a namespace leaving": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: leaving}\n", "its namespace is being deleted", "slipway kubectl describe namespace leaving"},
		"no namespace":        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: nowhere}\n", "its namespace does not exist", "slipway kubectl create namespace nowhere"},
		"a quota":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: full}\n", "not allowed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			known := failure(t, c.Apply(t.Context(), objects(t, test.object), ApplyOptions{}))
			if known.What != test.what || known.Next != test.next || strings.Contains(known.Error(), "EnvFrom") || strings.Contains(known.Hint, "role") {
				t.Errorf("%v\nhint %s\nnext %s\nwant %s, %s", known, known.Hint, known.Next, test.what, test.next)
			}
		})
	}
}

// TestExplainImmutable: what may be in a new object and not in this one is told from what never may, whatever the
// server says of it, and nothing is advised that deletes data.
func TestExplainImmutable(t *testing.T) {
	c, _ := connect(t)
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: fixed, namespace: default}\nspec: {accessModes: [ReadWriteOnce], storageClassName: one, resources: {requests: {storage: 1Mi}}}"
	const sealed = "apiVersion: v1\nkind: Secret\nmetadata: {name: fixed, namespace: default}\nimmutable: true\nstringData: {key: one}"
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: fixed, namespace: default}\nspec: {serviceName: one, selector: {matchLabels: {a: b}}, replicas: 0, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}}"
	const group = "fixed.example.com"
	ruled := strings.Replace(definition(group, "x"), "oars: {type: integer}", `oars: {type: integer, x-kubernetes-validations: [{rule: "self == oldSelf", message: oars stay}]}`, 1)
	all := strings.Join([]string{claim, sealed, set, ruled, boat(group, "{oars: 1}")}, "\n---\n")
	remove(t, c, all)
	if err := c.Apply(t.Context(), objects(t, all), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ object, what, why, next string }{
		"claim":       {strings.Replace(claim, "one", "two", 1), "immutable fields would change: spec", "spec is immutable after creation", "slipway kubectl -n default get persistentvolumeclaim fixed -o yaml"},
		"sealed":      {strings.Replace(sealed, "one", "two", 1), "immutable fields would change: data", "field is immutable when", "slipway kubectl -n default get secret fixed -o yaml"},
		"StatefulSet": {strings.Replace(set, "one", "two", 1), "immutable fields would change: spec.serviceName", "", "slipway kubectl -n default delete statefulset.apps fixed --cascade=orphan"},
		"rule":        {boat(group, "{oars: 2}"), "immutable fields would change: spec.oars", "oars stay", "slipway kubectl -n default get boat." + group + " one -o yaml"},
		"scope":       {strings.Replace(ruled, "Namespaced", "Cluster", 1), "immutable fields would change: spec.scope", "", "slipway kubectl get boats." + group + " --all-namespaces -o yaml"},
		"never right": {strings.Replace(set, "replicas: 0", "replicas: -1", 1), "the cluster refused the object", "must be greater than or equal to 0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			known := failure(t, c.Apply(t.Context(), objects(t, test.object), ApplyOptions{}))
			why := ""
			if known.Err != nil {
				why = known.Err.Error()
			}
			if known.What != test.what || known.Next != test.next || !strings.Contains(why, test.why) || strings.Contains(why, "StorageClassName") {
				t.Errorf("%v\nhint %s\nnext %s", known, known.Hint, known.Next)
			}
		})
	}
}

// TestInvalidAuthority: a definition that the server never serves, since its conversion has the placeholder of older
// projects for an authority, ends the wait at once; and so does the change of a served one.
func TestInvalidAuthority(t *testing.T) {
	c, _ := connect(t)
	const converting = "\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: s, namespace: default}}}}\n  versions:"
	served := definition("authority.example.com", "x")
	remove(t, c, served)
	placeholder := strings.Replace(served, "\n  versions:", converting, 1)
	for range 2 {
		known := failure(t, c.Apply(t.Context(), objects(t, placeholder), ApplyOptions{Timeout: time.Hour}))
		if !strings.Contains(known.What, "caBundle has no certificate") || known.Where != "crd/boats.authority.example.com" || !strings.Contains(known.Hint, "remove caBundle") {
			t.Errorf("%v\nhint %s", known, known.Hint)
		}
		mustApply(t, c, served, ApplyOptions{})
	}
}

// awaitQuota waits until a quota of no ConfigMaps is in force: the server remembers for a while that a namespace has
// none.
func awaitQuota(t *testing.T, c *Cluster, namespace string) {
	t.Helper()
	maps := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	probe := objects(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe}\n")[0]
	err := poll(t.Context(), testlimit.Hang, func(ctx context.Context) (bool, error) {
		_, err := maps.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err), nil
	})
	if err != nil {
		t.Fatal("the quota is not in force:", err)
	}
}

// busy is a resource of which somebody else changes an object until it was asked for a number of times.
type busy struct {
	dynamic.ResourceInterface
	live *unstructured.Unstructured
	left int
}

func (b *busy) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	return b.live, nil
}

func (b *busy) Patch(_ context.Context, name string, _ types.PatchType, _ []byte, _ metav1.PatchOptions, _ ...string) (*unstructured.Unstructured, error) {
	if b.left--; b.left >= 0 {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, name, nil)
	}
	object := applied()
	object.SetResourceVersion("2")
	return object, nil
}

// applied is an object that `kubectl apply` has brought.
func applied() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "resourceVersion": "1",
		"managedFields": []any{map[string]any{"manager": clientSide, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{}}}}}}}
}

// TestUpgradeBusy: an object that changes while it is taken over is looked at again.
func TestUpgradeBusy(t *testing.T) {
	live := applied()
	there := &busy{live: live, left: 3}
	a := application{patience: testlimit.Hang}
	if _, err := a.upgrade(t.Context(), there, live); err != nil || there.left >= 0 {
		t.Errorf("%v, asked %d times too few", err, there.left)
	}
}

func TestRunsImage(t *testing.T) {
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	got := map[string]bool{}
	want := map[string]bool{"r:5000/op:v1": true, "r:5000/op": true, "r:5000/op:v2": false, "proxy" + digest: true, "proxy:v3" + digest: true, "proxy": false, "r": false, "op:v1": false}
	all := objects(t, "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{image: 'r:5000/op:v1'}], initContainers: [{image: 'proxy"+digest+"'}]}}}")
	for image := range want {
		got[image] = RunsImage(all, image)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOtherBuiltinVersion: a kind of Kubernetes in a version that there is not is no kind whose CRD is to be installed.
func TestOtherBuiltinVersion(t *testing.T) {
	for _, test := range []struct{ object, hint string }{
		{"apiVersion: apiextensions.k8s.io/v2\nkind: CustomResourceDefinition\nmetadata: {name: x}", "correct apiVersion in the manifest: Kubernetes has this kind in apiextensions.k8s.io/v1, apiextensions.k8s.io/v1beta1"},
		{"apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: x}", "Kubernetes has no such kind in this group"},
		{"apiVersion: v2\nkind: Pod\nmetadata: {name: x}", "Kubernetes has this kind in v1"},
		{"apiVersion: sea.example.com/v1\nkind: Boat\nmetadata: {name: x}", "first install the CRDs of sea.example.com"},
	} {
		e := failure(t, unknownKind(objects(t, test.object)[0], errors.New("not served")))
		if !strings.Contains(e.Hint, test.hint) {
			t.Errorf("%s: the hint is %q", test.object, e.Hint)
		}
	}
}
