package rehearsal

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		if err := target.try(ctx); err != nil {
			t.refused[target.name()] = err
		}
		if target.verb != write || t.refused[target.name()] != nil {
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
	for _, sample := range t.Samples {
		for _, m := range manifestsOf(sample) {
			if made, err := t.make(ctx, m.object); err == nil {
				m.made = made.Object
				t.manifests = append(t.manifests, m)
			}
		}
	}
	return ctx.Err()
}

// possible reports whether the old revision answers a request: only then does it say something of the new one.
func (t *trials) possible(target target) bool { return t.refused[target.name()] == nil }

// compare tries all requests with the new revision.
func (t *trials) compare(ctx context.Context) error {
	for _, target := range targetsOf(t.Cluster, t.before) {
		if target.verb != write || !t.possible(target) {
			continue
		}
		changed, err := t.roundTrip(ctx, target)
		if err != nil {
			return err
		}
		for _, c := range changed {
			if !t.lossy[target.name()][c.path] {
				t.report.add(Finding{Phase: upgradePhase, Class: LossyConversion, Object: ship.NameOf(target.object), Versions: []string{target.version},
					Field: c.path, Before: c.before, After: c.after, Text: "written as " + target.version + ", it was " + text(c.before) + " and " + now(c), Fatal: true})
			}
		}
	}
	for _, m := range t.manifests {
		t.compareMade(ctx, m)
	}
	return ctx.Err()
}

// compareMade compares what the new revision makes of a manifest with what the old one did.
func (t *trials) compareMade(ctx context.Context, m manifest) {
	name := ship.NameOf(m.object)
	made, err := t.make(ctx, m.object)
	if err != nil {
		t.report.add(Finding{Phase: upgradePhase, Class: WriteRefused, Object: name, Field: m.without, Text: m.say() + " is refused: " + err.Error(), Fatal: true})
		return
	}
	for _, c := range chosenByUsers(changesBetween(m.made, made.Object)) {
		if isTime(c.before) && isTime(c.after) {
			continue
		}
		t.report.add(Finding{Phase: upgradePhase, Class: DefaultChanged, Object: name, Field: c.path, Before: c.before, After: c.after,
			Text: "new objects had " + text(c.before) + ", now " + found(c), Fatal: true})
	}
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
		original.SetResourceVersion(live.GetResourceVersion())
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
		if err == nil {
			changed = chosenByUsers(changesBetween(contentOf(before), contentOf(after)))
		}
		if len(changed) > 0 {
			_, err = restore()
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the client reports what is refused
	}
	return changed, nil
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
