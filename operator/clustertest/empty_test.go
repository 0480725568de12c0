package clustertest

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

func TestWaitForEmpty(t *testing.T) {
	t.Parallel()
	c := usual(t)
	ns := c.Namespace(t)
	web := deployment(ns)
	create(t, c.Client(t), web)
	eventually(t, "the Deployment has pods", func(ctx context.Context) (bool, error) {
		err := c.Client(t).Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status.ReadyReplicas > 0, err
	})
	if err := c.Client(t).Delete(t.Context(), web, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	c.WaitForEmpty(t, ns)
}

func deployment(namespace string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}}}}
}

// TestWhatStays: objects that the cluster keeps are reported with the reason, long before the time is over.
func TestWhatStays(t *testing.T) {
	t.Parallel()
	envtest := []Option{Controllers(false)}
	for title, test := range map[string]struct {
		options []Option
		objects func(namespace string) []client.Object
		want    string
	}{
		"no owner": {nil, func(ns string) []client.Object { return []client.Object{configMap(ns, "one")} },
			"configmaps/one: it has no owner, and its deletion was not requested"},
		"an owner that stays": {nil, func(ns string) []client.Object { return []client.Object{deployment(ns)} },
			"stays: its owner Deployment web stays: it has no owner, and its deletion was not requested"},
		"an owner in the whole cluster": {nil, func(ns string) []client.Object {
			return []client.Object{ownedBy(configMap(ns, "one"), "v1", "Namespace", ns)}
		}, "configmaps/one: its owner Namespace %s is there, and its deletion was not requested"},
		"an unknown kind": {nil, func(ns string) []client.Object {
			return []client.Object{ownedBy(configMap(ns, "one"), "example.org/v1", "Other", "o")}
		}, "configmaps/one: its owner Other o has a kind that the cluster does not know, so the garbage collector leaves it: example.org/v1"},
		"no garbage collector": {envtest, func(ns string) []client.Object {
			return []client.Object{ownedBy(configMap(ns, "one"), "v1", "Secret", "s")}
		}, "configmaps/one: its owner Secret s is gone, and this cluster has no garbage collector: see the option Controllers"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c := usual(t)
			if test.options != nil {
				c = c.Isolated(t, test.options...)
			}
			ns := c.Namespace(t)
			for _, o := range test.objects(ns) {
				if refs := o.GetOwnerReferences(); len(refs) > 0 && refs[0].Kind == "Namespace" {
					var owner corev1.Namespace
					if err := c.Client(t).Get(t.Context(), client.ObjectKey{Name: ns}, &owner); err != nil {
						t.Fatal(err)
					}
					refs[0].UID = owner.UID
					o.SetOwnerReferences(refs)
				}
				create(t, c.Client(t), o)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := c.waitForEmpty(ctx, ns) // which does not wait for the end of the context
			if !errors.Is(err, errKept) || !strings.Contains(fault.Text(err), strings.ReplaceAll(test.want, "%s", ns)) {
				t.Errorf("want %q, got %s", test.want, fault.Text(err))
			}
		})
	}
}

func ownedBy(o client.Object, apiVersion, kind, name string) client.Object {
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "5f0e1c2d-0000-4000-8000-000000000000"}})
	return o
}

// TestWhatIsLate: an object whose finalizer an operator may still remove is waited for until the end, which says so.
func TestWhatIsLate(t *testing.T) {
	t.Parallel()
	c := usual(t)
	ns := c.Namespace(t)
	held := configMap(ns, "held")
	held.Finalizers = []string{"example.com/hold"}
	create(t, c.Client(t), held)
	create(t, c.Client(t), configMap(ns, "kept"))
	if err := c.Client(t).Delete(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*quietTime)
	defer cancel()
	err := c.waitForEmpty(ctx, ns)
	want := "configmaps/held: it is being deleted, and waits for its finalizers: example.com/hold\n" +
		"         configmaps/kept: it has no owner, and its deletion was not requested"
	if !errors.Is(err, errLate) || !strings.Contains(fault.Text(err), want) {
		t.Errorf("want %q, got %s", want, fault.Text(err))
	}
	held.Finalizers = nil
	if err := c.Client(t).Patch(t.Context(), held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
}
