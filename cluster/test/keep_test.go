package test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// keep makes what a cluster holds what resets lead back to.
func (c *client) keep(logical string) protocol.KeepDone {
	c.t.Helper()
	var done protocol.KeepDone
	c.insist("keep", protocol.Keep{Logical: logical}, &done)
	return done
}

func (c *client) resetTo(logical string) protocol.ResetDone {
	c.t.Helper()
	var done protocol.ResetDone
	c.insist("reset", protocol.Reset{Logical: logical}, &done)
	return done
}

// insist is call for methods that wait for ten seconds at most until a cluster has come to rest, which a busy machine
// may not let it do. They can be asked again.
func (c *client) insist(method string, params, result any) {
	c.t.Helper()
	for begin := time.Now(); ; {
		refusal := c.ask(method, params, result)
		if refusal == "" {
			return
		}
		restless := strings.Contains(refusal, "objects keep changing") || strings.Contains(refusal, "were not created in time")
		if !restless || time.Since(begin) > testlimit.Hang {
			c.t.Fatalf("%s: %s", method, refusal)
		}
		c.t.Logf("%s: %s", method, refusal)
	}
}

// testKeep keeps content of all kinds, in the main cluster and in a logical one, right after it was made.
func testKeep(t *testing.T, p *program) {
	a := clientsOf(t, p.addLogical("a", true).Kubeconfig)
	for name, c := range map[string]clients{"": p.clients(), "a": a} {
		t.Run("cluster "+name, func(t *testing.T) {
			p.resetTo(name)
			content{namespaces: 1, configMaps: 4, deployments: 2, services: 2, crds: 2, customs: 6}.fill(t, c)
			eventually(t, "Deployments are available", func(ctx context.Context) (bool, error) { return available(ctx, c) })
			nodeSettles(t, c)
			done := p.keep(name)
			t.Logf("%+v", done)
			kept := inventory(t, c)
			for range 3 {
				breakKept(t, c)
				if done := p.resetTo(name); !done.Kept {
					t.Errorf("%+v", done)
				}
				wantSame(t, kept, inventory(t, c))
				sweep(t, c)
				wantSame(t, kept, inventory(t, c))
				create(t, "custom object", func(ctx context.Context) error { return makeCustom(ctx, c, 1, "default", "after") })
			}
			deploymentWorks(t, c, "after")
		})
	}
	if refusal := p.ask("keep", protocol.Keep{Logical: "absent"}, nil); refusal == "" {
		t.Error("a cluster that does not exist is kept")
	}
	p.call("removeLogical", protocol.RemoveLogical{Name: "a"}, nil)
}

// nodeSettles waits until the node is as it stays, also on a busy machine: kept in another state it would change after
// each reset.
func nodeSettles(t *testing.T, c clients) {
	t.Helper()
	eventually(t, "the node is ready and has its lease", func(ctx context.Context) (bool, error) {
		n, err := c.CoreV1().Nodes().Get(ctx, "simulated-1", metav1.GetOptions{})
		if err != nil || nodeReady(n) != corev1.ConditionTrue || len(n.Spec.Taints) > 0 {
			return false, ignoreNotFound(err)
		}
		return leased(ctx, c)
	})
}

// leased says whether the node has written its lease, which it does some time after it is ready.
func leased(ctx context.Context, c clients) (bool, error) {
	_, err := c.CoordinationV1().Leases("kube-node-lease").Get(ctx, "simulated-1", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// available says whether all Deployments have the pods they want.
func available(ctx context.Context, c clients) (bool, error) {
	list, err := c.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	wanting := func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas < *d.Spec.Replicas }
	return !slices.ContainsFunc(list.Items, wanting), nil
}

// breakKept removes CRDs, a namespace and a Deployment, all of which leave much to delete, and adds and removes
// objects.
func breakKept(t *testing.T, c clients) {
	t.Helper()
	for i := range 2 {
		create(t, "lost CRD", func(ctx context.Context) error {
			name := customResource(i).GroupResource().String()
			return c.extensions.ApiextensionsV1().CustomResourceDefinitions().Delete(ctx, name, metav1.DeleteOptions{})
		})
	}
	create(t, "another namespace", func(ctx context.Context) error {
		_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, metav1.CreateOptions{})
		return err
	})
	create(t, "lost ConfigMap", func(ctx context.Context) error {
		return c.CoreV1().ConfigMaps("default").Delete(ctx, "map-0", metav1.DeleteOptions{})
	})
	create(t, "lost namespace", func(ctx context.Context) error {
		return c.CoreV1().Namespaces().Delete(ctx, "space-0", metav1.DeleteOptions{})
	})
	create(t, "lost Deployment", func(ctx context.Context) error {
		return c.AppsV1().Deployments("default").Delete(ctx, "web-0", metav1.DeleteOptions{})
	})
}

// sweep returns when the garbage collector and the namespace controller have done all that they had to do: each has
// been given one more thing, and has done that.
func sweep(t *testing.T, c clients) {
	t.Helper()
	absent := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "never", UID: "never"}
	create(t, "orphan", func(ctx context.Context) error {
		orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "orphan", OwnerReferences: []metav1.OwnerReference{absent}}}
		_, err := c.CoreV1().ConfigMaps("default").Create(ctx, orphan, metav1.CreateOptions{})
		return err
	})
	create(t, "namespace", func(ctx context.Context) error {
		_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "brief"}}, metav1.CreateOptions{})
		return errors.Join(err, c.CoreV1().Namespaces().Delete(ctx, "brief", metav1.DeleteOptions{}))
	})
	eventually(t, "orphan and namespace are gone", func(ctx context.Context) (bool, error) {
		_, orphan := c.CoreV1().ConfigMaps("default").Get(ctx, "orphan", metav1.GetOptions{})
		_, brief := c.CoreV1().Namespaces().Get(ctx, "brief", metav1.GetOptions{})
		return apierrors.IsNotFound(orphan) && apierrors.IsNotFound(brief), nil
	})
}
