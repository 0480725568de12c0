package kustomization

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// completed builds the folder config/default, or another one, of a project with generated roles in
// config/rbac/role.yaml.
func completed(t *testing.T, archive, folder string) (objects []*unstructured.Unstructured, told []string) {
	t.Helper()
	root := unpack(t, archive)
	k := Kustomization{Folder: filepath.Join(root, folder), Files: Files{Roles: []string{filepath.Join(root, "config/rbac/role.yaml")}}, Tell: func(text string) { told = append(told, text) }}
	objects, err := k.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return objects, told
}

// access lists roles and bindings in short.
func access(objects []*unstructured.Unstructured) (lines []string) {
	for _, o := range objects {
		line := fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
		if ref, found, _ := unstructured.NestedStringMap(o.Object, "roleRef"); found {
			subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
			line += fmt.Sprintf(" %s/%s to %v", ref["kind"], ref["name"], subjects[0].(map[string]any)["name"])
		}
		if strings.Contains(o.GetKind(), "Role") {
			lines = append(lines, line)
		}
	}
	return lines
}

const operator = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
labels: [{pairs: {app: op}}]
resources: [../rbac, manager.yaml]
-- config/default/manager.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec: {template: {spec: {serviceAccountName: manager, containers: [{name: c}]}}}
-- config/rbac/kustomization.yaml --
resources: [account.yaml, role.yaml, binding.yaml]
-- config/rbac/account.yaml --
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: system}
-- config/rbac/binding.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
-- config/overlay/kustomization.yaml --
namespace: staging
resources: [../default]
-- config/rbac/role.yaml --
`

// role is one as the generator writes it.
func role(kind, namespace, name string) string {
	if namespace != "" {
		namespace = "\n  namespace: " + namespace
	}
	return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata:\n  name: " + name + namespace + "\nrules:\n- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n"
}

// ownBinding is a binding by the project of a role in a namespace.
func ownBinding(namespace string) string {
	return "-- config/rbac/binding.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: mine, namespace: " + namespace + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager-role}\nsubjects: [{kind: ServiceAccount, name: manager, namespace: system}]\n"
}

// TestRoles: a generated role stays in the namespace that its marker names, and is bound to whom the others are. Those
// of the operator's own namespace follow it, and what the project binds stays as kustomize has it.
func TestRoles(t *testing.T) {
	all := role("ClusterRole", "", "manager-role")
	const main = "ClusterRole /op-manager-role"
	const bound = "ClusterRoleBinding /op-manager-rolebinding ClusterRole/op-manager-role to op-manager"
	binding := "-- config/rbac/binding.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: mine, namespace: infra}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}\nsubjects: [{kind: ServiceAccount, name: manager, namespace: system}]\n"
	for name, test := range map[string]struct {
		archive, folder string
		want            []string
		told            string
	}{
		"none": {operator + all, "config/default", []string{main, bound}, ""},
		"elsewhere": {operator + all + role("Role", "infra", "reader"), "config/default",
			[]string{main, "Role infra/op-reader", bound, "RoleBinding infra/op-reader Role/op-reader to op-manager"}, "Role op-reader is in the namespace infra"},
		"two of a name": {operator + role("Role", "a", "manager-role") + role("Role", "b", "manager-role"), "config/default",
			[]string{"Role a/op-manager-role", "Role b/op-manager-role", "ClusterRoleBinding /op-manager-rolebinding ClusterRole/manager-role to op-manager",
				"RoleBinding a/op-manager-role Role/op-manager-role to op-manager", "RoleBinding b/op-manager-role Role/op-manager-role to op-manager"}, "namespace a"},
		"two of a name that the project binds": {strings.Replace(operator, "namespace: op-system\n", "", 1) + role("Role", "a", "manager-role") + role("Role", "b", "manager-role") + ownBinding("a") + "---\n" + strings.SplitN(ownBinding("b"), "\n", 2)[1], "config/default",
			[]string{"Role a/op-manager-role", "Role b/op-manager-role", "RoleBinding a/op-mine Role/op-manager-role to op-manager", "RoleBinding b/op-mine Role/op-manager-role to op-manager"}, ""},
		"the operator's": {operator + all + role("Role", "op-system", "own") + role("Role", "system", "other"), "config/overlay",
			[]string{main, "Role staging/op-own", "Role staging/op-other", bound, "RoleBinding staging/op-own Role/op-own to op-manager", "RoleBinding staging/op-other Role/op-other to op-manager"}, "namespace staging"},
		"cluster-wide": {operator + all + role("ClusterRole", "", "more"), "config/default", []string{main, "ClusterRole /op-more", bound}, "no binding names ClusterRole op-more"},
		"bound": {strings.Replace(operator, "binding.yaml]", "binding.yaml]", 1) + role("Role", "infra", "reader") + binding, "config/default",
			[]string{"Role op-system/op-reader", "RoleBinding op-system/op-mine Role/op-reader to op-manager"}, "moves the Role and RoleBinding op-mine to op-system"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, told := completed(t, test.archive, test.folder)
			if diff := cmp.Diff(test.want, access(objects)); diff != "" {
				t.Error(diff)
			}
			if text := strings.Join(told, "\n"); test.told == "" && text != "" || !strings.Contains(text, test.told) {
				t.Errorf("told %q", told)
			}
			for _, o := range objects {
				if text, _ := o.MarshalJSON(); strings.Contains(string(text), "slipway.dev/") {
					t.Errorf("a note is left: %s", text)
				}
			}
		})
	}
}

const certified = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
resources: [all.yaml]
-- config/default/all.yaml --
apiVersion: v1
kind: Service
metadata: {name: webhook-service, namespace: system}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: system}
spec: {dnsNames: [op-webhook-service.op-system.svc, op-webhook-service.op-system.svc.cluster.local, other.op-system.svc, op-webhook-service.elsewhere.svc]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks, annotations: {cert-manager.io/inject-ca-from: op-system/op-serving-cert}}
-- config/overlay/kustomization.yaml --
namespace: staging
resources: [../default]
-- config/prefixed/kustomization.yaml --
namespace: staging
namePrefix: big-
resources: [../default]
`

// TestOverlayNames: what a base put together of the names of Services and Certificates follows an overlay.
func TestOverlayNames(t *testing.T) {
	for folder, want := range map[string][2]string{
		"config/default":  {"op-webhook-service.op-system.svc", "op-system/op-serving-cert"},
		"config/overlay":  {"op-webhook-service.staging.svc", "staging/op-serving-cert"},
		"config/prefixed": {"big-op-webhook-service.staging.svc", "staging/big-op-serving-cert"},
	} {
		objects, told := completed(t, certified, folder)
		names, _, _ := unstructured.NestedStringSlice(objects[1].Object, "spec", "dnsNames")
		if diff := cmp.Diff([]string{want[0], want[0] + ".cluster.local", "other.op-system.svc", "op-webhook-service.elsewhere.svc"}, names); diff != "" {
			t.Errorf("%s: %s", folder, diff)
		}
		if got := objects[2].GetAnnotations()[authorityAnnotation]; got != want[1] {
			t.Errorf("%s: %s", folder, got)
		}
		if is := slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, "changed to "+want[1]) }); is != (folder != "config/default") {
			t.Errorf("%s: told %q", folder, told)
		}
	}
}
