package ship

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// An upgrade is how one run of [Cluster.Apply] replaces what is in the cluster. Whatever the version of the operator
// that runs may need stays until the new one is ready: an object has an interim form until then, or is not applied
// before. The interim form of a definition keeps the versions and the storage version that the cluster has, that of a
// role its rules. A configuration of webhooks with other paths, all of which answer by now, comes ahead instead: the
// new version may not know the old ones.
//
// What is held back follows from the objects and the cluster alone, so a run that was killed is continued by the next
// one, and undone by one with the objects of before.
type upgrade struct {
	*application
	objects []*unstructured.Unstructured
	wait    bool // until all is ready

	held     map[*unstructured.Unstructured]*unstructured.Unstructured // interim forms; nil for what is not applied before the end
	ahead    []*unstructured.Unstructured                              // configurations of webhooks that the version which runs answers already
	retreats []retreat
}

// planUpgrade looks what the cluster has, and decides what is held back. Without wait nothing says when the new version
// is ready, so only definitions are: of these the API server can be asked.
func (a *application) planUpgrade(ctx context.Context, objects []*unstructured.Unstructured, wait bool) (*upgrade, error) {
	u := &upgrade{application: a, objects: objects, wait: wait, held: map[*unstructured.Unstructured]*unstructured.Unstructured{}}
	for _, object := range InInstallOrder(objects) { // definitions before their objects
		switch kind := kindOf(object); {
		case kind == crdKind:
			live, err := a.present(ctx, object)
			if err != nil {
				return nil, err
			}
			a.cluster.noteGoing(object, live)
			if err := u.holdDefinition(object, live); err != nil {
				return nil, err
			}
		case !wait:
		case isHook(object) && slices.ContainsFunc(calledBy(object), func(s called) bool { return s.of(objects) }):
			if u.answeredNow(ctx, object) {
				u.ahead = append(u.ahead, object)
			} else {
				u.held[object] = nil
			}
		case converts(definitionOf(objects, kind)):
			if !u.needsNoConversion(ctx, object) {
				u.held[object] = nil
			}
		case isRole(kind):
			live, err := a.present(ctx, object)
			if err != nil {
				return nil, err
			}
			u.hold(object, interimRole(object, live))
		}
	}
	return u, nil
}

// needsNoConversion reports whether a custom resource is new and comes in the version that is stored: the new version
// of the operator may need it to get ready.
func (u *upgrade) needsNoConversion(ctx context.Context, object *unstructured.Unstructured) bool {
	definition := definitionOf(u.objects, kindOf(object))
	if interim := u.held[definition]; interim != nil {
		definition = interim
	}
	live, err := u.present(ctx, object)
	return err == nil && live == nil && object.GroupVersionKind().Version == storageVersion(definition)
}

// present is an object as the cluster has it; nil if it has none, or not yet its kind.
func (a *application) present(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, object, err := a.cluster.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return nil, nil
	}
	if err != nil {
		return nil, a.explain(ctx, object, err)
	}
	live, err := existing(ctx, resource, object.GetName())
	return live, a.explain(ctx, object, err)
}

// hold has an object applied in its interim form first, if that is another one.
func (u *upgrade) hold(object, interim *unstructured.Unstructured) {
	if interim != nil && !reflect.DeepEqual(interim.Object, object.Object) {
		u.held[object] = interim
		u.interim[interim] = true
	}
}

// isRole reports whether objects of a kind hold rules of access.
func isRole(kind schema.GroupKind) bool {
	return kind.Group == "rbac.authorization.k8s.io" && (kind.Kind == "Role" || kind.Kind == "ClusterRole")
}

// interimRole is a role that still has the rules of before: the version that runs needs them until it is replaced.
func interimRole(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	if _, aggregated := object.Object["aggregationRule"]; aggregated || live == nil {
		return nil
	}
	rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
	before, _, _ := unstructured.NestedSlice(live.Object, "rules")
	all := slices.Clone(rules)
	for _, rule := range before {
		if !slices.ContainsFunc(all, func(r any) bool { return reflect.DeepEqual(r, rule) }) {
			all = append(all, rule)
		}
	}
	interim := object.DeepCopy()
	interim.Object["rules"] = all
	return interim
}

