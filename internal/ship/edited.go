package ship

import (
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/report"
)

// ReadKustomization returns the text of the kustomization in dir.
func ReadKustomization(dir string) ([]byte, error) {
	path, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &report.Error{What: "the kustomization cannot be read", Where: path, Err: err}
	}
	return text, nil
}

// BuildEdited is [Build] as if the kustomization in dir itself, not those that it refers to, had another
// text. Nothing is written.
func BuildEdited(dir string, text []byte) ([]*unstructured.Unstructured, error) {
	path, err := kustomizationIn(dir)
	if err != nil {
		return nil, err
	}
	if path, err = readAs(path); err != nil {
		return nil, &report.Error{What: "the kustomization cannot be read", Where: path, Err: err}
	}
	return build(overlay{filesys.MakeFsOnDisk(), path, text}, dir)
}
