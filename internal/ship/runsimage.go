package ship

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/image/reference"
)

// RunsImage reports whether one of objects has a container of that image, as kustomize writes it: a name without a tag
// keeps the tag that was there.
func RunsImage(objects []*unstructured.Unstructured, image string) bool {
	_, wantedTag, digest := reference.Split(image)
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return anyImage(o.Object, func(is string) bool {
			switch {
			case is == image:
				return true
			case digest != "":
				return strings.HasSuffix(is, "@"+digest)
			}
			repository, tag, _ := reference.Split(is)
			return wantedTag == "" && tag != "" && repository == image
		})
	})
}

// anyImage reports whether a field called image, wherever it is, has a value that fits.
func anyImage(value any, fits func(string) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if text, ok := field.(string); name == "image" && ok && fits(text) || anyImage(field, fits) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return anyImage(item, fits) })
	}
	return false
}
