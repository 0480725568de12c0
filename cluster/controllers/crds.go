package controllers

import (
	"fmt"

	clientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crdClient reads and writes whole CRDs; informers have their metadata only.
func crdClient(d *Deps, name string) (clientset.CustomResourceDefinitionInterface, error) {
	client, err := clientset.NewForConfig(d.config(name))
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", name, err)
	}
	return client.CustomResourceDefinitions(), nil
}

// watchCRDs has a queue handle the names of the CRDs that wanted wants.
func watchCRDs(d *Deps, q *queue, wanted func(crd metav1.Object) bool) (Loop, error) {
	informer, err := d.Generic.ForResource(crdResource)
	if err != nil {
		return nil, err
	}
	if err := q.watch(informer.Informer(), func(obj any) bool {
		crd, ok := obj.(metav1.Object)
		return ok && wanted(crd)
	}); err != nil {
		return nil, err
	}
	return q.loop(workers), nil
}
