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
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/slipway-dev/slipway/internal/report"
)

// AwaitReady returns when every object is what it is to become. Workloads have all their replicas of the newest kind
// available, and others say that they are ready where they say anything. The webhooks that the API server is to call
// are trusted and answer. Definitions are not asked again: [Cluster.Apply] has waited for them. AwaitReady reports what
// it waits for as that changes.
//
// An object that cannot get there, or does not within timeout (0 means [DefaultTimeout]), is a
// [report.Error] which says why, from the conditions, pods, events and logs.
func (c *Cluster) AwaitReady(ctx context.Context, objects []*unstructured.Unstructured, timeout time.Duration) error {
	w := c.watchFor(objects, patienceOf(timeout))
	if err := w.awaitAll(ctx, objects); err != nil {
		return err
	}
	return w.awaitTrust(ctx, objects)
}

// watchFor is a watch over objects for which patience begins now.
func (c *Cluster) watchFor(objects []*unstructured.Unstructured, patience time.Duration) *watch {
	return &watch{stuck: map[stuckContainer]time.Time{}, cluster: c, start: time.Now(), patience: patience, certificates: certificatesOf(objects)}
}

// awaitAll waits for objects, and warns of permissions that they lack. Definitions are not asked again:
// [Cluster.Apply] has waited for those.
func (w *watch) awaitAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if kindOf(object) == crdKind {
			continue
		}
		if err := w.await(ctx, object); err != nil {
			return err
		}
	}
	for _, object := range objects {
		w.cluster.warnOfPermissions(ctx, object)
	}
	return nil
}

// watch is one run of [Cluster.AwaitReady].
type watch struct {
	cluster  *Cluster
	start    time.Time
	patience time.Duration // for all objects together
	reported string        // what was said last

	troubles []string  // of pods, that were reported
	troubled time.Time // when they were looked for last
	stuck    map[stuckContainer]time.Time

	certificates        []*unstructured.Unstructured // of cert-manager's, that the objects have
	certified           time.Time                    // when they were looked at last
	reportedCertificate string                       // what was said of one last
}

// left is the rest of the patience.
func (w *watch) left() time.Duration { return w.patience - time.Since(w.start) }

// await waits for one object.
func (w *watch) await(ctx context.Context, object *unstructured.Unstructured) error {
	c := w.cluster
	resource, object, err := c.locate(ctx, object, 0)
	if err != nil {
		return c.explainObject(ctx, object, err)
	}
	var live *unstructured.Unstructured
	var now *status.Result
	waited, unused := false, false
	err = poll(ctx, w.left(), func(ctx context.Context) (bool, error) {
		if live, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{}); err != nil {
			return false, err
		}
		if now, err = status.Compute(live); err != nil || now.Status == status.CurrentStatus {
			return true, err
		}
		if c.awaitsPod(ctx, live) {
			unused = true
			return true, nil
		}
		waited = true
		w.notify(object, now.Message)
		if now.Status == status.FailedStatus {
			return false, errHopeless
		}
		if err := w.unissued(ctx); err != nil {
			return false, err
		}
		if err := w.hopeless(ctx, live); err != nil {
			return false, err
		}
		w.reportTrouble(ctx, live)
		return false, nil
	})
	switch {
	case unused:
		c.handler.Handle(report.Step{Name: nameOf(live) + " gets its volume with the first pod that uses it"})
	case err == nil && (waited || runsPods(live)):
		c.handler.Handle(c.readyStep(ctx, live, time.Since(w.start)))
	case errors.Is(err, errImpatient):
		return c.explainUnready(ctx, live, fmt.Sprintf("not ready within %s: %s", w.patience, now.Message))
	case errors.Is(err, errHopeless):
		return c.explainUnready(ctx, live, "does not become ready: "+now.Message)
	case apierrors.IsNotFound(err):
		return &report.Error{Class: report.NotReady, What: "the object was deleted while slipway waited for it", Where: nameOf(object), Object: refOf(object), Unready: []report.Unready{{Object: *refOf(object), Reason: "NotFound"}}}
	}
	return c.explainObject(ctx, object, err)
}

// lacking are the reasons of events that say what a pod lacks to start. It may come, so that waiting goes on.
var lacking = []string{"Failed", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "FailedScheduling"}

// The limits of what is reported of pods: others may write events, of any length, and each anew.
const (
	mostTroubles = 50
	longestEvent = 500
)

// brief is the message of an event in one line, or its beginning.
func brief(message string) string {
	words := strings.Join(strings.Fields(message), " ")
	if len(words) <= longestEvent {
		return words
	}
	return strings.ToValidUTF8(words[:longestEvent], "") + "…"
}

// reportTrouble reports what the pods of a workload lack, each once and as soon as the cluster does.
func (w *watch) reportTrouble(ctx context.Context, workload *unstructured.Unstructured) {
	if time.Since(w.troubled) < time.Second {
		return
	}
	w.troubled = time.Now()
	for _, pod := range w.cluster.podsOf(ctx, workload) {
		if podReady(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		for _, event := range w.cluster.eventsOf(ctx, pod.UID, pod.Namespace) {
			text := fmt.Sprintf("waiting for %s: %s: %s", nameOf(workload), event.Reason, brief(event.Message))
			if slices.Contains(lacking, event.Reason) && !slices.Contains(w.troubles, text) && len(w.troubles) < mostTroubles {
				w.troubles = append(w.troubles, text)
				w.cluster.handler.Handle(report.Step{Name: text})
			}
		}
	}
}

// readyStep is the end of the wait for an object. A workload on simulated pods is ready in that sense alone.
func (c *Cluster) readyStep(ctx context.Context, live *unstructured.Unstructured, elapsed time.Duration) report.Step {
	step := report.Step{Name: nameOf(live) + " is ready", Elapsed: elapsed}
	if runsPods(live) && c.simulatedPod(ctx, live) != nil {
		step.Name += " on simulated pods, which run no container"
		step.Simulated = true
	}
	return step
}

// notify says what is waited for when that is news.
func (w *watch) notify(object *unstructured.Unstructured, message string) {
	if text := fmt.Sprintf("waiting for %s: %s", nameOf(object), message); text != w.reported {
		w.reported = text
		w.cluster.handler.Handle(report.Step{Name: text})
	}
}

// errHopeless is the error of waiting for what will not come by itself.
var errHopeless = errors.New("it will not become ready by itself")

// explainUnready says why live is not ready.
func (c *Cluster) explainUnready(ctx context.Context, live *unstructured.Unstructured, what string) error {
	d := c.diagnose(ctx, live)
	e := &report.Error{Class: report.NotReady, What: what, Where: nameOf(live), Object: refOf(live), Hint: strings.Join(d.lines, "\n"), Next: d.next, Unready: d.unready}
	if e.Next == "" {
		e.Next = describe(live)
	}
	return e
}

// describe is the command that shows object.
func describe(object *unstructured.Unstructured) string { return kubectl(object, "describe") }

// kubectl is a command about object.
func kubectl(object *unstructured.Unstructured, verb string) string {
	command := "slipway kubectl "
	if namespace := object.GetNamespace(); namespace != "" {
		command += "-n " + namespace + " "
	}
	kind := strings.ToLower(object.GetKind())
	if group := object.GroupVersionKind().Group; group != "" {
		kind += "." + group
	}
	return command + verb + " " + kind + " " + object.GetName()
}

// runsPods reports whether object is a workload.
func runsPods(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec")
	return found
}
