package kustomization

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// A completion adds to a build what kustomize does not know of an operator.
type completion struct {
	objects []*unstructured.Unstructured
	from    *noted
	tell    func(text string)
	told    []string
}

// A placed role is a generated one in a build.
type placed struct {
	*unstructured.Unstructured
	namespace string // that its marker names; empty for none
	name      string // that it had, if the build has it under another one
}

// placeRoles puts generated roles into the namespaces that their markers name, and binds those that no binding names to
// whom the other ones are bound. kustomize gives all of them the operator's namespace.
func (b *completion) placeRoles() {
	var roles []placed
	for _, object := range b.objects {
		notes := object.GetAnnotations()
		namespace, generated := notes[namespaceNote]
		if !generated {
			continue
		}
		roles = append(roles, placed{object, namespace, notes[nameNote]})
		delete(notes, namespaceNote)
		delete(notes, nameNote)
		object.SetAnnotations(notes)
		if len(notes) == 0 {
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
		}
	}
	subjects := b.subjects(roles)
	for _, role := range roles {
		b.place(role, subjects)
	}
}

// place puts one role into its namespace and binds it.
func (b *completion) place(role placed, subjects []any) {
	elsewhere := role.namespace != "" && !b.from.isOwn(role.namespace) && role.namespace != role.GetNamespace()
	if by := b.binding(role.Unstructured); by != nil {
		if elsewhere {
			b.say("the marker of Role %s names the namespace %s, but the kustomization's namespace moves the Role and %s %s to %s", role.GetName(), role.namespace, by.GetKind(), by.GetName(), role.GetNamespace())
		}
		return
	}
	if role.GetKind() != "Role" {
		if len(subjects) > 0 {
			b.say("no binding names ClusterRole %s, which markers with roleName= make, so the operator lacks its permissions", role.GetName())
		}
		return
	}
	if elsewhere {
		role.SetNamespace(role.namespace)
	}
	if role.name != "" {
		role.SetName(strings.TrimSuffix(role.GetName(), role.name+"-of-"+role.namespace) + role.name)
	}
	if len(subjects) == 0 {
		b.say("no binding names Role %s in the namespace %s, and which ServiceAccount needs it is not known", role.GetName(), role.GetNamespace())
		return
	}
	b.objects = append(b.objects, bindingOf(role.Unstructured, subjects))
	b.say("Role %s is in the namespace %s, as its marker says, and RoleBinding %[1]s gives it to the operator; kustomize by itself does neither", role.GetName(), role.GetNamespace())
}

// say tells a text once.
func (b *completion) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if b.tell != nil && !slices.Contains(b.told, text) {
		b.told = append(b.told, text)
		b.tell(text)
	}
}

// binding is the first binding that names a role; nil if there is none.
func (b *completion) binding(role *unstructured.Unstructured) *unstructured.Unstructured {
	at := slices.IndexFunc(b.objects, func(o *unstructured.Unstructured) bool {
		ref, _, _ := unstructured.NestedStringMap(o.Object, "roleRef")
		return ref["kind"] == role.GetKind() && ref["name"] == role.GetName() && (role.GetKind() != "Role" || o.GetNamespace() == role.GetNamespace())
	})
	if at < 0 {
		return nil
	}
	return b.objects[at]
}

// subjects are whom generated roles are bound to or, where none is bound, the account of the only workload; none if
// that is not clear.
func (b *completion) subjects(roles []placed) []any {
	for _, role := range roles {
		if by := b.binding(role.Unstructured); by != nil {
			subjects, _, _ := unstructured.NestedSlice(by.Object, "subjects")
			return subjects
		}
	}
	var accounts []any
	for _, object := range b.objects {
		account, found, _ := unstructured.NestedString(object.Object, "spec", "template", "spec", "serviceAccountName")
		if found && object.GroupVersionKind().Group == "apps" {
			accounts = append(accounts, map[string]any{"kind": "ServiceAccount", "name": account, "namespace": object.GetNamespace()})
		}
	}
	if len(accounts) != 1 {
		return nil
	}
	return accounts
}

// bindingOf is a RoleBinding of a role, with its name and labels.
func bindingOf(role *unstructured.Unstructured, subjects []any) *unstructured.Unstructured {
	metadata := map[string]any{"name": role.GetName(), "namespace": role.GetNamespace()}
	if labels, found, _ := unstructured.NestedMap(role.Object, "metadata", "labels"); found {
		metadata["labels"] = labels
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role.GetName()},
		"subjects": runtime.DeepCopyJSONValue(subjects),
	}}
}
