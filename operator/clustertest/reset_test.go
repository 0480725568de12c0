package clustertest

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestReset: what was made is gone, also when a finalizer holds it; what was changed or deleted is
// back; what the options install stays.
func TestReset(t *testing.T) {
	t.Parallel()
	c := usual(t).Isolated(t, Webhooks("testdata/webhooks"))
	cl := c.Client(t)
	installed := []client.Object{
		newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com"),
		newObject("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "widgets-validate"),
	}
	uids := identities(t, cl, installed)
	for range 3 {
		ns := c.Namespace(t)
		held := configMap(ns, "held")
		held.Finalizers = []string{"example.com/nobody-removes-this"}
		create(t, cl, held)
		c.InstallCRDs(t, "testdata/conversion")
		defaults := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if err := cl.Patch(t.Context(), defaults, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"changed": "true"}}}`))); err != nil {
			t.Fatal(err)
		}

		c.Reset(t)

		for _, o := range []client.Object{held, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gizmos.example.com")} {
			if gone, err := isGone(cl, o)(t.Context()); !gone || err != nil {
				t.Errorf("%T %s is there after a reset: %v", o, o.GetName(), err)
			}
		}
		if now := identities(t, cl, installed); !slices.Equal(now, uids) {
			t.Errorf("what the options installed was made anew: %v, before %v", now, uids)
		}
		if err := cl.Get(t.Context(), client.ObjectKeyFromObject(defaults), defaults); err != nil || defaults.Labels["changed"] != "" {
			t.Errorf("the namespace default has labels %v, %v", defaults.Labels, err)
		}
		if err := cl.Create(t.Context(), widget("default", "a")); err == nil || !strings.Contains(err.Error(), c.webhook.Address()) {
			t.Errorf("a widget, for which there is no webhook server, was answered with %v", err)
		}
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace(t)}}
	if err := cl.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	eventually(t, "controllers work on", isGone(cl, ns))
}

// identities are the objects' UIDs.
func identities(t *testing.T, cl client.Client, objects []client.Object) (all []types.UID) {
	t.Helper()
	for _, o := range objects {
		if err := cl.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o.GetUID())
	}
	return all
}

// TestKeep: what was installed and made after the start stays over resets once it is kept, and is back at once when a
// test removed it.
func TestKeep(t *testing.T) {
	t.Parallel()
	c := usual(t).Isolated(t)
	cl := c.Client(t)
	c.InstallCRDs(t, "testdata/conversion")
	kept := newObject("example.com/v1", "Gizmo", "default", "kept")
	create(t, cl, kept)
	c.Keep(t)
	definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gizmos.example.com")
	uids := identities(t, cl, []client.Object{definition, kept})
	for range 3 {
		create(t, cl, newObject("example.com/v1", "Gizmo", "default", "another"))
		if err := cl.Delete(t.Context(), kept.DeepCopy()); err != nil {
			t.Fatal(err)
		}

		c.Reset(t)

		if now := identities(t, cl, []client.Object{definition, kept}); !slices.Equal(now, uids) {
			t.Errorf("after a reset: %v, before %v", now, uids)
		}
		another := newObject("example.com/v1", "Gizmo", "default", "another")
		if gone, err := isGone(cl, another)(t.Context()); !gone || err != nil {
			t.Errorf("what was not kept is there: %v", err)
		}
	}
}
