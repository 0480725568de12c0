package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
)

// ourNode begins the label that says of what kind a node of an embedded cluster is.
const ourNode = "slipway.dev/"

// registryHosting is the ConfigMap by which a cluster says that its nodes know a registry on this machine; those who
// set up clusters for development agreed upon it.
const registryHosting = "local-registry-hosting"

// warnOfLoopback tells of images in a registry on this machine, which nodes elsewhere look for on themselves.
func (c *Cluster) warnOfLoopback(ctx context.Context, objects []*unstructured.Unstructured) {
	images := loopbackImages(objects)
	if len(images) == 0 || c.knowsThisMachine(ctx) {
		return
	}
	c.handler.Handle(report.Warning{Text: fmt.Sprintf(
		"%s names a registry on this machine, but for the cluster's nodes localhost is the node itself; push the image to a registry that they reach",
		strings.Join(images, ", "))})
}

// knowsThisMachine tells whether nodes find the registries that are on this machine's loopback.
func (c *Cluster) knowsThisMachine(ctx context.Context) bool {
	nodes, err := c.objects.Resource(nodeResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return true // nothing is known that could be warned of
	}
	for _, node := range nodes.Items {
		for label := range node.GetLabels() {
			if strings.HasPrefix(label, ourNode) {
				return true
			}
		}
	}
	maps := c.objects.Resource(configMapResource)
	_, err = maps.Namespace(metav1.NamespacePublic).Get(ctx, registryHosting, metav1.GetOptions{})
	return err == nil
}

// loopbackImages are the images of workloads that a registry on this machine is to give.
func loopbackImages(objects []*unstructured.Unstructured) (images []string) {
	for _, object := range objects {
		for _, list := range []string{"initContainers", "containers"} {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", list)
			for _, item := range containers {
				container, _ := item.(map[string]any)
				image, _ := container["image"].(string)
				if reference.OnLoopback(reference.Registry(image)) && !slices.Contains(images, image) {
					images = append(images, image)
				}
			}
		}
	}
	return images
}
