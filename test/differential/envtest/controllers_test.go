package envtest_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestControllersOnRequest starts the same environment as the other tests, with SLIPWAY_CONTROLLERS=1 in it.
func TestControllersOnRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	programs := build(t)
	t.Setenv("SLIPWAY_CONTROLLERS", "1")
	environment := start(t, programs.ours)
	c := newClient(t, environment.Config)
	t.Run("node is ready from the start", func(t *testing.T) { nodeReady(t, c) })
	t.Run("dependents are collected", func(t *testing.T) { dependentsCollected(t, c) })
	t.Run("namespace goes", func(t *testing.T) { namespaceGoes(t, c) })
	t.Run("job completes", func(t *testing.T) { jobCompletes(t, c) })
	t.Run("authority is published", func(t *testing.T) { authorityPublished(t, environment.Config) })
}

// eventually waits for a state that controllers bring about.
func eventually(t *testing.T, what string, reached func() (bool, error)) {
	t.Helper()
	for tick, late := time.Tick(20*time.Millisecond), time.After(time.Minute); ; {
		ok, err := reached()
		if err == nil && ok {
			return
		}
		select {
		case <-tick:
		case <-late:
			t.Fatalf("%s: not within a minute (%v)", what, err)
		}
	}
}

func gone(ctx context.Context, c client.Client, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

func nodeReady(t *testing.T, c client.Client) {
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return
			}
		}
	}
	t.Errorf("none of %d nodes is Ready", len(nodes.Items))
}

func dependentsCollected(t *testing.T, c client.Client) {
	owner := newWidget("owner", int64(1))
	if err := c.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dependent",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}}}}
	if err := c.Create(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dependent goes", gone(t.Context(), c, dependent))
}

func namespaceGoes(t *testing.T, c client.Client) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace goes", gone(t.Context(), c, namespace))
}

func jobCompletes(t *testing.T, c client.Client) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job"}}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	if err := c.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Job completes", func() (bool, error) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(job), job)
		return job.Status.Succeeded == 1, err
	})
}

// authorityPublished: what the ConfigMap holds verifies the server that the configuration names.
func authorityPublished(t *testing.T, config *rest.Config) {
	c := newClient(t, config)
	published := &corev1.ConfigMap{}
	eventually(t, "the authority is published", func() (bool, error) {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "kube-root-ca.crt"}, published)
		return err == nil, client.IgnoreNotFound(err)
	})
	trusting := rest.CopyConfig(config)
	trusting.CAData = []byte(published.Data["ca.crt"])
	if err := newClient(t, trusting).List(t.Context(), &corev1.NodeList{}); err != nil {
		t.Errorf("with the published authority: %v", err)
	}
}

// TestStopsWithOpenWatches: a stock API server waits for clients to end their watches, until envtest gives up after 20
// seconds and fails.
func TestStopsWithOpenWatches(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	environment := start(t, build(t).ours)
	watch(t, environment)
	begin := time.Now()
	if err := environment.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %s", time.Since(begin))
}

// watch leaves watches open, and returns when they are.
func watch(t *testing.T, environment *envtest.Environment) {
	t.Helper()
	c, err := client.NewWithWatch(environment.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.NamespaceList{}} {
		w, err := c.Watch(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
}