// prepare has the server judge everything before anything changes: what it refuses leaves the cluster as it is. Custom
// resources are left out, since their definitions change with them, and so is what webhooks judge that go.
func (u *upgrade) prepare(ctx context.Context, left []*unstructured.Unstructured) error {
	u.cluster.handler.Handle(report.Step{Name: "trying the objects on the server"})
	judge := *u.application
	judge.dry, judge.cluster = true, u.cluster.silently()
	for _, object := range InInstallOrder(u.objects) {
		if definitionOf(u.objects, kindOf(object)) != nil || asked(kindOf(object).Group, left) {
			continue
		}
		form := object
		if interim := u.held[object]; interim != nil {
			form = interim
		}
		_, err := judge.preview(ctx, form, u.objects)
		if form != object && isRole(kindOf(object)) && apierrors.IsForbidden(err) {
			delete(u.held, object) // this user may not grant what the role had, so that it ends at once
			_, err = judge.preview(ctx, object, u.objects)
		}
		if err != nil && u.refuses(ctx, object, err, left) {
			_, object, _ = u.cluster.locate(ctx, object, 0)
			return judge.explain(ctx, object, err)
		}
	}
	for _, r := range u.retreats {
		if err := u.requireConversion(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// refuses reports whether an answer to a trial says that the deployment cannot be done. An answer may say nothing of
// the object: it may be about to go, or its namespace, and a quota or a policy may change. So where nothing is taken
// from the version that runs, only what the server says of fields counts. Else every refusal does: webhooks that are
// left over go before that version is replaced.
func (u *upgrade) refuses(ctx context.Context, object *unstructured.Unstructured, err error, left []*unstructured.Unstructured) bool {
	takes := len(u.interim) > 0 || len(u.retreats) > 0 || len(left) > 0
	switch {
	case apierrors.IsForbidden(err) && (apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || u.limits(object.GetNamespace())):
		return false
	case takes && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsConflict(err)):
	case apierrors.IsInvalid(err) && u.alone(ctx, object, err), apierrors.IsConflict(err) && len(causesOf(err)) > 0:
	case apierrors.IsInternalError(err) && u.hasUnknownField(ctx, object):
	default:
		return false
	}
	live, unread := u.present(ctx, object)
	return unread != nil || live == nil || live.GetDeletionTimestamp() == nil
}

// hasUnknownField reports whether an object has a field that no other object could make known. Applying it is then an
// internal error to the server, as are webhooks that do not answer; creating it is a bad request.
func (u *upgrade) hasUnknownField(ctx context.Context, object *unstructured.Unstructured) bool {
	custom, unknown := u.cluster.isCustom(ctx, object)
	return !custom && unknown == nil && apierrors.IsBadRequest(u.cluster.creatable(ctx, object))
}

// alone reports whether what the server says of an object's fields depends on no other object. Webhooks that judge
// custom resources may look for others, which come first, and another Service may give up an address or a port.
func (u *upgrade) alone(ctx context.Context, object *unstructured.Unstructured, err error) bool {
	causes := causesOf(err)
	if custom, unknown := u.cluster.isCustom(ctx, object); custom || unknown != nil || len(causes) == 0 {
		return false
	}
	return kindOf(object) != serviceKind || !slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
		return strings.HasSuffix(strings.ToLower(cause.Field), "nodeport") || strings.HasPrefix(cause.Field, "spec.clusterIP")
	})
}

// asked reports whether webhooks of configurations are called for objects of a group.
func asked(group string, configurations []*unstructured.Unstructured) bool {
	for _, configuration := range configurations {
		for _, hook := range hooksOf(configuration) {
			rules, _, _ := unstructured.NestedSlice(hook, "rules")
			for _, rule := range rules {
				fields, _ := rule.(map[string]any)
				groups, _, _ := unstructured.NestedStringSlice(fields, "apiGroups")
				if slices.Contains(groups, group) || slices.Contains(groups, "*") {
					return true
				}
			}
		}
	}
	return false
}

// limits reports whether the objects say how much a namespace may hold.
func (u *upgrade) limits(namespace string) bool {
	return namespace != "" && slices.ContainsFunc(u.objects, func(o *unstructured.Unstructured) bool {
		return o.GetNamespace() == namespace && slices.Contains([]string{"ResourceQuota", "LimitRange"}, kindOf(o).String())
	})
}

// first are the objects, or their interim forms, that do not wait for the new version.
func (u *upgrade) first() (all []*unstructured.Unstructured) {
	for _, object := range u.objects {
		interim, held := u.held[object]
		switch {
		case !held:
			all = append(all, object)
		case interim != nil:
			all = append(all, interim)
		}
	}
	return all
}

// stages are those objects in the order in which they are applied. What comes ahead is applied before workloads.
func (u *upgrade) stages() [][]*unstructured.Unstructured {
	stages := shipments(filter(u.first(), func(o *unstructured.Unstructured) bool { return !slices.Contains(u.ahead, o) }))
	if len(u.ahead) == 0 {
		return stages
	}
	at := slices.IndexFunc(stages, func(stage []*unstructured.Unstructured) bool { return rank(kindOf(stage[0])) >= workloadRank })
	if at < 0 {
		at = len(stages)
	}
	return slices.Insert(stages, at, u.ahead)
}

