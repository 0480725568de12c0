package ship

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// settling is how long the server may go on to judge objects by a definition as it was, when it has been changed.
	settling = 2 * time.Second
	// farewell is how long objects that are being deleted are waited for, all together, so that they can be made anew.
	farewell = 10 * time.Second
)

// application is one run of [Cluster.Apply].
type application struct {
	cluster  *Cluster
	force    bool
	patience time.Duration

	changed []schema.GroupKind           // by their definitions
	settled time.Time                    // when the server knows these
	waited  time.Duration                // for objects to be gone
	leaving []*unstructured.Unstructured // were applied although they are being deleted
}

// ship applies objects that do not need each other, and has definitions served.
func (a *application) ship(ctx context.Context, shipment []*unstructured.Unstructured) error {
	for _, object := range shipment {
		if err := a.one(ctx, object); err != nil {
			return err
		}
	}
	definitions := slices.DeleteFunc(slices.Clone(shipment), func(o *unstructured.Unstructured) bool { return kindOf(o) != crdKind || a.leaves(o) })
	if len(definitions) == 0 {
		return nil
	}
	err := a.cluster.establish(ctx, definitions, a.patience)
	a.settled = time.Now().Add(settling)
	return err
}

// one applies one object and reports its change.
func (a *application) one(ctx context.Context, object *unstructured.Unstructured) error {
	resource, object, err := a.cluster.locate(ctx, object, a.patience)
	if err != nil {
		return a.explain(ctx, object, err)
	}
	action, err := a.apply(ctx, resource, object)
	if err != nil {
		return a.explain(ctx, object, err)
	}
	a.cluster.handler.Handle(report.Object{Name: nameOf(object), Action: action})
	if kindOf(object) == crdKind && action == report.Updated {
		a.changed = append(a.changed, definedKind(object))
	}
	return nil
}

// apply applies one object and tells what that did.
func (a *application) apply(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (report.Action, error) {
	before, err := a.before(ctx, resource, object)
	if err != nil {
		return "", err
	}
	recreated := recreates(before, object)
	if recreated {
		if before, err = recreate(ctx, resource, object.GetName()); err != nil {
			return "", err
		}
	}
	if before != nil {
		if before, err = adopt(ctx, resource, before, a.patience); err != nil {
			return "", err
		}
	}
	after, err := a.patch(ctx, resource, object)
	if err != nil {
		return "", err
	}
	if after.GetDeletionTimestamp() != nil {
		a.leaving = append(a.leaving, after)
	}
	switch {
	case before == nil:
		return report.Created, nil
	case recreated || changes(object, before, after):
		return report.Updated, nil
	}
	return report.Unchanged, nil
}

// before is the object as the cluster has it; nil if it has none. One that is being deleted would go with what is applied to it, so
// that is waited for, for a while.
func (a *application) before(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	var live *unstructured.Unstructured
	start, told := time.Now(), false
	err := poll(ctx, min(a.patience, farewell-a.waited), func(ctx context.Context) (bool, error) {
		var err error
		live, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			live = nil
			return true, nil
		}
		if err != nil || live.GetDeletionTimestamp() == nil {
			return true, err
		}
		if !told {
			told = true
			a.cluster.handler.Handle(report.Step{Name: "waiting for " + nameOf(object) + " to be gone: it is being deleted"})
		}
		return false, nil
	})
	if told {
		a.waited += time.Since(start)
	}
	if errors.Is(err, errImpatient) {
		err = nil
	}
	return live, err
}

// patch has the server apply an object. Where it may still judge that by a definition as it was, it is asked again.
func (a *application) patch(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var patience time.Duration
	if slices.Contains(a.changed, kindOf(object)) {
		patience = time.Until(a.settled)
	}
	var after *unstructured.Unstructured
	var refusal error
	err = poll(ctx, patience, func(ctx context.Context) (bool, error) {
		after, refusal = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
			FieldManager:    FieldManager,
			FieldValidation: metav1.FieldValidationStrict,
			Force:           &a.force,
		})
		return !judges(refusal), nil
	})
	if errors.Is(err, errImpatient) {
		err = nil
	}
	return after, cmp.Or(err, refusal)
}

// judges tells whether the server refuses an object for what is in it. A field that a schema does not have is an internal error to it.
func judges(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	return slices.Contains([]int32{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}, status.Status().Code)
}

// explain says why object was not applied. If its definition is being deleted, that is why.
func (a *application) explain(ctx context.Context, object *unstructured.Unstructured, err error) error {
	if definition := definitionOf(a.leaving, kindOf(object)); definition != nil && apierrors.IsForbidden(err) {
		return a.cluster.explainLingering(ctx, definition)
	}
	return a.cluster.explainObject(ctx, object, err)
}

// leaves tells whether object is being deleted.
func (a *application) leaves(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(a.leaving, func(o *unstructured.Unstructured) bool { return nameOf(o) == nameOf(object) })
}
