package operation

import (
	"context"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// samples are the objects of the project's samples, each as its file has it; none if one cannot be read.
func (s *Session) samples(ctx context.Context, root string) []*unstructured.Unstructured {
	folder := filepath.Join(root, filepath.FromSlash(codebase.SampleFolder))
	all, err := withKustomization(folder, sampleFiles(folder), nil)
	if err != nil {
		return nil
	}
	objects, err := kustomization.Kustomization{Folder: folder, Files: s.files(root), Changed: all}.Build(ctx)
	if err != nil {
		return nil
	}
	return objects
}

// sampleFiles are the names of the files with samples in a folder, whether its kustomization lists them or not.
func sampleFiles(folder string) (names []string) {
	for _, name := range manifests(folder, nil) {
		if !codebase.IsKustomization(name) {
			names = append(names, name)
		}
	}
	return names
}
