package controllers_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestTypeChecksOfPolicies: the status of a policy says which expression does not fit the type that it is about.
func TestTypeChecksOfPolicies(t *testing.T) {
	client := run(t, "validatingadmissionpolicy-status-controller")
	policies := client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	for name, expression := range map[string]string{"fine": "object.spec.replicas < 5", "wrong": "object.spec.replicas == 'many'"} {
		t.Cleanup(func() { _ = policies.Delete(context.Background(), name, metav1.DeleteOptions{}) })
		policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: expression}},
		}}
		if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"fine": "", "wrong": "spec.validations[0].expression"} {
		eventually(t, "the type check of the policy "+name, want, func(ctx context.Context) (string, error) {
			policy, err := policies.Get(ctx, name, metav1.GetOptions{})
			if err != nil || policy.Status.TypeChecking == nil {
				return "none yet", err
			}
			var fields []string
			for _, w := range policy.Status.TypeChecking.ExpressionWarnings {
				fields = append(fields, w.FieldRef)
			}
			return strings.Join(fields, " "), nil
		})
	}
}

// TestStoredVersionsMigrate: objects are stored in the new storage version of their CRD, whose status then names no
// other.
func TestStoredVersionsMigrate(t *testing.T) {
	client := run(t, "garbage-collector-controller", "storage-version-migrator-controller")
	extensions, err := clientset.NewForConfig(admin(t))
	if err != nil {
		t.Fatal(err)
	}
	crds := extensions.ApiextensionsV1().CustomResourceDefinitions()
	const name = "ships.migration.example.com"
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: storage, Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
		}}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "migration.example.com", Scope: apiextensionsv1.ClusterScoped,
		Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "ships", Singular: "ship", Kind: "Ship", ListKind: "ShipList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v2", false)},
	}}
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = crds.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	ship := []byte(`{"apiVersion":"migration.example.com/v1","kind":"Ship","metadata":{"name":"a"}}`)
	eventually(t, "an object in the old version", true, func(ctx context.Context) (bool, error) {
		err := client.Discovery().RESTClient().Post().AbsPath("/apis/migration.example.com/v1/ships").Body(ship).Do(ctx).Error()
		return err == nil || apierrors.IsAlreadyExists(err), nil // it is served soon
	})
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": []any{version("v1", false), version("v2", true)}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crds.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	migrations := client.StoragemigrationV1().StorageVersionMigrations()
	migration := &migrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "ships"}, Spec: migrationv1.StorageVersionMigrationSpec{
		Resource: metav1.GroupResource{Group: "migration.example.com", Resource: "ships"},
	}}
	if _, err := migrations.Create(t.Context(), migration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = migrations.Delete(context.Background(), "ships", metav1.DeleteOptions{}) })
	eventually(t, "the migration succeeds", true, func(ctx context.Context) (bool, error) {
		m, err := migrations.Get(ctx, "ships", metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(m.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == string(migrationv1.MigrationSucceeded) && c.Status == metav1.ConditionTrue
		}), err
	})
	eventually(t, "the stored versions", "v2", func(ctx context.Context) (string, error) {
		crd, err := crds.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return strings.Join(crd.Status.StoredVersions, " "), nil
	})
}
