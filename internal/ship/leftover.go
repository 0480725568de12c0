package ship

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// whyLeft is why a member is deleted.
const whyLeft = "left from an earlier deployment"

// Why an object with a set's label is no member of the set.
const (
	whyCopied    = "another tool created it: it has this deployment's label, but the inventory does not list it"
	whyRecreated = "another tool recreated it: it has this deployment's label, but the inventory lists another UID"
)

// A leftover is an object with a set's label that the set's objects do not have any more.
type leftover struct {
	*unstructured.Unstructured
	member         bool   // the set's own
	keptBecause    string // why it is kept whatever the user agrees to; empty if nothing keeps it
	consentBecause string // why only the user's consent deletes it; empty if it goes without
}

// why is why a leftover is kept.
func (l leftover) why() string {
	switch {
	case !l.member:
		return l.keptBecause + "; `" + kubectl(l.Unstructured, "label") + " " + partOfLabel + "-` removes the label"
	case l.keptBecause != "":
		return l.keptBecause
	}
	return whyLeft + " and " + l.consentBecause + ": `" + kubectl(l.Unstructured, "delete") + "` deletes it"
}

// judge decides what becomes of objects that have the set's label.
func (i *inventory) judge(ctx context.Context, objects []*unstructured.Unstructured) (all []leftover, err error) {
	staying := slices.Clone(i.coming)
	if i.keepsParent() {
		staying = append(staying, i.set.parent(nil, nil))
	}
	for _, object := range objects {
		left := leftover{Unstructured: object, member: i.has(object), keptBecause: i.whyKept(object)}
		if left.keptBecause == "" {
			if left.consentBecause, err = i.cluster.needsConsent(ctx, object); err != nil {
				return nil, i.cluster.explainObject(ctx, object, err)
			}
		} else {
			staying = append(staying, object)
		}
		all = append(all, left)
	}
	for at, left := range all {
		if kept := firstWithin(left.Unstructured, staying); kept != nil && left.keptBecause == "" {
			all[at].keptBecause = whyLeft + ", but " + nameOf(kept) + " would be deleted with it"
		}
	}
	return all, nil
}

// Why a member that left the configuration goes by consent alone.
const (
	mayHoldData = "may hold data"
	wasNotOurs  = "was created by another tool"
)

// needsConsent is why the user has to agree before an object is deleted that left the configuration; empty if nothing
// speaks against it.
func (c *Cluster) needsConsent(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	switch data, err := c.holdsData(ctx, object); {
	case err != nil:
		return "", err
	case data:
		return mayHoldData, nil
	case isAdopted(object):
		return wasNotOurs, nil
	}
	return "", nil
}

// whyKept is why an object with the set's label, that the configuration does not have, is kept whatever the user agrees
// to; empty if it may be deleted.
func (o membership) whyKept(live *unstructured.Unstructured) string {
	mark := keepMark(live)
	_, listed := o.listed[identityOf(live)]
	switch {
	case o.has(live) && mark != "":
		return whyLeft + ", but marked with " + mark
	case o.has(live):
		return ""
	case listed:
		return whyRecreated
	}
	return whyCopied
}

// hooks are the left-over webhook configurations that go first of all: those that need no consent.
func (i *inventory) hooks() []*unstructured.Unstructured { return i.leftObjects(leftover.goesFirst) }

func (l leftover) goesFirst() bool {
	return isHook(l.Unstructured) && l.keptBecause == "" && l.consentBecause == ""
}

// going are the left-overs that go last: those that may hold data, or are another's, only if the user agrees.
func (i *inventory) going() []*unstructured.Unstructured {
	return i.leftObjects(func(l leftover) bool {
		return !l.goesFirst() && l.keptBecause == "" && (i.agreed || l.consentBecause == "")
	})
}

// staying are the left-overs that are kept.
func (i *inventory) staying() []leftover {
	return slices.DeleteFunc(slices.Clone(i.left), func(l leftover) bool { return l.keptBecause == "" && (i.agreed || l.consentBecause == "") })
}

// leftObjects are the left-overs that are wanted.
func (i *inventory) leftObjects(wanted func(leftover) bool) (objects []*unstructured.Unstructured) {
	for _, left := range i.left {
		if wanted(left) {
			objects = append(objects, left.Unstructured)
		}
	}
	return objects
}

// agree asks, if need be, whether left-overs go that may hold data or that another tool created.
func (i *inventory) agree(ctx context.Context, consent Consent) (err error) {
	asked := i.leftObjects(func(l leftover) bool { return l.consentBecause != "" && l.keptBecause == "" })
	if len(asked) == 0 || consent == nil {
		return nil
	}
	i.agreed, err = consent(ctx, i.cluster.question(ctx, asked))
	return err
}

// question asks whether to delete what needs consent.
func (c *Cluster) question(ctx context.Context, objects []*unstructured.Unstructured) string {
	lines := []string{"These objects left the configuration, and may hold data or were created by another tool; all that is in them goes with them:"}
	for _, object := range objects {
		line := "  " + nameOf(object)
		if kindOf(object) == crdKind {
			if n, err := c.instances(ctx, object); err == nil && n != "" {
				line += " " + n
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "Delete them? [y/n]"), "\n")
}

// delete removes left-overs.
func (i *inventory) delete(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, group := range departures(objects) {
		if err := i.cluster.deleteAll(ctx, group, i.patience, whyLeft); err != nil {
			return err
		}
	}
	return nil
}
