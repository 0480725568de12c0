package clustertest

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestReset: what was made is gone, also when a finalizer holds it; what was changed or deleted is
// back; what the options install is installed.
func TestReset(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t).Isolated(t, Webhooks("testdata/webhooks"))
	cl := c.Client(t)
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
