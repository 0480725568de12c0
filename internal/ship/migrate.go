package ship

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/internal/report"
)

const (
	migrationGroup = "storagemigration.k8s.io"
	migrationKind  = "StorageVersionMigration"
	// unattended is how long a migration may lie there before it is clear that nothing in the cluster carries it out.
	unattended = 15 * time.Second
	// mostRefused is how many objects that the server does not take are named.
	mostRefused = 5
)

// A Migration stores all objects of a definition anew, in the version in which the definition stores.
type Migration struct {
	Kind    string        // the definition's name, or its kind, plural, singular or short name
	To      string        // the version that is expected; "" takes that of the definition
	Timeout time.Duration // for all of it
	DryRun  bool          // find out what there is to do, and do nothing
}

// Migrated is what a migration did. The JSON form is stable.
type Migrated struct {
	Definition string   `json:"definition"`
	To         string   `json:"to"`
	From       []string `json:"from"`              // other versions in which objects may have been stored; empty if there were none
	Objects    int      `json:"objects,omitempty"` // how many were stored anew, or would be; 0 if the cluster did it
	By         string   `json:"by,omitempty"`      // who stored them: cluster or slipway
	DryRun     bool     `json:"dryRun,omitempty"`
}

// Migrate carries out a migration: by the cluster's StorageVersionMigration where that is served, else object by
// object. It can be ended and begun again at any time. That objects are stored in one version only is written down
// last, in the definition's status.storedVersions.
func (c *Cluster) Migrate(ctx context.Context, m Migration) (Migrated, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.Timeout, errMigrationTimeout)
	defer cancel()
	done, err := c.migrate(ctx, m)
	if err != nil && errors.Is(context.Cause(ctx), errMigrationTimeout) {
		err = &report.Error{Class: report.Timeout, What: "not all objects are stored anew yet", Where: m.Kind, Err: errMigrationTimeout,
			Hint: "the same command goes on; --timeout gives it more time", Next: "slipway migrate " + m.Kind}
	}
	return done, err
}

var (
	errMigrationTimeout = errors.New("the time is up")
	errUnattended       = errors.New("nothing in the cluster carries out migrations")
)

func (c *Cluster) migrate(ctx context.Context, m Migration) (Migrated, error) {
	definition, err := c.definitionOf(ctx, m.Kind)
	if err != nil {
		return Migrated{}, err
	}
	done := Migrated{Definition: definition.GetName(), To: storageVersion(definition), DryRun: m.DryRun}
	if m.To != "" && m.To != done.To {
		return done, storedOtherwise(definition, m.To)
	}
	stored, _, _ := unstructured.NestedStringSlice(definition.Object, "status", "storedVersions")
	done.From = slices.DeleteFunc(stored, func(v string) bool { return v == done.To })
	if len(done.From) == 0 {
		return done, nil
	}
	for _, from := range done.From {
		if lost := Lost(definition, from, done.To); len(lost) > 0 {
			return done, losesFields(definition, from, done.To, lost)
		}
	}
	w := migrating{cluster: c, definition: definition, to: done.To}
	if m.DryRun {
		done.Objects, err = w.count(ctx)
	} else {
		done.By, done.Objects, err = w.all(ctx)
	}
	return done, c.explainObject(ctx, definition, err)
}

