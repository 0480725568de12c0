package kustomization

import (
	"context"
	"encoding/json"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReadManifests reads the objects in a file of manifests.
func ReadManifests(ctx context.Context, file string) ([]*unstructured.Unstructured, error) {
	list, err := json.Marshal(map[string][]string{"resources": {filepath.Base(file)}})
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	return Kustomization{Folder: dir, Changed: map[string][]byte{filepath.Join(dir, "kustomization.yaml"): list}}.Build(ctx)
}
