package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// crdResource is where definitions live.
var crdResource = schema.GroupVersionResource{Group: crdKind.Group, Version: "v1", Resource: "customresourcedefinitions"}

// firstDoubt is when a definition that is not served is asked why, for the first time; each later time takes twice as
// long.
const firstDoubt = 2 * time.Second

// establish waits until the cluster serves what definitions define.
func (c *Cluster) establish(ctx context.Context, definitions []*unstructured.Unstructured, patience time.Duration) error {
	start := time.Now()
	c.handler.Handle(report.Step{Name: "waiting until the API server serves the definitions"})
	doubt := firstDoubt
	for _, definition := range definitions {
		err := poll(ctx, patience-time.Since(start), func(ctx context.Context) (bool, error) {
			if ok, err := c.serves(ctx, definition); ok || err != nil || time.Since(start) < doubt {
				return ok, err
			}
			doubt *= 2
			return false, c.rejected(ctx, definition)
		})
		if errors.Is(err, errImpatient) || errors.Is(err, errHopeless) {
			return c.explainUnestablished(ctx, definition, time.Since(start))
		}
		if err != nil {
			return c.explainObject(ctx, definition, err)
		}
	}
	c.handler.Handle(report.Step{Name: established(len(definitions)), Elapsed: time.Since(start)})
	return nil
}

// serves tells whether the cluster serves all versions that definition wants served, by its names. The definition
// itself would say whether it is established, but may be a megabyte, which the server, busy with establishing it, would
// write again and again.
func (c *Cluster) serves(ctx context.Context, definition *unstructured.Unstructured) (bool, error) {
	for _, wanted := range servedResources(definition) {
		c.catalog.forget(wanted.GroupVersion())
		all, err := c.catalog.resources(ctx, wanted.GroupVersion())
		if err != nil || !slices.ContainsFunc(all, func(r metav1.APIResource) bool { return isOf(r, definition) }) {
			return false, err
		}
	}
	return true, nil
}

// isOf tells whether resource is what definition defines, and has the names that it wants. One that is being deleted
// cannot be created.
func isOf(resource metav1.APIResource, definition *unstructured.Unstructured) bool {
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	short, _, _ := unstructured.NestedStringSlice(definition.Object, "spec", "names", "shortNames")
	lacks := func(name string) bool { return !slices.Contains(resource.ShortNames, name) }
	return resource.Name == plural && resource.Kind == kind && !slices.ContainsFunc(short, lacks) && slices.Contains(resource.Verbs, "create")
}

// rejected is errHopeless if the names of a definition are in use, if its conversion's authority is none, or if it is
// not there.
func (c *Cluster) rejected(ctx context.Context, definition *unstructured.Unstructured) error {
	live, err := c.objects.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
	final := func(c condition) bool {
		return c.status == "False" && (c.kind == "NamesAccepted" || c.reason == invalidAuthority)
	}
	if apierrors.IsNotFound(err) || slices.ContainsFunc(conditions(live), final) {
		return errHopeless
	}
	return err
}

// explainUnestablished says why a definition is not served.
func (c *Cluster) explainUnestablished(ctx context.Context, definition *unstructured.Unstructured, waited time.Duration) error {
	live, err := c.objects.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &report.Error{Class: report.NotReady, What: "the CRD was deleted while slipway waited for it", Where: nameOf(definition), Object: refOf(definition), Unready: []report.Unready{{Object: *refOf(definition), Reason: "NotFound"}}}
	case err != nil:
		return c.explainObject(ctx, definition, err)
	case live.GetDeletionTimestamp() != nil:
		return c.explainLingering(ctx, live)
	}
	e := &report.Error{
		Class: report.NotReady,
		What:  fmt.Sprintf("the CRD was not established within %s", waited.Round(100*time.Millisecond)),
		Where: nameOf(definition), Object: refOf(definition),
		Err: complaint(live), Next: describe(definition),
		Unready: []report.Unready{{Object: *refOf(definition), Reason: "NotEstablished"}},
	}
	if slices.ContainsFunc(conditions(live), func(c condition) bool { return c.reason == invalidAuthority }) {
		explainAuthority(e, live)
	}
	return e
}