// definitionOf finds a definition by any of its names.
func (c *Cluster) definitionOf(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	var found []unstructured.Unstructured
	err := eachPage(ctx, c.objects.Resource(crdResource), func(page []unstructured.Unstructured) error {
		for _, definition := range page {
			if slices.Contains(namesOf(&definition), strings.ToLower(name)) {
				found = append(found, definition)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, c.explain(ctx, err)
	case len(found) == 0:
		return nil, &report.Error{Class: report.Refused, What: "the cluster has no such definition", Where: name,
			Hint: "expected a kind that a CRD defines, such as CronJob, cronjobs or cronjobs.batch.example.com", Next: "slipway kubectl get crds"}
	case len(found) > 1:
		var all []string
		for _, definition := range found {
			all = append(all, definition.GetName())
		}
		return nil, &report.Error{What: "several definitions have this name", Where: name, Hint: "it may mean " + strings.Join(all, ", "), Next: "slipway migrate " + all[0], Code: report.UsageCode}
	}
	return &found[0], nil
}

// namesOf returns the names by which users know a definition, in small letters.
func namesOf(definition *unstructured.Unstructured) []string {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	names := []string{definition.GetName()}
	for _, field := range []string{"kind", "plural", "singular"} {
		if name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", field); name != "" {
			names = append(names, strings.ToLower(name), strings.ToLower(name+"."+group))
		}
	}
	short, _, _ := unstructured.NestedStringSlice(definition.Object, "spec", "names", "shortNames")
	return append(names, short...)
}

// storedOtherwise is the error for a version in which the definition does not store.
func storedOtherwise(definition *unstructured.Unstructured, to string) error {
	e := &report.Error{What: "the definition has objects stored as " + storageVersion(definition) + ", not as " + to, Where: nameOf(definition), Object: refOf(definition),
		Hint: "mark the type of " + to + " with +kubebuilder:storageversion, and no other; then install or deploy the definition", Next: "slipway install"}
	if versionOf(definition, to) == nil {
		e.Hint = "it has no version " + to + " yet"
	}
	return e
}

// losesFields is the refusal of a migration that would drop what objects have.
func losesFields(definition *unstructured.Unstructured, from, to string, lost []string) error {
	some := strings.Join(lost[:min(len(lost), mostRefused)], ", ")
	return &report.Error{What: fmt.Sprintf("objects would lose fields that %s has and %s has not: %s", from, to, some), Where: nameOf(definition), Object: refOf(definition),
		Hint: "the definition has no conversion (spec.conversion.strategy is None); deploy the operator with its conversion webhook first, as slipway deploy does; nothing was changed",
		Next: "slipway deploy"}
}

// migrating is a migration that has something to do.
type migrating struct {
	cluster    *Cluster
	definition *unstructured.Unstructured
	to         string
}

// all stores all objects, writes that down, and returns who stored them, and how many if it was slipway.
func (w migrating) all(ctx context.Context) (by string, objects int, err error) {
	if err := settle(ctx); err != nil {
		return "", 0, err
	}
	by, err = "cluster", w.byCluster(ctx)
	if errors.Is(err, errUnattended) {
		by = "slipway"
		objects, err = w.bySlipway(ctx)
	}
	if err == nil {
		err = w.writeDown(ctx)
	}
	return by, objects, err
}

func (w migrating) resource() schema.GroupVersionResource {
	if served := servedResources(w.definition); len(served) > 0 && !servesVersion(w.definition, w.to) {
		return served[0]
	}
	return resourceOf(w.definition, w.to)
}

// count returns how many objects there are.
func (w migrating) count(ctx context.Context) (n int, err error) {
	err = eachPage(ctx, w.cluster.objects.Resource(w.resource()), func(page []unstructured.Unstructured) error {
		n += len(page)
		return nil
	})
	return n, err
}

// byCluster has the cluster store the objects. It returns errUnattended if that is not possible.
func (w migrating) byCluster(ctx context.Context) error {
	version, err := w.served(ctx)
	if err != nil {
		return err
	}
	resource := w.cluster.objects.Resource(schema.GroupVersionResource{Group: migrationGroup, Version: version, Resource: "storageversionmigrations"})
	name := FieldManager + "-" + w.definition.GetName()
	live, err := existing(ctx, resource, name)
	if live != nil && (ended(live) || live.GetAnnotations()[migratedForm] != w.form()) { // of another day
		err = resource.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: uidOf(live)}})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		live = nil
	}
	if err == nil && live == nil {
		group, _, _ := unstructured.NestedString(w.definition.Object, "spec", "group")
		live, err = resource.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": migrationGroup + "/" + version, "kind": migrationKind,
			"metadata": map[string]any{"name": name, "annotations": map[string]any{migratedForm: w.form()}},
			"spec":     map[string]any{"resource": map[string]any{"group": group, "resource": w.resource().Resource}},
		}}, metav1.CreateOptions{FieldManager: FieldManager})
	}
	if apierrors.IsAlreadyExists(err) { // another command begins the same
		err = nil
	}
	if apierrors.IsForbidden(err) {
		return errUnattended // who may write the objects may do it without this
	}
	if err != nil {
		return err
	}
	begin, shown := time.Now(), time.Now()
	err = poll(ctx, forever, func(ctx context.Context) (bool, error) {
		live, err = existing(ctx, resource, name)
		switch {
		case err != nil:
			return false, err
		case live == nil: // another command, which waited for it, too, has removed it
			return false, errUnattended
		}
		if len(conditions(live)) == 0 && time.Since(begin) > unattended {
			return false, errUnattended
		}
		if time.Since(shown) > signOfLife {
			shown = time.Now()
			w.cluster.handler.Handle(report.Step{Name: fmt.Sprintf("%s: the cluster stores its objects as %s: %s", nameOf(w.definition), w.to, stateOf(live))})
		}
		return ended(live), nil
	})
	if err != nil && !errors.Is(err, errUnattended) {
		return err // the cluster goes on with it
	}
	if live == nil {
		return err
	}
	if removal := resource.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: uidOf(live)}}); removal != nil && !apierrors.IsNotFound(removal) {
		err = cmp.Or(err, removal)
	}
	if failure := failureOf(live); err == nil && failure != "" {
		return &report.Error{Class: report.Refused, What: "the cluster could not store all objects as " + w.to, Where: nameOf(w.definition), Object: refOf(w.definition), Err: errors.New(failure),
			Hint: "objects that a webhook or the schema refuses as they are have to be mended first", Next: describe(w.definition)}
	}
	return err
}

