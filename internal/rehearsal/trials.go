package rehearsal

import (
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/internal/ship"
)

// trials are requests that both revisions answer, and the answers of the old one.
type trials struct {
	*upgrade
	refused   map[string]error           // targets that the old revision refuses already
	manifests []manifest                 // those that it takes
	lossy     map[string]map[string]bool // fields that writing in another version changes, by target
}

func newTrials(u *upgrade) *trials {
	return &trials{upgrade: u, refused: map[string]error{}, lossy: map[string]map[string]bool{}}
}

// learn tries all requests with the old revision.
func (t *trials) learn(ctx context.Context) error {
	for _, target := range targetsOf(t.Cluster, t.before) {
		if err := t.tryAgain(ctx, target); err != nil {
			t.refused[target.name()] = err
			t.report.Untried = append(t.report.Untried, target.name()+": the old revision refuses it: "+err.Error())
			continue
		}
		if target.verb != write {
			continue
		}
		changed, err := t.roundTrip(ctx, target)
		if err != nil {
			return err
		}
		t.lossy[target.name()] = map[string]bool{}
		for _, c := range changed {
			t.lossy[target.name()][c.path] = true
		}
	}
	for _, k := range t.kinds {
		if !t.before.has(k) {
			t.report.Untried = append(t.report.Untried, k.Kind+": there is no object of this kind")
		}
	}
	for _, sample := range t.Samples {
		for _, m := range manifestsOf(t.placed(sample)) {
			if t.learnManifest(ctx, &m) {
				t.manifests = append(t.manifests, m)
			}
		}
	}
	return ctx.Err()
}

// tryAgain makes a request, and again for a moment if it is refused: a server may be slow to learn of webhooks.
func (t *trials) tryAgain(ctx context.Context, target target) (err error) {
	_ = wait.PollUntilContextTimeout(ctx, time.Second/2, 3*time.Second, true, func(ctx context.Context) (bool, error) {
		err = target.try(ctx)
		return err == nil, nil
	})
	return err
}

// learnManifest has a manifest made twice: what differs then is made by chance. It reports whether the old revision
// takes the manifest.
func (t *trials) learnManifest(ctx context.Context, m *manifest) bool {
	first, err := t.make(ctx, m.object)
	if err != nil {
		return false
	}
	second, err := t.make(ctx, m.object)
	if err != nil {
		return false
	}
	m.made, m.varies = first.Object, map[string]bool{}
	for _, c := range changesBetween(first.Object, second.Object) {
		m.varies[c.path] = true
	}
	return true
}

// possible reports whether the old revision answers a request: only then does it say something of the new one.
func (t *trials) possible(target target) bool { return t.refused[target.name()] == nil }

// compare tries all requests with the new revision.
func (t *trials) compare(ctx context.Context) error {
	for _, target := range targetsOf(t.Cluster, t.before) {
		if target.verb == write && t.possible(target) {
			if err := t.compareRoundTrip(ctx, target); err != nil {
				return err
			}
		}
	}
	for _, target := range t.added() {
		if err := target.try(ctx); err != nil {
			t.report.add(target.refused(upgradePhase, err))
		} else if target.verb == write {
			if err := t.compareRoundTrip(ctx, target); err != nil {
				return err
			}
		}
	}
	refused := map[string]bool{} // samples, whose variants say nothing more then
	for _, m := range t.manifests {
		if name := ship.NameOf(m.object); !refused[name] {
			refused[name] = !t.compareMade(ctx, m) && m.without == ""
		}
	}
	return ctx.Err()
}

// added are the requests in versions that the old revision does not serve.
func (t *trials) added() (targets []target) {
	now := kindsOf(t.To.Objects)
	for _, was := range t.before.resources {
		k, ok := findKind(now, was.GroupKind)
		if !ok || was.any() == nil {
			continue
		}
		for _, version := range k.versions {
			if slices.Contains(was.versions, version) {
				continue
			}
			for _, verb := range []verb{read, write} {
				targets = append(targets, target{was.any(), version, verb, t.at(k, version, was.Namespace)})
			}
		}
	}
	return targets
}

