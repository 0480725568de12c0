package kustomization

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// KoScheme begins references to Go programs that `ko resolve` replaces by images, in any text of a manifest.
const KoScheme = "ko://"

// KoReferences are those in objects, each once.
func KoReferences(objects []*unstructured.Unstructured) (all []string) {
	for _, object := range objects {
		editTexts(object.Object, func(text string) string {
			if strings.HasPrefix(text, KoScheme) && !slices.Contains(all, text) {
				all = append(all, text)
			}
			return text
		})
	}
	slices.Sort(all)
	return all
}