// migratedForm annotates a StorageVersionMigration with the form of the definition for which it was begun.
const migratedForm = "slipway.dev/definition"

// form identifies a definition and its versions: those of another form may be stored otherwise.
func (w migrating) form() string {
	return fmt.Sprintf("%s.%d", w.definition.GetUID(), w.definition.GetGeneration())
}

// settle waits until all API servers store as the definition says: it may have been written a moment ago.
func settle(ctx context.Context) error {
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forever is longer than any operation takes, whose context ends before.
const forever = 365 * 24 * time.Hour

// served returns the version in which the cluster serves migrations, or errUnattended.
func (w migrating) served(ctx context.Context) (string, error) {
	for _, version := range []string{"v1", "v1beta1"} {
		_, err := w.cluster.catalog.find(ctx, schema.GroupVersionKind{Group: migrationGroup, Version: version, Kind: migrationKind})
		if _, unserved := errors.AsType[errNoKind](err); !unserved {
			return version, err
		}
	}
	return "", errUnattended
}

// stateOf says how far a StorageVersionMigration is.
func stateOf(migration *unstructured.Unstructured) string {
	for _, c := range conditions(migration) {
		if c.kind == "Running" {
			return cmp.Or(c.message, "it has begun")
		}
	}
	return "it has not begun; a cluster that has a new kind looks for it every half minute"
}

// ended reports whether a StorageVersionMigration has succeeded or failed.
func ended(migration *unstructured.Unstructured) bool {
	return slices.ContainsFunc(conditions(migration), func(c condition) bool {
		return (c.kind == "Succeeded" || c.kind == "Failed") && c.status == "True"
	})
}

// failureOf returns why a StorageVersionMigration has failed, or "".
func failureOf(migration *unstructured.Unstructured) string {
	for _, c := range conditions(migration) {
		if c.kind == "Failed" && c.status == "True" {
			return cmp.Or(c.message, c.reason, "Failed")
		}
	}
	return ""
}

// bySlipway stores each object anew. Those that the server refuses do not keep it from others.
func (w migrating) bySlipway(ctx context.Context) (int, error) {
	var refused []error
	refusals := 0
	count, err := rewrite{
		cluster: w.cluster, resource: w.cluster.objects.Resource(w.resource()), definition: nameOf(w.definition), to: w.to, manager: FieldManager,
		refused: func(object *unstructured.Unstructured, err error) error {
			if !ofObject(err) {
				return err
			}
			if refusals++; refusals <= mostRefused {
				refused = append(refused, fmt.Errorf("%s: %w", nameOf(object), err))
			}
			return nil
		},
	}.all(ctx)
	if err != nil || refusals == 0 {
		return count, err
	}
	return count, &report.Error{Class: report.Refused, What: fmt.Sprintf("%d of %d objects cannot be stored as %s", refusals, count, w.to), Where: nameOf(w.definition), Object: refOf(w.definition),
		Err: errors.Join(refused...), Hint: "mend these objects; all others are stored, and the definition still lists the old versions", Next: "slipway migrate " + w.definition.GetName()}
}

// ofObject reports whether the server refuses an object, as against any request at this moment.
func ofObject(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// writeDown makes status.storedVersions say that all objects are stored in one version, unless it says so already or
// the definition has changed meanwhile. A cluster that stored the objects writes it down, too, perhaps in this moment.
func (w migrating) writeDown(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return w.tryToWriteDown(ctx) })
}

func (w migrating) tryToWriteDown(ctx context.Context) error {
	resource := w.cluster.objects.Resource(crdResource)
	live, err := resource.Get(ctx, w.definition.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if live.GetUID() != w.definition.GetUID() || storageVersion(live) != w.to || live.GetGeneration() != w.definition.GetGeneration() {
		return &report.Error{Class: report.Conflict, What: "the definition has changed meanwhile", Where: nameOf(w.definition), Object: refOf(w.definition),
			Hint: "objects may have been stored as it was before", Next: "slipway migrate " + w.definition.GetName()}
	}
	if stored, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions"); slices.Equal(stored, []string{w.to}) {
		return nil
	}
	status, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": live.GetResourceVersion()},
		"status":   map[string]any{"storedVersions": []string{w.to}},
	})
	if err != nil {
		return err
	}
	_, err = resource.Patch(ctx, live.GetName(), types.MergePatchType, status, metav1.PatchOptions{FieldManager: FieldManager}, "status")
	return err
}

// uidOf returns the identity of an object, for preconditions.
func uidOf(object *unstructured.Unstructured) *types.UID {
	uid := object.GetUID()
	return &uid
}