// complaint is the first condition that says why a definition is not accepted.
func complaint(definition *unstructured.Unstructured) error {
	for _, c := range conditions(definition) {
		if bad := c.status == "False" || c.kind == "NonStructuralSchema"; bad && c.message != "" {
			return fmt.Errorf("%s: %s", c.reason, c.message)
		}
	}
	return nil
}

// established counts definitions for people.
func established(n int) string {
	if n == 1 {
		return "1 definition established"
	}
	return fmt.Sprintf("%d definitions established", n)
}

// coming tells of a kind that is not served whether it will be, because the cluster has a definition that wants it.
// Else the error is what is missing, with the definition if there is one for other versions.
func (c *Cluster) coming(ctx context.Context, missing errNoKind) error {
	list, err := c.objects.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return missing
	}
	for _, definition := range list.Items {
		if !defines(&definition, missing.GroupKind()) {
			continue
		}
		if servesVersion(&definition, missing.Version) {
			return nil
		}
		missing.definition = &definition
	}
	return missing
}

// defines tells whether object is the definition of a kind.
func defines(object *unstructured.Unstructured, kind schema.GroupKind) bool {
	return kindOf(object) == crdKind && definedKind(object) == kind
}

// definedKind is what a definition defines.
func definedKind(definition *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// definitionOf is the one of objects that defines kind; nil if none does.
func definitionOf(objects []*unstructured.Unstructured, kind schema.GroupKind) *unstructured.Unstructured {
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return defines(o, kind) })
	if at < 0 {
		return nil
	}
	return objects[at]
}

// servesVersion tells whether a definition wants a version served.
func servesVersion(definition *unstructured.Unstructured, version string) bool {
	return slices.Contains(versionsOf(definition), version)
}

// versionsOf are the versions that a definition wants served.
func versionsOf(definition *unstructured.Unstructured) []string {
	var versions []string
	for _, resource := range servedResources(definition) {
		versions = append(versions, resource.Version)
	}
	return versions
}

// otherVersions says in words what a definition serves.
func otherVersions(definition *unstructured.Unstructured) string {
	versions := versionsOf(definition)
	if len(versions) == 0 {
		return nameOf(definition) + " serves no version"
	}
	return nameOf(definition) + " serves " + strings.Join(versions, ", ")
}

// Inhabited returns, as the cluster has them, those definitions of which it has objects.
func (c *Cluster) Inhabited(ctx context.Context, definitions []*unstructured.Unstructured) (live []*unstructured.Unstructured, err error) {
	for _, d := range definitions {
		object, err := existing(ctx, c.objects.Resource(crdResource), d.GetName())
		if err != nil {
			return nil, c.explainObject(ctx, d, err)
		}
		if object == nil {
			continue
		}
		for _, resource := range servedResources(object) {
			list, err := c.quiet.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			if err == nil && len(list.Items) > 0 {
				live = append(live, object)
				break
			}
		}
	}
	return live, nil
}

// noteGoing says of versions that a live definition serves, and another form of it does not, what that means: for
// objects that are stored in them, and for clients.
func (c *Cluster) noteGoing(definition, live *unstructured.Unstructured) {
	if live == nil {
		return
	}
	for _, text := range goingVersions(definition, live) {
		c.handler.Handle(report.Note{Text: nameOf(definition) + ": " + text})
	}
}

// goingVersions says whether the versions may go that a live definition serves and another form of it does not.
func goingVersions(definition, live *unstructured.Unstructured) (texts []string) {
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	for _, version := range versionsOf(live) {
		switch {
		case slices.Contains(versionsOf(definition), version):
		case versionOf(definition, version) != nil:
			texts = append(texts, version+" is not served any more, so clients that use it are refused; objects may stay stored in it")
		case slices.Contains(stored, version):
			texts = append(texts, version+" may go once no object is stored in it: all are stored as "+storageVersion(definition)+" first; clients that use "+version+" are refused")
		default:
			texts = append(texts, version+" may go: no object is stored in it; clients that use it are refused")
		}
	}
	return texts
}
