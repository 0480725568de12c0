package ship

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
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
	// settling is how long the server may go on to judge objects by a definition as it was, when it has been changed,
	// and to ask a webhook that is gone.
	settling = 2 * time.Second
	// farewell is how long objects that are being deleted are waited for, all together, so that they can be made anew.
	farewell = 10 * time.Second
)

// application is one run of [Cluster.Apply], or of [Cluster.Preview].
type application struct {
	cluster    *Cluster
	membership // its set is nil if no inventory is kept
	force      bool
	dry        bool // the server judges, and stores nothing
	patience   time.Duration

	changed  []schema.GroupKind           // by their definitions
	unhooked bool                         // webhooks were deleted, which the server may go on to ask for a moment
	settled  time.Time                    // when the server knows these
	waited   time.Duration                // for objects to be gone
	leaving  []*unstructured.Unstructured // were applied although they are being deleted
	members  roster                       // of the objects so far; a preview does not know new UIDs
	others   []*unstructured.Unstructured // of the objects so far, those that are no members

	interim map[*unstructured.Unstructured]bool // which of the objects to apply are interim forms, see upgrade
	staged  map[string]outcome                  // what applying these did first, by name
}

// manager is the owner of the fields that are applied.
func (a *application) manager() string { return a.set.manager() }

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

// one applies one object and reports its change. That of an interim form is reported with the final one.
func (a *application) one(ctx context.Context, object *unstructured.Unstructured) error {
	interim := a.interim[object]
	resource, object, err := a.cluster.locate(ctx, object, a.patience)
	if err != nil {
		return a.explain(ctx, object, err)
	}
	done, err := a.apply(ctx, resource, object)
	if err != nil {
		return a.explain(ctx, object, err)
	}
	if kindOf(object) == crdKind && done.action == report.Updated {
		a.changed = append(a.changed, definedKind(object))
	}
	name := nameOf(object)
	first, staged := a.staged[name]
	if interim {
		if !staged {
			a.staged[name] = done
		}
		return nil
	}
	if staged {
		done.action = actionOf(object, first.before, done.after, a.manager())
	}
	a.cluster.handler.Handle(report.Object{Name: name, Object: refOf(object), Action: done.action, Why: done.why})
	return nil
}

// actionOf is what made an object, which was before or nil, what it is after.
func actionOf(object, before, after *unstructured.Unstructured, manager string) report.Action {
	switch {
	case before == nil:
		return report.Created
	case changes(object, before, after, manager):
		return report.Updated
	}
	return report.Unchanged
}

// outcome is what applying did to an object, or would do.
type outcome struct {
	before, after *unstructured.Unstructured // before is nil if there was none
	action        report.Action
	why           string // it is no member of the set, or who lost which fields
}

// apply applies one object and tells what that did.
func (a *application) apply(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (outcome, error) {
	before, err := a.before(ctx, resource, object)
	if err != nil {
		return outcome{}, err
	}
	recreated := recreates(before, object) && !a.rollsForAnother(before)
	if recreated && a.dry {
		return a.judgeRecreated(ctx, resource, object, before)
	}
	if recreated {
		if before, err = a.recreate(ctx, resource, object.GetName()); err != nil {
			return outcome{}, err
		}
	}
	object, why := a.claim(object, before, a.force)
	after, taken, err := a.take(ctx, resource, object, before, why == "")
	if err != nil {
		return outcome{}, err
	}
	a.note(before, after, why == "")
	if after.GetDeletionTimestamp() != nil {
		a.leaving = append(a.leaving, after)
	}
	done := outcome{before, after, actionOf(object, before, after, a.manager()), because(why, taken)}
	if recreated {
		done.action = report.Updated
	}
	return done, nil
}

// note keeps for the inventory whether an object is a member.
func (a *application) note(before, after *unstructured.Unstructured, member bool) {
	if !member {
		a.others = append(a.others, after)
		return
	}
	if a.members == nil {
		a.members = roster{}
	}
	a.members.add(after)
	if a.dry && before == nil {
		a.members[identityOf(after)] = ""
	}
}

// because joins reasons, of which any may be empty.
func because(reasons ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(reasons), isEmpty), "; ")
}

func isEmpty(text string) bool { return text == "" }

// before is the object as the cluster has it; nil if it has none. One that is being deleted would go with what is
// applied to it, so that is waited for, for a while.
func (a *application) before(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if a.dry {
		return existing(ctx, resource, object.GetName())
	}
	var live *unstructured.Unstructured
	start, reported := time.Now(), false
	err := poll(ctx, min(a.patience, farewell-a.waited), func(ctx context.Context) (bool, error) {
		var err error
		live, err = existing(ctx, resource, object.GetName())
		if err != nil || live == nil || live.GetDeletionTimestamp() == nil {
			return true, err
		}
		if !reported {
			reported = true
			a.cluster.reportLeaving(object)
		}
		return false, nil
	})
	if reported {
		a.waited += time.Since(start)
	}
	if errors.Is(err, errImpatient) {
		err = nil
	}
	return live, err
}

// existing is an object as the cluster has it; nil if it has none.
func existing(ctx context.Context, resource dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	live, err := resource.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// patching says how an object is applied.
type patching struct{ force, dry bool }

// patch has the server apply an object. Where it may still judge that by a definition as it was, or ask a webhook that
// is gone, it is asked again.
func (a *application) patch(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured, how patching) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var patience time.Duration
	if a.unhooked || slices.Contains(a.changed, kindOf(object)) {
		patience = time.Until(a.settled)
	}
	var after *unstructured.Unstructured
	var refusal error
	options := metav1.PatchOptions{FieldManager: a.manager(), FieldValidation: metav1.FieldValidationStrict, Force: &how.force}
	if how.dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	err = poll(ctx, patience, func(ctx context.Context) (bool, error) {
		after, refusal = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, text, options)
		return !judges(refusal), nil
	})
	if errors.Is(err, errImpatient) {
		err = nil
	}
	return after, cmp.Or(err, refusal)
}

// judges tells whether the server refuses an object for what is in it. A field that a schema does not have is an
// internal error to it.
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
