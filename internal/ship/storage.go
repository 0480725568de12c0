package ship

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/slipway-dev/slipway/internal/report"
)

// firstAnswer is how long a conversion is asked for where no pods are awaited that serve it.
const firstAnswer = 2 * time.Second

// A retreat takes versions out of a definition in which objects may be stored. The API server refuses that until
// status.storedVersions lacks them, so these objects are stored anew first, by the conversion of the version that runs.
type retreat struct {
	definition *unstructured.Unstructured // as it is in the end
	before     *unstructured.Unstructured // the interim form that stores as the live definition does
	interim    *unstructured.Unstructured // the one that stores in the new version
	versions   []string                   // that go
	to         string                     // the version to store instead
}

// holdDefinition decides what becomes of a definition that the cluster has as live, or not if that is nil. One that is
// not served has no clients yet, and what keeps it from that must not be kept.
func (u *upgrade) holdDefinition(definition, live *unstructured.Unstructured) error {
	unserved := func(c condition) bool { return c.kind == "Established" && c.status == "False" }
	if live == nil || live.GetDeletionTimestamp() != nil || slices.ContainsFunc(conditions(live), unserved) {
		return nil
	}
	interim := u.interimDefinition(definition, live)
	u.hold(definition, interim)
	going, err := leavingVersions(definition, live)
	if err != nil || len(going) == 0 {
		return err
	}
	to := storageVersion(definition)
	before := interim.DeepCopy()
	setStorage(before, storageVersion(live))
	interim = interim.DeepCopy()
	setStorage(interim, to)
	u.held[definition] = interim
	u.interim[before], u.interim[interim] = true, true
	u.retreats = append(u.retreats, retreat{definition, before, interim, going, to})
	return nil
}

// leavingVersions are those in which objects of a live definition may be stored and that another form of it lacks. It
// is an error if the live one lacks the version that they are to be stored in: only what it serves can be converted.
func leavingVersions(definition, live *unstructured.Unstructured) ([]string, error) {
	stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	going := slices.DeleteFunc(stored, func(v string) bool { return versionOf(definition, v) != nil })
	if to := storageVersion(definition); len(going) > 0 && versionOf(live, to) == nil {
		return nil, &report.Error{
			Class: report.Refused,
			What:  "objects may be stored as " + strings.Join(going, ", ") + ", which the new definition lacks",
			Where: nameOf(definition), Object: refOf(definition),
			Hint: "the cluster's definition lacks " + to + ", so it cannot convert them; deploy a definition with both versions first. " +
				"If all objects of the kind may go, delete the definition instead: " + kubectl(definition, "delete"),
			Next: "slipway kubectl get crd " + definition.GetName() + " -o yaml",
		}
	}
	return going, nil
}

// Where a definition has how its objects are converted, and whose certificates the API server trusts for that.
var (
	strategyPath  = fieldpath.MakePathOrDie("spec", "conversion", "strategy")
	authorityPath = fieldpath.MakePathOrDie("spec", "conversion", "webhook", "clientConfig", "caBundle")
)

// brought reports whether a field of an object that the cluster has came with the manifests, so that it goes with them.
// Another's stays: some operators register their own conversion.
func (a *application) brought(live *unstructured.Unstructured, field fieldpath.Path) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if entry.Subresource != "" || entry.Manager != a.manager() && !a.earlier(entry) {
			return false
		}
		fields, err := fieldSet(entry)
		return err == nil && fields.Has(field)
	})
}

// interimDefinition is a definition for two versions of an operator: it has the versions of both. What clients of the
// live one ask for is stored and converted as before, so that no answer of the new operator is needed.
func (a *application) interimDefinition(definition, live *unstructured.Unstructured) *unstructured.Unstructured {
	interim := definition.DeepCopy()
	versions := versionsIn(interim)
	for _, before := range versionsIn(live) {
		if versionOf(definition, before["name"].(string)) == nil {
			versions = append(versions, runtime.DeepCopyJSON(before))
		}
	}
	list := make([]any, 0, len(versions))
	for _, version := range versions {
		list = append(list, version)
	}
	_ = unstructured.SetNestedSlice(interim.Object, list, "spec", "versions") // they are from JSON
	if calls(definition) || calls(live) {
		setStorage(interim, storageVersion(live))
	}
	if dropped := calls(live) && !calls(definition); dropped && a.brought(live, strategyPath) || !dropped && len(versionsIn(live)) > 1 {
		a.copyConversion(interim, live)
	}
	return interim
}

// calls reports whether a definition has objects converted by a webhook.
func calls(definition *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return strategy == "Webhook"
}

