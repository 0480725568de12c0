package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// restartedAt is the annotation by which `kubectl rollout restart` makes a template another one.
	restartedAt = "kubectl.kubernetes.io/restartedAt"
	// restartManager owns that annotation, so that what is applied next leaves it alone.
	restartManager = FieldManager + "-restart"
)

// Images says which digests an image has that a name leads to now; none where that is not known.
type Images func(ctx context.Context, name string) (digests []string, err error)

// An Outdated is a workload with a pod that runs an older image than its name leads to now.
type Outdated struct {
	Workload string // kind/namespace/name
	Image    string // the name
	From, To string // digests; there is no From where no image runs

	live *unstructured.Unstructured
	mark string // of a workload that becomes real
}

// Why says why the workload is restarted.
func (o Outdated) Why() string {
	if o.mark != "" {
		return fmt.Sprintf("its pods were simulated, and image %s is in the cluster now (%s)", o.Image, shortDigest(o.To))
	}
	return fmt.Sprintf("image %s was loaded again (%s → %s)", o.Image, shortDigest(o.From), shortDigest(o.To))
}

// shortDigest is as much of a digest as tells it from others.
func shortDigest(digest string) string {
	const length = len("sha256:") + 12
	return digest[:min(length, len(digest))]
}

// Outdated returns the workloads among objects whose pods run an older image of a name that they are to have.
func (c *Cluster) Outdated(ctx context.Context, objects []*unstructured.Unstructured, images Images) ([]Outdated, error) {
	return c.judged(ctx, objects, []string{"Deployment", "StatefulSet", "DaemonSet"}, func(wanted, live *unstructured.Unstructured, pod corev1.Pod) (*Outdated, error) {
		return outdated(ctx, wanted, live, pod, images)
	})
}

// judged returns the workloads of the kinds among objects of which judge finds a pod that does not go anyway. Those
// that the cluster does not have are passed over.
func (c *Cluster) judged(ctx context.Context, objects []*unstructured.Unstructured, kinds []string, judge func(wanted, live *unstructured.Unstructured, pod corev1.Pod) (*Outdated, error)) ([]Outdated, error) {
	var all []Outdated
	for _, object := range objects {
		if kind := kindOf(object); kind.Group != "apps" || !slices.Contains(kinds, kind.Kind) {
			continue
		}
		live, err := c.live(ctx, object)
		if _, unserved := errors.AsType[errNoKind](err); unserved || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, c.explainObject(ctx, object, err)
		}
		for _, pod := range c.podsOf(ctx, live) {
			if pod.DeletionTimestamp != nil || restarting(live, pod) {
				continue
			}
			o, err := judge(object, live, pod)
			if err != nil {
				return nil, err
			}
			if o != nil {
				all = append(all, *o)
				break
			}
		}
	}
	return all, nil
}

// outdated judges one pod of a workload; nil for one that is up to date.
func outdated(ctx context.Context, wanted, live *unstructured.Unstructured, pod corev1.Pod, images Images) (*Outdated, error) {
	specs := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		at := slices.IndexFunc(specs, func(c corev1.Container) bool { return c.Name == status.Name })
		_, _, runs := reference.Split(status.ImageID)
		if at < 0 || runs == "" || !RunsImage([]*unstructured.Unstructured{wanted}, specs[at].Image) {
			continue
		}
		now, err := images(ctx, specs[at].Image)
		if err != nil {
			return nil, err
		}
		if len(now) > 0 && !slices.Contains(now, runs) {
			return &Outdated{Workload: nameOf(live), Image: specs[at].Image, From: runs, To: now[0], live: live}, nil
		}
	}
	return nil, nil
}

// restarting says whether a pod is older than the last restart of its workload, which takes it away.
func restarting(live *unstructured.Unstructured, pod corev1.Pod) bool {
	text, _, _ := unstructured.NestedString(live.Object, "spec", "template", "metadata", "annotations", restartedAt)
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && pod.CreationTimestamp.Time.Before(at)
}

// Restart rolls the workloads out anew, as `kubectl rollout restart` does, and reports why. One whose template has
// changed since is rolled out already.
func (c *Cluster) Restart(ctx context.Context, all []Outdated) error {
	for _, o := range all {
		resource, object, err := c.locate(ctx, o.live, 0)
		if err != nil {
			return c.explainObject(ctx, o.live, err)
		}
		now, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return c.explainObject(ctx, object, err)
		}
		if !reflect.DeepEqual(podTemplate(now), podTemplate(o.live)) {
			continue
		}
		patch, err := json.Marshal(o.restartAt(time.Now()))
		if err != nil {
			return err
		}
		if _, err := resource.Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: restartManager}); err != nil {
			return c.explainObject(ctx, object, err)
		}
		c.handler.Handle(report.Note{Text: "restarts " + o.Workload + ": " + o.Why()})
	}
	return nil
}

// annotations are those that a restart gives the template.
func (o Outdated) annotations(now time.Time) map[string]string {
	all := map[string]string{restartedAt: now.UTC().Format(time.RFC3339)}
	if o.mark != "" {
		all[madeRealFor] = o.mark
	}
	return all
}

// podTemplate is that of a workload's pods.
func podTemplate(workload *unstructured.Unstructured) any {
	found, _, _ := unstructured.NestedFieldNoCopy(workload.Object, "spec", "template")
	return found
}

// restartAt is the patch that makes a workload's template another one.
func (o Outdated) restartAt(now time.Time) map[string]any {
	annotations := map[string]any{}
	for key, value := range o.annotations(now) {
		annotations[key] = value
	}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": annotations}}}}
}

// PreviewRestart adds to a preview what [Cluster.Restart] would do.
func PreviewRestart(differences []Difference, all []Outdated) {
	for _, o := range all {
		at := slices.IndexFunc(differences, func(d Difference) bool { return d.Name == o.Workload })
		if at < 0 {
			continue
		}
		if differences[at].Action == report.Unchanged {
			differences[at] = o.difference()
		}
		differences[at].Why = "restarts: " + o.Why()
	}
}

// difference is what a restart makes of a workload.
func (o Outdated) difference() Difference {
	before := withoutStatus(&unstructured.Unstructured{}, o.live)
	after := before.DeepCopy()
	for key, value := range o.annotations(time.Now()) {
		_ = unstructured.SetNestedField(after.Object, value, "spec", "template", "metadata", "annotations", key) // what the API server stored has that form
	}
	return compare(before, after)
}
