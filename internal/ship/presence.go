package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// HasSet reports whether the cluster has the inventory of a set. It looks only.
func (c *Cluster) HasSet(ctx context.Context, set *Set) (bool, error) {
	live, err := c.liveParent(ctx, set.inNamespace(c.namespace))
	return live != nil, err
}

// HasGroup reports whether the cluster serves an API group. It looks only.
func (c *Cluster) HasGroup(ctx context.Context, group string) (bool, error) {
	err := c.catalog.get(ctx, "/apis/"+group, &struct{}{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, c.explain(ctx, err)
}

// AwaitAdmission returns when the server takes an object, with all webhooks that judge it. The object is created on
// trial and not stored; one of its name may be there. A server that refuses it for timeout (0 means [DefaultTimeout])
// is a [report.Error] with the last refusal.
func (c *Cluster) AwaitAdmission(ctx context.Context, object *unstructured.Unstructured, timeout time.Duration) error {
	resource, object, err := c.locate(ctx, object, patienceOf(timeout))
	if err != nil {
		return c.explainObject(ctx, object, err)
	}
	start, reported := time.Now(), false
	var last error
	err = poll(ctx, patienceOf(timeout), func(ctx context.Context) (bool, error) {
		_, last = resource.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: FieldManager})
		if last != nil && !reported && time.Since(start) > time.Second {
			reported = true
			c.handler.Handle(report.Step{Name: "waiting for the webhooks of " + object.GetKind()})
		}
		return last == nil || apierrors.IsAlreadyExists(last), nil
	})
	if errors.Is(err, errImpatient) {
		return &report.Error{Class: report.Refused, What: fmt.Sprintf("the server does not accept an object of this kind after %s", patienceOf(timeout)), Where: nameOf(object), Object: refOf(object), Err: last}
	}
	return c.explain(ctx, err)
}

// Others are the names of those of some definitions that the cluster has and that are not members of a set: another
// deployment, or another tool, has brought them.
func (c *Cluster) Others(ctx context.Context, definitions []*unstructured.Unstructured, set *Set) ([]string, error) {
	id := set.inNamespace(c.namespace).id()
	var names []string
	for _, definition := range definitions {
		live, err := c.objects.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, c.explainObject(ctx, definition, err)
		case live.GetLabels()[partOfLabel] != id:
			names = append(names, definition.GetName())
		}
	}
	return names, nil
}