// compareRoundTrip finds what writing in a version changes, and did not change with the old revision.
func (t *trials) compareRoundTrip(ctx context.Context, target target) error {
	changed, err := t.roundTrip(ctx, target)
	for _, c := range changed {
		if !t.lossy[target.name()][c.path] {
			t.report.add(Finding{Phase: upgradePhase, Class: LossyConversion, Object: ship.NameOf(target.object), Versions: []string{target.version},
				Field: c.path, Before: c.before, After: c.after, Text: "written as " + target.version + ", it was " + text(c.before) + " and " + now(c), Fatal: true})
		}
	}
	return err
}

// compareMade compares what the new revision makes of a manifest with what the old one did. It reports whether the
// manifest is taken.
func (t *trials) compareMade(ctx context.Context, m manifest) bool {
	name := ship.NameOf(m.object)
	made, err := t.make(ctx, m.object)
	if err != nil {
		t.report.add(Finding{Phase: upgradePhase, Class: WriteRefused, Object: name, Field: m.without, Text: m.say() + " is refused: " + err.Error(), Fatal: true})
		return false
	}
	for _, c := range chosenByUsers(changesBetween(m.made, made.Object)) {
		if m.varies[c.path] || isTime(c.before) && isTime(c.after) {
			continue
		}
		if _, given := leavesOf(m.object.Object)[c.path]; given {
			continue // no default: objects that have the field are compared themselves
		}
		t.report.add(Finding{Phase: upgradePhase, Class: DefaultChanged, Object: name, Field: c.path, Before: c.before, After: c.after,
			Text: "new objects had " + text(c.before) + ", now " + found(c), Fatal: true})
	}
	return true
}

// placed is a sample with its namespace.
func (t *trials) placed(sample *unstructured.Unstructured) *unstructured.Unstructured {
	if k, own := findKind(t.kinds, sample.GroupVersionKind().GroupKind()); own && k.namespaced && sample.GetNamespace() == "" {
		sample = sample.DeepCopy()
		sample.SetNamespace(metav1.NamespaceDefault)
	}
	return sample
}

// make has the API server make a sample, on trial.
func (t *trials) make(ctx context.Context, sample *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	k, own := findKind(t.kinds, sample.GroupVersionKind().GroupKind())
	if !own {
		return nil, apierrors.NewNotFound(k.resource("").GroupResource(), sample.GetName())
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	client := t.at(k, sample.GroupVersionKind().Version, sample.GetNamespace())
	return client.Create(ctx, asNew(sample), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// at is where objects of a kind are, in a version and a namespace.
func (t *trials) at(k kind, version, namespace string) dynamic.ResourceInterface {
	if !k.namespaced {
		return t.Cluster.Client().Resource(k.resource(version))
	}
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return t.Cluster.Client().Resource(k.resource(version)).Namespace(namespace)
}

// roundTrip writes an object in a version as it is read in that version, as a client of that version would. It begins
// with the object as it was at the beginning, returns what this has changed in the stored object, and puts that right
// again.
func (t *trials) roundTrip(ctx context.Context, target target) ([]change, error) {
	was := t.before.resources[identityOf(target.object)]
	if target.version == was.storage || was.views[was.storage] == nil {
		return nil, nil
	}
	stored := t.at(was.kind, was.storage, was.Namespace)
	restore := func() (*unstructured.Unstructured, error) {
		live, err := stored.Get(ctx, was.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		original := was.views[was.storage].DeepCopy()
		for _, name := range []string{"metadata", "status"} { // these are the operator's by now
			if value, ok := live.Object[name]; ok {
				original.Object[name] = value
			}
		}
		return stored.Update(ctx, original, metav1.UpdateOptions{})
	}
	var changed []change
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		before, err := restore()
		if err != nil {
			return err
		}
		view, err := target.client.Get(ctx, was.Name, metav1.GetOptions{})
		if err == nil {
			_, err = target.client.Update(ctx, view, metav1.UpdateOptions{})
		}
		if err != nil {
			return err
		}
		after, err := stored.Get(ctx, was.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if changed = chosenByUsers(changesBetween(contentOf(before), contentOf(after))); len(changed) > 0 {
			_, err = restore()
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return changed, nil // the client reports what is refused
}

// chosenByUsers are the changes of what users write, and not operators.
func chosenByUsers(changes []change) []change {
	return slices.DeleteFunc(changes, func(c change) bool {
		root, _, _ := strings.Cut(c.path, ".")
		return root == "status" || root == "metadata"
	})
}

// found is what a field has become, without a verb.
func found(c change) string {
	if c.lost() {
		return "they have none"
	}
	return "they have " + text(c.after)
}
