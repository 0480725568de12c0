package clustertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/audit"
)

// roles is what controller-gen writes for an operator that keeps ConfigMaps, with a Role beside it.
const roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, get, list, update, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: manager-role
  namespace: system
rules:
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
- apiGroups: [apps]
  resources: [deployments/scale]
  verbs: [patch]
`

var auditedPackage = ForPackage(Audited())

func audited(t *testing.T) *Cluster {
	t.Helper()
	needProgram(t)
	return auditedPackage.Cluster(t)
}

func rolesFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(path, []byte(roles), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAccountHasItsRolesAndNoOthers(t *testing.T) {
	c := audited(t)
	a := c.Account(t, rolesFile(t))
	cl := a.Client(t)
	create(t, cl, configMap(c.Namespace(t), "anywhere"))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: "none"}}
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
		t.Errorf("a Secret in its own namespace: %v", err)
	}
	secret.Namespace = "default"
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsForbidden(err) {
		t.Errorf("a Secret elsewhere: %v", err)
	}
	if err := cl.Delete(t.Context(), configMap(a.Namespace, "any")); !apierrors.IsForbidden(err) {
		t.Errorf("a deletion: %v", err)
	}
	if err := c.Account(t).Client(t).Create(t.Context(), configMap(a.Namespace, "other")); !apierrors.IsForbidden(err) {
		t.Errorf("an account without roles: %v", err)
	}
}

func TestRequestsOfAnAccount(t *testing.T) {
	c := audited(t)
	a := c.Account(t, rolesFile(t))
	cl := a.Client(t)
	create(t, c.Client(t), configMap(a.Namespace, "of-the-administrator"))
	create(t, cl, configMap(a.Namespace, "own"))
	if err := cl.Create(t.Context(), configMap(a.Namespace, "own")); !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if err := cl.Delete(t.Context(), configMap(a.Namespace, "own")); !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	if err := cl.Create(t.Context(), configMap(a.Namespace, "dry"), client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	typed, err := kubernetes.NewForConfig(a.Config())
	if err != nil {
		t.Fatal(err)
	}
	watch, err := typed.CoreV1().ConfigMaps(a.Namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch.Stop()
	var got []string
	for _, r := range a.Requests(t) {
		got = append(got, strings.ReplaceAll(r.String(), a.Namespace, "NS"))
	}
	want := []string{"create configmaps NS/own: 201", "create configmaps NS/own: 409", "delete configmaps NS/own: 403", "create configmaps NS/dry: 201",
		"watch configmaps NS: 200"}
	if !slices.Equal(got, want) {
		t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if unused := a.Unused(t); !slices.Equal(unused, []string{"get configmaps", "get secrets", "list configmaps", "patch deployments/scale.apps", "update configmaps"}) {
		t.Errorf("unused: %q", unused)
	}
}

// keeper is a reconciler of the smallest kind.
type keeper struct {
	client.Client
	always bool // it writes at every pass
}

func (k keeper) pass(ctx context.Context, namespace string) error {
	o := configMap(namespace, "kept")
	_, err := controllerutil.CreateOrUpdate(ctx, k, o, func() error {
		o.Data = map[string]string{"k": "v"}
		if k.always {
			o.Data["last"] = o.ResourceVersion
		}
		return nil
	})
	return err
}

func TestInformersNeedToList(t *testing.T) {
	list := rule{"list", schema.GroupResource{Resource: "pods"}}
	for uri, want := range map[string]bool{"/api/v1/pods?watch=true": false, "/api/v1/pods?watch=true&sendInitialEvents=true": true} {
		if got := list.permits(Request{audit.Request{Verb: "watch", Resource: "pods", URI: uri}}); got != want {
			t.Errorf("%s needs the verb list: %v", uri, got)
		}
	}
}

func TestAtRest(t *testing.T) {
	a := audited(t).Account(t, rolesFile(t))
	k := keeper{Client: a.Client(t)}
	pass := func(ctx context.Context) error { return k.pass(ctx, a.Namespace) }
	if writes := a.Writes(t, func() { _ = pass(t.Context()) }); len(writes) != 1 || writes[0].Verb != "create" {
		t.Fatalf("the first pass wrote %v", writes)
	}
	a.AtRest(t, pass)
	k.always = true
	rec := &recorder{TB: t}
	a.AtRest(rec, pass)
	if want := "a pass over unchanged objects wrote: update configmaps " + a.Namespace + "/kept: 200"; !strings.Contains(rec.said, want) {
		t.Errorf("a reconciler that always writes is called %q, want %q", rec.said, want)
	}
}

// TestRestarted: a new operator that writes is reported, unless the write is allowed.
func TestRestarted(t *testing.T) {
	a := audited(t).Account(t, rolesFile(t))
	cl := a.Client(t)
	a.Restarted(t, func() {})
	again := func() { create(t, cl, configMap(a.Namespace, "very-last")) }
	a.Restarted(t, again, func(w Request) bool { return strings.HasSuffix(w.Name, "-last") })
	rec := &recorder{TB: t}
	a.Restarted(rec, func() { create(t, cl, configMap(a.Namespace, "again")) })
	if want := "a new operator wrote 1 times, first: create configmaps " + a.Namespace + "/again: 201"; !strings.Contains(rec.said, want) {
		t.Errorf("a restart that writes is called %q, want %q", rec.said, want)
	}
}

// TestFewWrites: too many writes and a storm of conflicts are reported, each beyond its bound.
func TestFewWrites(t *testing.T) {
	a := audited(t).Account(t, rolesFile(t))
	cl := a.Client(t)
	for _, name := range []string{"one", "two"} {
		create(t, cl, configMap(a.Namespace, name))
	}
	a.FewWrites(t, 2, 1)
	a.FewWrites(t, 1, 2)
	rec := &recorder{TB: t}
	a.FewWrites(rec, 1, 1)
	if want := "1 objects: 2 writes, of which 0 met a conflict; want at most 1 writes"; !strings.Contains(rec.said, want) {
		t.Errorf("too many writes are called %q, want %q", rec.said, want)
	}
	if err := cl.Create(t.Context(), configMap(a.Namespace, "one")); !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	a.FewWrites(t, 10, 1)
	rec = &recorder{TB: t}
	a.FewWrites(rec, 9, 1)
	if want := "9 objects: 3 writes, of which 1 met a conflict; want at most 9 writes and 0 conflicts"; !strings.Contains(rec.said, want) {
		t.Errorf("a storm is called %q, want %q", rec.said, want)
	}
}

// TestLeastPermissions: what is not needed, what was asked for in vain, and what is not spare after all are reported.
func TestLeastPermissions(t *testing.T) {
	a := audited(t).Account(t, rolesFile(t))
	cl := a.Client(t)
	create(t, cl, configMap(a.Namespace, "one"))
	rest := []string{"get configmaps", "get secrets", "list configmaps", "patch deployments/scale.apps", "update configmaps", "watch configmaps"}
	a.LeastPermissions(t, rest...)
	rec := &recorder{TB: t}
	a.LeastPermissions(rec, append([]string{"create configmaps"}, rest[1:]...)...)
	if !strings.Contains(rec.said, "unused permission: get configmaps") || !strings.Contains(rec.said, "the permission is not unused: create configmaps") {
		t.Errorf("a wrong list is called %q", rec.said)
	}
	if err := cl.Delete(t.Context(), configMap(a.Namespace, "one")); !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	rec = &recorder{TB: t}
	a.LeastPermissions(rec, rest...)
	if want := "missing permission: delete configmaps " + a.Namespace + "/one"; !strings.HasSuffix(rec.said, want) {
		t.Errorf("a refusal is called %q, want %q", rec.said, want)
	}
}

// TestManagerOfAnotherAccount: informers that work under another account are named as the reason, since what the
// operator lists and watches in production cannot be seen then.
func TestManagerOfAnotherAccount(t *testing.T) {
	c := audited(t).Isolated(t, Controllers(false))
	a, other := c.Account(t, rolesFile(t)), c.Account(t, rolesFile(t))
	spare := []string{"create configmaps", "get configmaps", "get secrets", "patch deployments/scale.apps", "update configmaps"}
	informers := ": if the manager runs under that account, give it the Config of this one; if not, these permissions are unused: list configmaps, watch configmaps"
	rec := &recorder{TB: t}
	a.LeastPermissions(rec, spare...)
	if want := "unused permission: watch configmaps"; !strings.HasSuffix(rec.said, want) {
		t.Errorf("without any informer it is called %q, want %q", rec.said, want)
	}
	inform(t, other.Config(), a.Namespace)
	rec = &recorder{TB: t}
	a.LeastPermissions(rec, spare...)
	if want := a.user() + " has listed and watched nothing, but " + other.user() + " has" + informers; !strings.HasSuffix(rec.said, want) {
		t.Errorf("another account's informer is called %q, want %q", rec.said, want)
	}
	rec = &recorder{TB: t}
	other.LeastPermissions(rec, append(spare, "list configmaps")...)
	if want := "the permission is not unused: list configmaps"; !strings.HasSuffix(rec.said, want) {
		t.Errorf("an account with informers of its own is called %q, want %q", rec.said, want)
	}
	inform(t, a.Config(), a.Namespace)
	a.LeastPermissions(t, spare...)
}

// TestManagerOfTheAdministrator: the same for a manager with the cluster's Config.
func TestManagerOfTheAdministrator(t *testing.T) {
	c := audited(t).Isolated(t, Controllers(false))
	a := c.Account(t, rolesFile(t))
	inform(t, c.Config(), a.Namespace)
	rec := &recorder{TB: t}
	a.LeastPermissions(rec)
	if want := a.user() + " has listed and watched nothing, but kubernetes-admin has: "; !strings.Contains(rec.said, want) {
		t.Errorf("the administrator's informer is called %q, want %q", rec.said, want)
	}
}

// inform lists and watches as the informer of a manager does.
func inform(t *testing.T, config *rest.Config, namespace string) {
	t.Helper()
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	all := true
	watch, err := typed.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &all, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	watch.Stop()
}

func TestIsolatedClusterKeepsALogOfItsOwn(t *testing.T) {
	c := audited(t)
	first, second := c.Isolated(t, Controllers(false)), c.Isolated(t, Controllers(false))
	a := first.Account(t, rolesFile(t))
	create(t, a.Client(t), configMap(a.Namespace, "one"))
	if n := len(a.Requests(t)); n != 1 {
		t.Errorf("%d requests in the account's cluster", n)
	}
	elsewhere := *a
	elsewhere.cluster = second
	if n := len(elsewhere.Requests(t)); n != 0 {
		t.Errorf("%d requests in another cluster", n)
	}
}

func TestWithoutLog(t *testing.T) {
	c := usual(t)
	if _, err := c.audit.Requests("any"); err == nil || !strings.Contains(err.Error(), "keeps no log") {
		t.Errorf("a cluster that is not audited: %v", err)
	}
}