// converts reports whether a definition, which may be nil, has objects of different versions converted by a webhook.
func converts(definition *unstructured.Unstructured) bool {
	return definition != nil && len(usedConfigs(definition)) > 0
}

// copyConversion gives a definition the conversion that the cluster has, unless it asks the same Service. An authority
// that another wrote is left out.
func (a *application) copyConversion(definition, live *unstructured.Unstructured) {
	conversion, found, _ := unstructured.NestedMap(live.Object, "spec", "conversion")
	if !found || calls(definition) == calls(live) && slices.Equal(calledBy(definition), calledBy(live)) {
		return
	}
	if !a.brought(live, authorityPath) {
		unstructured.RemoveNestedField(conversion, "webhook", "clientConfig", "caBundle")
	}
	_ = unstructured.SetNestedMap(definition.Object, conversion, "spec", "conversion") // it is from JSON
}

// versionsIn are the versions of a definition, for reading and writing.
func versionsIn(definition *unstructured.Unstructured) (versions []map[string]any) {
	field, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions")
	list, _ := field.([]any)
	for _, item := range list {
		if version, ok := item.(map[string]any); ok {
			if _, named := version["name"].(string); named {
				versions = append(versions, version)
			}
		}
	}
	return versions
}

// versionOf is a version of a definition; nil if it has none of that name.
func versionOf(definition *unstructured.Unstructured, name string) map[string]any {
	for _, version := range versionsIn(definition) {
		if version["name"] == name {
			return version
		}
	}
	return nil
}

// storageVersion is the version in which a definition has objects stored.
func storageVersion(definition *unstructured.Unstructured) string {
	for _, version := range versionsIn(definition) {
		if version["storage"] == true {
			return version["name"].(string)
		}
	}
	return ""
}

// setStorage has objects stored in a version that a definition has.
func setStorage(definition *unstructured.Unstructured, name string) {
	for _, version := range versionsIn(definition) {
		version["storage"] = version["name"] == name
	}
}

// resourceOf is where the objects of a definition are, in one of its versions.
func resourceOf(definition *unstructured.Unstructured, version string) schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// requireConversion reads all objects in the version of a retreat: that fails if the conversion does not answer, while
// writes still need none.
func (u *upgrade) requireConversion(ctx context.Context, r retreat) error {
	if err := u.ship(ctx, []*unstructured.Unstructured{r.before}); err != nil {
		return err
	}
	var err error
	waiting := poll(ctx, u.patience, func(ctx context.Context) (bool, error) {
		err = eachPage(ctx, u.cluster.objects.Resource(r.resource()), func([]unstructured.Unstructured) error { return nil })
		return !apierrors.IsNotFound(err), nil // a server that has served the kind before serves a new version a moment later
	})
	if err = cmp.Or(err, waiting); err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &report.Error{
		Class: classOf(err),
		What:  "objects that are stored as " + strings.Join(r.versions, ", ") + " cannot be read as " + r.to + ", so the new definition would lose them",
		Where: nameOf(r.definition), Object: refOf(r.definition), Err: err,
		Hint: "the operator that runs has to convert them; nothing else has changed",
		Next: describe(r.definition),
	}
}

// resource is where the objects of a retreat are read and written: in its version, unless that is not served.
func (r retreat) resource() schema.GroupVersionResource {
	if served := servedResources(r.interim); len(served) > 0 && !servesVersion(r.interim, r.to) {
		return served[0]
	}
	return resourceOf(r.definition, r.to)
}

