package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// version is a version that a definition serves.
type version struct {
	name   string
	schema map[string]any
	object *unstructured.Unstructured // as it is read there
}

// converted looks for a field of the object that its conversion between versions loses. It reads the object in each
// version, as any client may, and compares what it gets. It leaves the scene as it is.
func (s *scene) converted(ctx context.Context) (silence, error) {
	stored, others := versionsOf(s.definition)
	if stored == nil || len(others) == 0 || s.members[0].state == Missing {
		return silence{}, nil
	}
	for _, v := range append(others, stored) {
		err := s.readIn(ctx, v)
		switch {
		case err == nil:
		case apierrors.IsNotFound(err): // it has gone meanwhile
			return silence{}, nil
		case apierrors.IsInternalError(err):
			return silence{"ConversionFails", "it cannot be read in version " + v.name + ": " + plainly(err.Error())}, nil
		case ctx.Err() != nil:
			return silence{"ConversionSlow", "it cannot be read in version " + v.name + " within " + probeTime.String()}, nil
		default:
			return silence{}, err
		}
	}
	before, _, _ := unstructured.NestedStringSlice(s.definition.Object, "status", "storedVersions")
	isStored := slices.Equal(before, []string{stored.name}) // as it is read in that version
	for _, v := range others {
		if lost := unset(v); lost.path != "" {
			return silence{"ConversionLosesField", fmt.Sprintf("%s: manager %q has set it in version %s, and the conversion to the stored version %s loses it", lost.path, lost.manager, v.name, stored.name)}, nil
		}
		if path := dropped(stored, v); path != "" && isStored {
			return silence{"ConversionLosesField", fmt.Sprintf("%s: the conversion to version %s loses it, so a client that writes what it has read in that version removes it", path, v.name)}, nil
		}
	}
	return silence{}, nil
}

// versionsOf are the version in which objects are stored, if it is served, and the other ones that are.
func versionsOf(definition *unstructured.Unstructured) (stored *version, others []*version) {
	if definition == nil {
		return nil, nil
	}
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, item := range list {
		v, _ := item.(map[string]any)
		name, _ := v["name"].(string)
		schema, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema")
		switch served := v["served"] == true; {
		case served && v["storage"] == true:
			stored = &version{name: name, schema: schema}
		case served:
			others = append(others, &version{name: name, schema: schema})
		}
	}
	return stored, others
}

// readIn reads the object in a version.
func (s *scene) readIn(ctx context.Context, v *version) (err error) {
	if v.name == s.served.Version {
		v.object = s.members[0].object
		return nil
	}
	in := s.served
	in.Version = v.name
	v.object, err = in.In(s.client, s.ref.Namespace).Get(ctx, s.ref.Name, metav1.GetOptions{})
	return err
}

// lostField is a field that a manager has set and that is not there.
type lostField struct{ path, manager string }

// unset finds a field that a manager has set in a version and that is not there. Whatever removes a field takes it from
// its managers, unless that happens behind the API server's accounting, as in a conversion. Conversions may leave out
// what is empty. So a field counts if it is known to have had a value, or is a text, which hardly anyone sets to "".
func unset(v *version) lostField {
	var applied map[string]any
	if json.Unmarshal([]byte(v.object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), &applied) != nil || applied["apiVersion"] != v.object.GetAPIVersion() {
		applied = nil
	}
	for _, entry := range v.object.GetManagedFields() {
		var fields map[string]any
		if entry.APIVersion != v.object.GetAPIVersion() || entry.Subresource != "" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		for _, path := range managed(fields, nil) {
			at, _, _ := unstructured.NestedFieldNoCopy(applied, path...)
			declares := declared(v.schema, path)
			if _, there, _ := unstructured.NestedFieldNoCopy(v.object.Object, path...); there || declares == nil || isEmpty(at) && declares["type"] != "string" {
				continue
			}
			return lostField{"." + strings.Join(path, "."), entry.Manager}
		}
	}
	return lostField{}
}

// managed are the fields below a node of managed fields that have none below them, without metadata and status. Of
// lists, only the whole is looked at.
func managed(fields map[string]any, at []string) (paths [][]string) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name, is := strings.CutPrefix(key, "f:")
		if !is || len(at) == 0 && !isContent(name) {
			continue
		}
		path := append(slices.Clone(at), name)
		below, _ := fields[key].(map[string]any)
		if deeper := managed(below, path); len(deeper) > 0 {
			paths = append(paths, deeper...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

// isContent reports whether a field of an object is its author's.
func isContent(name string) bool {
	return !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name)
}

// declared is the schema of a field; nil if a schema does not have it.
func declared(schema map[string]any, path []string) map[string]any {
	for _, name := range path {
		properties, _ := schema["properties"].(map[string]any)
		if schema, _ = properties[name].(map[string]any); schema == nil {
			return nil
		}
	}
	return schema
}

// leaf is a field with its value.
type leaf struct {
	path  []string
	value any
}

// leaves are the fields of an object that are not empty, as deep as its schema knows them, without metadata and status.
func leaves(at map[string]any, schema map[string]any, above []string) (all []leaf) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(at)) {
		if isEmpty(at[name]) || len(above) == 0 && !isContent(name) {
			continue
		}
		path := append(slices.Clone(above), name)
		below, isMap := at[name].(map[string]any)
		of, _ := properties[name].(map[string]any)
		if _, deeper := of["properties"].(map[string]any); isMap && deeper {
			all = append(all, leaves(below, of, path)...)
			continue
		}
		all = append(all, leaf{path, at[name]})
	}
	return all
}

// dropped finds a field that both versions declare, and that the object has in one and not in the other. It finds none
// if the other version may have the value in another form: in a field or an annotation that only it has.
func dropped(stored, other *version) string {
	var gone []leaf
	for _, l := range leaves(stored.object.Object, stored.schema, nil) {
		if _, there, _ := unstructured.NestedFieldNoCopy(other.object.Object, l.path...); !there && !reflect.DeepEqual(l.value, declared(stored.schema, l.path)["default"]) {
			gone = append(gone, l)
		}
	}
	renamed := func(l leaf) bool { return declared(other.schema, l.path) == nil }
	for _, l := range leaves(other.object.Object, other.schema, nil) {
		_, there, _ := unstructured.NestedFieldNoCopy(stored.object.Object, l.path...)
		isDefault := reflect.DeepEqual(l.value, declared(other.schema, l.path)["default"])
		if !there && !isDefault && !slices.ContainsFunc(gone, func(g leaf) bool { return renamed(g) && reflect.DeepEqual(g.value, l.value) }) {
			return ""
		}
	}
	for key, text := range other.object.GetAnnotations() {
		if stored.object.GetAnnotations()[key] != text {
			return ""
		}
	}
	for _, l := range gone {
		if !renamed(l) && declared(stored.schema, l.path) != nil {
			return "." + strings.Join(l.path, ".")
		}
	}
	return ""
}

// isEmpty reports whether a value is one that encoders leave out.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return reflect.ValueOf(value).IsZero()
}
