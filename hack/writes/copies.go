package main

import (
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// copies are those of an object.
type copies struct {
	original *unstructured.Unstructured
	resource dynamic.ResourceInterface
}

// newCopies reads the object, and finds where its kind is served.
func newCopies(config *rest.Config, client dynamic.Interface, file string) (*copies, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	original := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &original.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(served)
	if err != nil {
		return nil, err
	}
	kind := original.GroupVersionKind()
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	return &copies{original, client.Resource(mapping.Resource).Namespace("default")}, nil
}

func (c *copies) steps() []step { return []step{c.create, c.change, c.read, c.delete} }

func (c *copies) create(ctx context.Context, name string) error {
	made := c.original.DeepCopy()
	made.SetName(name)
	if _, err := c.resource.Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return nil
}

func (c *copies) change(ctx context.Context, name string) error {
	const labels = `{"metadata":{"labels":{"changed":"yes"}}}`
	if _, err := c.resource.Patch(ctx, name, types.MergePatchType, []byte(labels), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	return nil
}

func (c *copies) read(ctx context.Context, name string) error {
	live, err := c.resource.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if live.GetLabels()["changed"] != "yes" {
		return fmt.Errorf("read: the change of %s is lost", name)
	}
	return nil
}

func (c *copies) delete(ctx context.Context, name string) error {
	if err := c.resource.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}
