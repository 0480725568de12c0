package codebase

import (
	"context"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/kustomization"
)

// Origin returns the project's file that defines an object of a folder's kustomization, for messages. It returns "" if
// that is unknown, as for fetched and generated objects.
func (c *Codebase) Origin(ctx context.Context, folder string, object *unstructured.Unstructured) string {
	folder = path.Clean(folder)
	objects, err := kustomization.BuildView(ctx, c.view, folder, func(name string, text []byte) ([]byte, error) {
		var k types.Kustomization
		if path.Dir(name) != folder || !IsKustomization(name) || k.Unmarshal(text) != nil {
			return text, nil
		}
		k.FixKustomization()
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations)
		return yaml.Marshal(k)
	})
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GroupVersionKind() == object.GroupVersionKind() && o.GetNamespace() == object.GetNamespace() && o.GetName() == object.GetName()
	})
	if at < 0 {
		return ""
	}
	return originOf(folder, objects[at])
}

// originOf returns the project's file in the origin annotation of a built object, or "".
func originOf(folder string, built *unstructured.Unstructured) string {
	var from struct{ Path, Repo string }
	if yaml.Unmarshal([]byte(built.GetAnnotations()[originAnnotation]), &from) != nil || from.Path == "" || from.Repo != "" {
		return ""
	}
	return path.Join(folder, from.Path)
}