// restOf is where to go on with a list that took longer than the server keeps what was there when it began; "" with
// another error. What follows is there later: objects that came meanwhile are stored as they are to be.
func restOf(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// leaveVersions stores the objects of each retreat anew, and writes down that none is stored in the old versions.
func (u *upgrade) leaveVersions(ctx context.Context) error {
	for _, r := range u.retreats {
		if err := u.storeAnew(ctx, r); err != nil {
			return u.explain(ctx, r.definition, err)
		}
	}
	return nil
}

// storeAnew writes each object as it is, which stores it in the version that the definition has for that. One that
// another client has written meanwhile is stored so already.
func (u *upgrade) storeAnew(ctx context.Context, r retreat) error {
	if err := u.ship(ctx, []*unstructured.Unstructured{r.interim}); err != nil {
		return err
	}
	if wait := time.Until(u.settled); wait > 0 { // the server may go on to store as before
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	begin := time.Now()
	count, err := rewrite{
		cluster: u.cluster, resource: u.cluster.objects.Resource(r.resource()), definition: nameOf(r.definition), to: r.to, manager: u.manager(),
		refused: func(object *unstructured.Unstructured, err error) error {
			return fmt.Errorf("store %s as %s: %w", nameOf(object), r.to, err)
		},
	}.all(ctx)
	if err != nil {
		return err
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{"storedVersions": []string{r.to}}})
	if err != nil {
		return err
	}
	if _, err := u.cluster.objects.Resource(crdResource).Patch(ctx, r.definition.GetName(), types.MergePatchType, status, metav1.PatchOptions{FieldManager: u.manager()}, "status"); err != nil {
		return err
	}
	u.cluster.handler.Handle(report.Step{Name: fmt.Sprintf("%s: %d objects are stored as %s, none as %s", nameOf(r.definition), count, r.to, strings.Join(r.versions, ", ")), Elapsed: time.Since(begin)})
	return nil
}

// finishDefinition applies a definition in its final form once its objects can be read in each version. Where no pods
// are awaited that convert them, it is asked for a moment, and the interim form stays if it does not answer.
func (u *upgrade) finishDefinition(ctx context.Context, w *watch, definition *unstructured.Unstructured, simulated bool) error {
	interim := u.held[definition]
	serving := u.wait && !simulated && calls(definition)
	patience := firstAnswer
	if serving {
		patience = w.left()
		if err := w.awaitAuthority(ctx, definition); err != nil {
			return err
		}
	}
	unread, err := u.unreadable(ctx, definition, patience)
	switch {
	case err != nil:
		return u.explain(ctx, definition, err)
	case unread != nil && serving:
		return &report.Error{
			Class: classOf(unread),
			What:  "the new version does not convert objects, so they stay stored as " + storageVersion(interim),
			Where: nameOf(definition), Object: refOf(definition), Err: unread, Next: describe(definition),
		}
	case unread != nil:
		live, err := u.cluster.objects.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
		if err != nil {
			return u.explain(ctx, definition, err)
		}
		u.cluster.handler.Handle(report.Object{Name: nameOf(definition), Object: refOf(definition), Action: actionOf(interim, u.staged[nameOf(definition)].before, live, u.manager()),
			Why: "objects stay stored as " + storageVersion(interim) + " until the conversion webhook answers; then run the command again"})
		return nil
	}
	if err := u.dropConversion(ctx, definition); err != nil {
		return u.explain(ctx, definition, err)
	}
	return u.ship(ctx, []*unstructured.Unstructured{definition})
}

// unreadable is why objects cannot be read in one of the versions that a definition serves, after patience; nil if they
// can. Of versions that the user may not read nothing is known.
func (u *upgrade) unreadable(ctx context.Context, definition *unstructured.Unstructured, patience time.Duration) (why, err error) {
	err = poll(ctx, patience, func(ctx context.Context) (bool, error) {
		for _, resource := range servedResources(definition) {
			if _, why = u.cluster.objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1}); apierrors.IsForbidden(why) {
				why = nil
			}
			if why != nil {
				return false, ctx.Err()
			}
		}
		return true, nil
	})
	if errors.Is(err, errImpatient) {
		err = nil
	}
	return why, err
}

// dropConversion takes the conversion by a webhook out of a definition that is to have none. The authority in it has
// another owner, so it would stay when that is applied, and be refused. The owner of this change is one from whom
// applying takes fields over.
func (u *upgrade) dropConversion(ctx context.Context, definition *unstructured.Unstructured) error {
	live, err := existing(ctx, u.cluster.objects.Resource(crdResource), definition.GetName())
	if err != nil || live == nil || calls(definition) || !calls(live) || !u.brought(live, strategyPath) {
		return err
	}
	const none = `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`
	_, err = u.cluster.objects.Resource(crdResource).Patch(ctx, definition.GetName(), types.MergePatchType, []byte(none), metav1.PatchOptions{FieldManager: FieldManager})
	return err
}

// restoring is the difference of a definition that the server cannot judge yet: objects are stored anew before, or a
// conversion is taken out. It is nil if the definition is no such one.
func (a *application) restoring(ctx context.Context, resource dynamic.ResourceInterface, definition *unstructured.Unstructured) (*Difference, error) {
	live, err := existing(ctx, resource, definition.GetName())
	if err != nil || live == nil {
		return nil, nil // applying it on trial says why
	}
	going, err := leavingVersions(definition, live)
	if err != nil || len(going) == 0 && (calls(definition) || !calls(live) || !a.brought(live, strategyPath)) {
		return nil, err
	}
	live = withoutStatus(definition, live)
	after := live.DeepCopy()
	after.Object["spec"] = definition.DeepCopy().Object["spec"]
	difference := compare(live, after)
	if len(going) > 0 {
		difference.Why = "objects that are stored as " + strings.Join(going, ", ") + " are stored as " + storageVersion(definition) + " first"
	}
	return &difference, nil
}