// finish waits for the new version, and applies what was held back for it: definitions first, for custom resources need
// them, then what the webhooks judge, then the webhooks, and roles last.
func (u *upgrade) finish(ctx context.Context) error {
	w := u.cluster.watchFor(u.objects, u.patience)
	if u.wait {
		if err := w.awaitAll(ctx, u.first()); err != nil {
			return u.unfinished(err)
		}
	}
	simulated := len(u.cluster.Simulated(ctx, u.objects)) > 0
	var resources []*unstructured.Unstructured
	for _, shipment := range shipments(u.heldObjects()) {
		for _, object := range shipment {
			var err error
			switch kind := kindOf(object); {
			case kind == crdKind:
				err = u.finishDefinition(ctx, w, object, simulated)
			case isHook(object) && !simulated:
				err = u.register(ctx, w, object)
			case isRole(kind): // last
			default:
				resources = append(resources, object)
				err = u.one(ctx, object)
			}
			if err != nil {
				return u.unfinished(err)
			}
		}
	}
	for _, object := range u.heldObjects() {
		if !isRole(kindOf(object)) {
			continue
		}
		if err := u.one(ctx, object); err != nil {
			return err
		}
	}
	if !u.wait {
		return nil
	}
	if err := w.awaitAll(ctx, resources); err != nil {
		return err
	}
	return w.awaitTrust(ctx, u.objects)
}

// heldObjects are those that were held back, in the order of the objects.
func (u *upgrade) heldObjects() []*unstructured.Unstructured {
	return filter(u.objects, func(o *unstructured.Unstructured) bool {
		_, held := u.held[o]
		return held
	})
}

// unfinished adds to an error what an upgrade that cannot be finished leaves, and the way back.
func (u *upgrade) unfinished(err error) error {
	e, ok := errors.AsType[*report.Error](err)
	held := u.heldObjects()
	if !ok || len(held) == 0 {
		return err
	}
	names := make([]string, 0, len(held))
	for _, object := range held {
		names = append(names, nameOf(object))
	}
	extended := *e
	extended.Hint = strings.TrimPrefix(e.Hint+"\n", "\n") + "held back until the new version is ready: " + strings.Join(names, ", ") +
		"\nto continue, correct the cause and deploy again; to go back, deploy the previous configuration, or undeploy if there was none"
	return &extended
}

// register brings a configuration of webhooks. Webhooks that the API server did not call before, or whose failures it
// ignored, get failurePolicy Ignore first, and Fail only after the API server has their authority and they answer:
// until then each write that they judge would be refused.
func (u *upgrade) register(ctx context.Context, w *watch, object *unstructured.Unstructured) error {
	live, err := u.present(ctx, object)
	if err != nil {
		return err
	}
	if soft := ignoring(object, live, u.objects); soft != nil {
		u.interim[soft] = true
		if err := u.one(ctx, soft); err != nil {
			return err
		}
		if err := w.awaitAuthority(ctx, soft); err != nil {
			return err
		}
		if err := w.requireAnswers(ctx, soft, u.objects); err != nil {
			return err
		}
	}
	return u.one(ctx, object)
}

// ignoring is a configuration in which the failures of webhooks are ignored that live, which may be nil, does not have
// with another policy; nil if there are none.
func ignoring(object, live *unstructured.Unstructured, objects []*unstructured.Unstructured) *unstructured.Unstructured {
	fails := map[string]bool{}
	for _, hook := range hooksOf(live) {
		if name, _ := hook["name"].(string); hook["failurePolicy"] != "Ignore" {
			fails[name] = true
		}
	}
	soft, changed := object.DeepCopy(), false
	for _, hook := range hooksOf(soft) {
		name, _ := hook["name"].(string)
		_, own, _ := unstructured.NestedMap(hook, "clientConfig", "service")
		if fails[name] || !own || hook["failurePolicy"] == "Ignore" {
			continue
		}
		hook["failurePolicy"] = "Ignore"
		changed = true
	}
	if !changed || !slices.ContainsFunc(calledBy(object), func(s called) bool { return s.of(objects) }) {
		return nil
	}
	return soft
}

// hooksOf are the webhooks of a configuration, which may be nil, for reading and writing.
func hooksOf(configuration *unstructured.Unstructured) (hooks []map[string]any) {
	if configuration == nil {
		return nil
	}
	field, _, _ := unstructured.NestedFieldNoCopy(configuration.Object, "webhooks")
	list, _ := field.([]any)
	for _, item := range list {
		if hook, ok := item.(map[string]any); ok {
			hooks = append(hooks, hook)
		}
	}
	return hooks
}
