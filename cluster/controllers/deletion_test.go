package controllers_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/controllers"
)

// gone says whether what was asked for does not exist.
func gone(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// TestNamespaceGoes: with a namespace goes what is in it.
func TestNamespaceGoes(t *testing.T) {
	client := run(t, "namespace-controller")
	ns := namespace(t, client, "going")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "in-it"}}
	if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		return gone(err)
	})
	if _, err := client.CoreV1().ConfigMaps(ns).Get(t.Context(), object.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was in it: %v", err)
	}
}

// TestSparing: a collection is deleted in a namespace that goes, unless it is known to be empty, and never in one that
// stays.
func TestSparing(t *testing.T) {
	clean(t)
	client, err := kubernetes.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := metadata.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, client, "sparing")
	maps := client.CoreV1().ConfigMaps(ns)
	for _, tt := range []struct {
		name           string
		empty, going   bool
		left           int
		refused, asked bool
	}{
		{"goes", false, true, 0, false, true},
		{"known to be empty", true, true, 1, false, false},
		{"stays", false, false, 1, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
			asked := false
			sparing := controllers.Sparing(direct, func(r schema.GroupVersionResource, in string) bool {
				return tt.empty && r.Resource == "configmaps" && in == ns
			}, func(_ context.Context, in string) (bool, error) {
				asked = in == ns
				return tt.going, nil
			})
			err := sparing.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(ns).
				DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
			if apierrors.IsConflict(err) != tt.refused || err != nil && !tt.refused || asked != tt.asked {
				t.Errorf("error %v; asked whether it goes: %v", err, asked)
			}
			list, err := maps.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != tt.left {
				t.Errorf("%d are left, want %d; %v", len(list.Items), tt.left, err)
			}
		})
	}
}

// TestSolidOwners: an object is not deleted on behalf of an owner that is there and stays, by the UID that the object
// names.
func TestSolidOwners(t *testing.T) {
	clean(t)
	client, err := kubernetes.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := metadata.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, client, "owners")
	maps := client.CoreV1().ConfigMaps(ns)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "leaves", Finalizers: []string{"example.com/stay"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), leaves.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	scope, err := client.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	solid := controllers.SolidOwners(direct, mapper).Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(ns)
	for _, tt := range []struct {
		name  string
		owner metav1.OwnerReference
		stays bool
	}{
		{"owned", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}, true},
		{"owned-from-above", metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: ns, UID: scope.UID}, true},
		{"owned-by-a-former-one", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: "former"}, false},
		{"owned-by-one-that-leaves", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: leaves.Name, UID: leaves.UID}, false},
		{"owned-by-nothing", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "nothing", UID: "1"}, false},
		{"owned-by-an-unknown-kind", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Unknown", Name: "a", UID: "1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: tt.name, OwnerReferences: []metav1.OwnerReference{tt.owner}}}
			if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			err := solid.Delete(t.Context(), tt.name, metav1.DeleteOptions{})
			if apierrors.IsConflict(err) != tt.stays || err != nil && !tt.stays {
				t.Errorf("deletion: %v", err)
			}
			_, err = maps.Get(t.Context(), tt.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) == tt.stays {
				t.Errorf("it is there: %v", err)
			}
		})
	}
}

// TestCRDsGoWithTheirLastObject, and what custom resources own is collected with them.
func TestCRDsGoWithTheirLastObject(t *testing.T) {
	client := run(t, "garbage-collector-controller", "crd-removal-controller")
	ns := namespace(t, client, "custom")
	crds, err := extensions.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	const name = "boats.sea.example.com"
	definitions := crds.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(t.Context(), boats(name), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	resource := objects.Resource(schema.GroupVersionResource{Group: "sea.example.com", Version: "v1", Resource: "boats"}).Namespace(ns)
	boat := func(name string, finalizers ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "sea.example.com/v1", "kind": "Boat", "metadata": map[string]any{"name": name, "finalizers": finalizers},
		}}
	}
	var owner *unstructured.Unstructured
	eventually(t, "an object can be made", true, func(ctx context.Context) (bool, error) {
		owner, err = resource.Create(ctx, boat("owner"), metav1.CreateOptions{})
		return err == nil, err
	})
	if _, err := resource.Create(t.Context(), boat("held", "example.com/held"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "sea.example.com/v1", Kind: "Boat", Name: "owner", UID: owner.GetUID()},
	}}}
	if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := definitions.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what the custom resource owned is gone", true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ConfigMaps(ns).Get(ctx, owned.Name, metav1.GetOptions{})
		return gone(err)
	})
	if _, err := definitions.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("the CRD, of which an object is held: %v", err)
	}
	if _, err := resource.Patch(t.Context(), "held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the CRD is gone", true, func(ctx context.Context) (bool, error) {
		_, err := definitions.Get(ctx, name, metav1.GetOptions{})
		return gone(err)
	})
}

func boats(name string) *extensionsv1.CustomResourceDefinition {
	return &extensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: extensionsv1.CustomResourceDefinitionSpec{
			Group: "sea.example.com", Scope: extensionsv1.NamespaceScoped,
			Names: extensionsv1.CustomResourceDefinitionNames{Plural: "boats", Singular: "boat", Kind: "Boat", ListKind: "BoatList"},
			Versions: []extensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &extensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &extensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)},
			}}},
		},
	}
}

// TestPodsThatNoKubeletRemoves: those of a node that never was, and those that are deleted on a node that is out of
// service; others stay.
func TestPodsThatNoKubeletRemoves(t *testing.T) {
	client := run(t, "pod-garbage-collector-controller")
	ns := namespace(t, client, "left-pods")
	pods := client.CoreV1().Pods(ns)
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "out"}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), out, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]string{"orphan": "never-was", "on-node": "out", "waits": "", "deleted": "out"} {
		p := pod(name)
		p.Spec.NodeName = node
		if name == "orphan" {
			p.Finalizers = []string{"example.com/look"}
		}
		if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the orphan has failed and is deleted", "Failed DeletionByPodGC", func(ctx context.Context) (string, error) {
		p, err := pods.Get(ctx, "orphan", metav1.GetOptions{})
		if err != nil || p.DeletionTimestamp == nil {
			return "", err
		}
		return string(p.Status.Phase) + " " + reasons(p.Status.Conditions), nil
	})
	if err := pods.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := pods.Get(t.Context(), "deleted", metav1.GetOptions{})
	if err != nil || p.DeletionTimestamp == nil {
		t.Fatalf("a pod that is deleted on a node waits for its kubelet: %v", err)
	}
	taint := []byte(`{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`)
	if _, err := client.CoreV1().Nodes().Patch(t.Context(), "out", "application/merge-patch+json", taint, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod that is deleted on a node out of service is gone", true, func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, "deleted", metav1.GetOptions{})
		return gone(err)
	})
	for _, name := range []string{"on-node", "waits"} {
		if p, err := pods.Get(t.Context(), name, metav1.GetOptions{}); err != nil || p.DeletionTimestamp != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func reasons(conditions []corev1.PodCondition) string {
	text := ""
	for _, c := range conditions {
		text += c.Reason
	}
	return text
}
