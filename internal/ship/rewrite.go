package ship

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/report"
)

// pageSize is how many objects are read at once when all of a kind are.
const pageSize = 500

// signOfLife is how often a long operation says how far it is.
const signOfLife = 2 * time.Second

// eachPage reads all objects of a resource.
func eachPage(ctx context.Context, resource dynamic.ResourceInterface, see func([]unstructured.Unstructured) error) error {
	for options := (metav1.ListOptions{Limit: pageSize}); ; {
		page, err := resource.List(ctx, options)
		if rest := restOf(err); rest != "" {
			options.Continue = rest
			continue
		}
		if err != nil {
			return err
		}
		if err := see(page.Items); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// A rewrite writes each object of a resource as it is, which stores it in the version that its definition has for that.
type rewrite struct {
	cluster    *Cluster
	resource   dynamic.NamespaceableResourceInterface
	definition string // its name, for messages
	to         string // the version
	manager    string // of the fields, of which none changes
	// refused is called with an object that the server does not take, and may end the rewrite.
	refused func(object *unstructured.Unstructured, err error) error
}

// all rewrites all objects and returns how many there are. An object that another client has written meanwhile is
// stored already.
func (r rewrite) all(ctx context.Context) (count int, err error) {
	shown := time.Now()
	err = eachPage(ctx, r.resource, func(page []unstructured.Unstructured) error {
		for i := range page {
			if err := r.one(ctx, &page[i]); err != nil {
				return err
			}
			if count++; time.Since(shown) > signOfLife {
				shown = time.Now()
				r.cluster.handler.Handle(report.Step{Name: fmt.Sprintf("%s: %d objects stored as %s", r.definition, count, r.to)})
			}
		}
		return nil
	})
	return count, err
}

// one rewrites an object, unless it is gone or written by another client. A webhook may refuse an object with the error
// of another one that it has looked for: the object itself decides.
func (r rewrite) one(ctx context.Context, object *unstructured.Unstructured) error {
	resource := r.resource.Namespace(object.GetNamespace())
	_, err := resource.Update(ctx, object, metav1.UpdateOptions{FieldManager: r.manager})
	if err == nil {
		return nil
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		live, gone := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(gone):
			return nil
		case gone != nil:
			return gone
		case live.GetUID() != object.GetUID() || live.GetResourceVersion() != object.GetResourceVersion():
			return nil // it was written meanwhile
		}
	}
	return r.refused(object, err)
}
