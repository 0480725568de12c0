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
	member bool   // the set's own
	stays  string // why it is kept whatever the user agrees to; empty if nothing keeps it
	data   bool   // only the user's consent deletes it
}

// why is why a leftover is kept.
func (l leftover) why() string {
	switch {
	case !l.member:
		return l.stays + "; `" + kubectl(l.Unstructured, "label") + " " + partOfLabel + "-` removes the label"
	case l.stays != "":
		return l.stays
	}
	return whyLeft + " and may hold data: `" + kubectl(l.Unstructured, "delete") + "` deletes it"
}

// judge decides what becomes of objects that have the set's label.
func (i *inventory) judge(ctx context.Context, objects []*unstructured.Unstructured) (all []leftover, err error) {
	staying := slices.Clone(i.coming)
	if i.keepsParent() {
		staying = append(staying, i.set.parent(nil, nil))
	}
	for _, object := range objects {
		left := leftover{Unstructured: object, member: i.has(object), stays: i.whyKept(object)}
		if left.stays == "" {
			if left.data, err = i.cluster.holdsData(ctx, object); err != nil {
				return nil, i.cluster.explainObject(ctx, object, err)
			}
		} else {
			staying = append(staying, object)
		}
		all = append(all, left)
	}
	for at, left := range all {
		if kept := firstWithin(left.Unstructured, staying); kept != nil && left.stays == "" {
			all[at].stays = whyLeft + ", but " + nameOf(kept) + " would be deleted with it"
		}
	}
	return all, nil
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

// hooks are the left-over webhook configurations that go, first of all.
func (i *inventory) hooks() []*unstructured.Unstructured {
	return i.leftObjects(func(l leftover) bool { return isHook(l.Unstructured) && l.stays == "" })
}

// going are the left-overs that go last: those that may hold data only if the user agrees.
func (i *inventory) going() []*unstructured.Unstructured {
	return i.leftObjects(func(l leftover) bool { return !isHook(l.Unstructured) && l.stays == "" && (i.agreed || !l.data) })
}

// staying are the left-overs that are kept.
func (i *inventory) staying() []leftover {
	return slices.DeleteFunc(slices.Clone(i.left), func(l leftover) bool { return l.stays == "" && (i.agreed || !l.data) })
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

// agree asks, if need be, whether left-overs go that may hold data.
func (i *inventory) agree(ctx context.Context, consent Consent) (err error) {
	asked := i.leftObjects(func(l leftover) bool { return l.data && l.stays == "" })
	if len(asked) == 0 || consent == nil {
		return nil
	}
	i.agreed, err = consent(ctx, i.cluster.question(ctx, asked))
	return err
}

// question asks whether to delete what may hold data.
func (c *Cluster) question(ctx context.Context, objects []*unstructured.Unstructured) string {
	lines := []string{"These objects left the configuration and may hold data; all that is in them goes with them:"}
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
