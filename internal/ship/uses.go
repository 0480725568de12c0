package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
)

// maxUses bounds how many objects of each kind are counted that use what goes, and maxNamed how many are named.
const (
	maxUses  = 500
	maxNamed = 5
)

// errEnough ends the search for objects: so many are found that their number does not matter.
var errEnough = errors.New("more objects than are counted")

// staying lists the objects of a resource that stay, by name, also those on later pages of a long list. With an error
// it returns those found before.
func staying(ctx context.Context, resource dynamic.ResourceInterface, stays func(*unstructured.Unstructured) bool) (names []string, err error) {
	page := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return resource.List(ctx, o) }
	err = pager.New(page).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		if item, ok := object.(*unstructured.Unstructured); ok && stays(item) {
			names = append(names, nameOf(item))
		}
		if len(names) > maxUses {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return names, err
}

// uses says which of the objects that are about to go others use: namespaces with more in them than goes by itself, and
// definitions with objects, or with objects that cannot be listed. In a namespace, kinds that the user may not list are
// not seen.
func (c *Cluster) uses(ctx context.Context, owner membership, going []*unstructured.Unstructured) (lines []string, err error) {
	for _, object := range going {
		var others []string
		switch kindOf(object) {
		case crdKind:
			others, err = c.usesOfDefinition(ctx, owner, object, going)
		case namespaceKind:
			others, err = c.usesOfNamespace(ctx, owner, object.GetName(), going)
		}
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			lines = append(lines, nameOf(object)+" with "+counted(others))
		}
	}
	return lines, nil
}

// counted names objects, or the first of many.
func counted(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	number := fmt.Sprint(len(names))
	if len(names) > maxUses {
		number = "more than " + fmt.Sprint(maxUses)
	}
	return fmt.Sprintf("%s objects: %s, …", number, strings.Join(names[:maxNamed], ", "))
}

// usesOfDefinition are the objects of a definition that do not go with the set.
func (c *Cluster) usesOfDefinition(ctx context.Context, owner membership, definition *unstructured.Unstructured, going []*unstructured.Unstructured) ([]string, error) {
	served := servedResources(definition)
	if len(served) == 0 {
		return nil, nil
	}
	others, err := staying(ctx, c.objects.Resource(served[0]), func(item *unstructured.Unstructured) bool {
		return !goes(item, owner, going) && !c.isSample(item, owner.set)
	})
	if apierrors.IsNotFound(err) { // it is being deleted, and its last object has just gone
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return []string{unknownObjects(err)}, nil
	}
	return others, nil
}

// unknownObjects are those of a definition that the user may not list, or that the operator which converts them does
// not answer for: that must not keep it from being undeployed.
func unknownObjects(err error) string { return "objects that cannot be listed (" + err.Error() + ")" }

// usesOfNamespace are the objects in a namespace that do not go with the set: they are neither members nor made by a
// controller, nor what each namespace has, nor what the set's workloads have mounted or make.
func (c *Cluster) usesOfNamespace(ctx context.Context, owner membership, namespace string, going []*unstructured.Unstructured) ([]string, error) {
	resources, err := c.catalog.namespaced(ctx)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	own := append(mounts(going), owner.set.Makes...)
	var others []string
	for _, resource := range resources {
		// A resource that may not be listed, or whose server does not answer, is not ours to decide about.
		found, _ := staying(ctx, c.quiet.Resource(resource).Namespace(namespace), func(item *unstructured.Unstructured) bool {
			stays := !goes(item, owner, going) && len(item.GetOwnerReferences()) == 0 && !isUsual(item, owner.set) && !slices.Contains(own, nameOf(item))
			return stays && definitionOf(going, kindOf(item)) == nil // else its definition is asked about
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		others = append(others, found...)
	}
	return others, nil
}

// goes reports whether an object is a member of the set, or goes because of its name.
func goes(object *unstructured.Unstructured, owner membership, going []*unstructured.Unstructured) bool {
	return object.GetLabels()[partOfLabel] == owner.set.id() && owner.has(object) || contains(going, object)
}

// isUsual tells what a namespace has by itself: what the control plane makes, and the set's parent.
func isUsual(object *unstructured.Unstructured, set *Set) bool {
	switch kind := kindOf(object).String(); kind {
	case "ServiceAccount":
		return object.GetName() == "default"
	case "Secret":
		return object.GetAnnotations()["kubernetes.io/service-account.name"] != ""
	case "ConfigMap":
		return object.GetName() == "kube-root-ca.crt" || object.GetName() == set.parentName()
	}
	return false
}

// mounts names the Secrets, ConfigMaps and claims that the pods of workloads mount.
func mounts(workloads []*unstructured.Unstructured) (names []string) {
	for _, object := range workloads {
		volumes, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "volumes")
		for _, volume := range volumes {
			fields, _ := volume.(map[string]any)
			for kind, path := range map[string][]string{
				"secret": {"secret", "secretName"}, "configmap": {"configMap", "name"}, "persistentvolumeclaim": {"persistentVolumeClaim", "claimName"},
			} {
				if name, _, _ := unstructured.NestedString(fields, path...); name != "" {
					names = append(names, kind+"/"+object.GetNamespace()+"/"+name)
				}
			}
		}
	}
	return names
}

// traces are resources whose objects come of what runs, and go with it.
var traces = []string{"endpoints", "endpointslices", "events", "leases"}

// namespaced lists the resources that namespaces have objects of, apart from traces, each in the version that the
// server prefers.
func (c *catalog) namespaced(ctx context.Context) (all []schema.GroupVersionResource, err error) {
	var groups metav1.APIGroupList
	if err := c.get(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	versions := []schema.GroupVersion{{Version: "v1"}}
	for _, group := range groups.Groups {
		versions = append(versions, schema.GroupVersion{Group: group.Name, Version: group.PreferredVersion.Version})
	}
	for _, version := range versions {
		resources, err := c.resources(ctx, version)
		if err != nil {
			continue // an aggregated server that does not answer
		}
		for _, r := range resources {
			if r.Namespaced && !isSubresource(r) && !slices.Contains(traces, r.Name) && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
				all = append(all, version.WithResource(r.Name))
			}
		}
	}
	return all, ctx.Err()
}
