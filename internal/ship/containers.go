package ship

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A ContainerImage is the image of a container that a workload's pods have.
type ContainerImage struct {
	Image    string
	Workload *unstructured.Unstructured
}

// Of names the workload for people.
func (i ContainerImage) Of() string { return nameOf(i.Workload) }

// ContainerImages are the images of all containers of workloads, in the order of the objects.
func ContainerImages(objects []*unstructured.Unstructured) (all []ContainerImage) {
	for _, object := range objects {
		for _, pod := range [][]string{{"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}, {"spec"}} {
			for _, image := range podImages(object.Object, pod) {
				all = append(all, ContainerImage{image, object})
			}
		}
	}
	return all
}

// podImages are the images of the containers of a pod, whose specification is at a path of an object.
func podImages(object map[string]any, path []string) (images []string) {
	spec, _, _ := unstructured.NestedMap(object, path...)
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, item := range containers {
			container, _ := item.(map[string]any)
			if image, _ := container["image"].(string); image != "" {
				images = append(images, image)
			}
		}
	}
	return images
}
