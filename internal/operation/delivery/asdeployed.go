package delivery

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// useDeployedConversion copies the conversion webhook's Service, and the values of annotations, from the deployed form
// of each CRD. In the CRD's own folder these are placeholders that config/default replaces. Applied as they are, they
// would call no Service, and deploying later would conflict with them.
func useDeployedConversion(ctx context.Context, root string, code *codebase.Codebase, generated map[string][]byte, definitions []*unstructured.Unstructured) {
	if !slices.ContainsFunc(definitions, convertedByService) {
		return
	}
	applied, err := code.Deployed()
	if err != nil {
		return
	}
	folder, err := applied.Folder()
	if err != nil {
		return
	}
	deployed, err := kustomization.Kustomization{Folder: ResolveFolder(root, folder), Changed: generated}.Build(ctx)
	if err != nil {
		return // deploying reports it
	}
	for _, definition := range definitions {
		at := slices.IndexFunc(deployed, func(o *unstructured.Unstructured) bool {
			return o.GroupVersionKind() == definition.GroupVersionKind() && o.GetName() == definition.GetName()
		})
		if at >= 0 && convertedByService(definition) && convertedByService(deployed[at]) {
			copyConversion(definition, deployed[at])
		}
	}
}

// convertingService is the path of the Service in a CRD with a conversion webhook.
var convertingService = [...]string{"spec", "conversion", "webhook", "clientConfig", "service"}

func convertedByService(definition *unstructured.Unstructured) bool {
	_, is, err := unstructured.NestedMap(definition.Object, convertingService[:]...)
	return is && err == nil
}

// copyConversion copies the Service, and the values of annotations that the definition has.
func copyConversion(definition, deployed *unstructured.Unstructured) {
	service, _, _ := unstructured.NestedMap(deployed.Object, convertingService[:]...)
	if unstructured.SetNestedMap(definition.Object, service, convertingService[:]...) != nil {
		return
	}
	annotations, values := definition.GetAnnotations(), deployed.GetAnnotations()
	maps.DeleteFunc(values, func(key, _ string) bool { _, has := annotations[key]; return !has })
	if maps.Copy(annotations, values); len(annotations) > 0 {
		definition.SetAnnotations(annotations)
	}
}
