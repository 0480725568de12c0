package ship

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestShipments(t *testing.T) {
	object := func(apiVersion, kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name},
		}}
	}
	given := []*unstructured.Unstructured{
		object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook"),
		object("batch.example.com/v1", "CronJob", "own"),
		object("apps/v1", "Deployment", "manager"),
		object("v1", "Service", "b"),
		object("v1", "Service", "a"),
		object("rbac.authorization.k8s.io/v1", "RoleBinding", "binding"),
		object("rbac.authorization.k8s.io/v1", "Role", "role"),
		object("v1", "ServiceAccount", "account"),
		object("v1", "Namespace", "system"),
		object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "cronjobs.batch.example.com"),
	}
	var got [][]string
	for _, group := range shipments(given) {
		var names []string
		for _, o := range group {
			names = append(names, nameOf(o))
		}
		got = append(got, names)
	}
	want := [][]string{
		{"crd/cronjobs.batch.example.com"}, {"namespace/system"}, {"serviceaccount/account"}, {"role/role"},
		{"rolebinding/binding"}, {"service/b", "service/a"}, {"deployment/manager"}, {"cronjob/own"},
		{"validatingwebhookconfiguration/hook"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shipments differ (-want +got):\n%s", diff)
	}
}
