package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An address that the API server may not reach fails every write of its webhooks' kinds, for all users, and every read
// that needs a conversion. So it is tried with a webhook that no other user's request matches: the probe.

// ErrNotCalled says that the API server has not called the probe.
var ErrNotCalled = errors.New("the API server has not called the address")

const (
	// callPatience is what an API server needs to learn of a configuration, many times.
	callPatience = 10 * time.Second
	// tentativeSeconds is how long a request of another user waits at most for an address that swallows connections.
	tentativeSeconds = 1
	// probeLabel marks the object of the request for which the probe is called; its value is one run's own.
	probeLabel = "slipway.dev/run-probe"
)

// configMapResource is where ConfigMaps live.
var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// ProbePath is where the API server calls a probe.
func ProbePath(probe string) string { return "/" + probe }

// CallTentatively has the API server call the webhooks of a detour whose address it may not reach. It goes on without
// those that fail or take longer than a second, whatever their failurePolicy will be, and converts as before.
func (c *Cluster) CallTentatively(ctx context.Context, d *Detour) error {
	var tentative []*unstructured.Unstructured
	for _, object := range d.wanted {
		if object.GroupVersionKind().GroupKind() == crdKind {
			continue
		}
		object = object.DeepCopy()
		if err := ignoreFailures(object); err != nil {
			return err
		}
		tentative = append(tentative, object)
	}
	return c.setAll(ctx, tentative)
}

// ignoreFailures makes the webhooks of a configuration harmless where they cannot be reached.
func ignoreFailures(configuration *unstructured.Unstructured) error {
	hooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if fields, ok := hook.(map[string]any); ok {
			fields["failurePolicy"], fields["timeoutSeconds"] = "Ignore", int64(tentativeSeconds)
		}
	}
	return unstructured.SetNestedSlice(configuration.Object, hooks, "webhooks")
}

// AwaitCall has the API server call the probe of a detour, and returns when called is closed. The error is
// [ErrNotCalled], with the reason if the API server gave one, when that takes too long.
func (c *Cluster) AwaitCall(ctx context.Context, d *Detour, called <-chan struct{}) error {
	if err := c.setAll(ctx, []*unstructured.Unstructured{d.probe}); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit)
		defer cancel()
		_ = c.dropConfiguration(ctx, d, *d.Probe) // [Cluster.TakeBack] would, too
	}()
	var refused error
	err := poll(ctx, callPatience, func(ctx context.Context) (bool, error) {
		refused = c.provoke(ctx, d.probe)
		select {
		case <-called:
			return true, nil
		default:
			return false, nil
		}
	})
	if errors.Is(err, errImpatient) && refused != nil {
		return fmt.Errorf("%w: %w", ErrNotCalled, refused)
	}
	if errors.Is(err, errImpatient) {
		return ErrNotCalled
	}
	return err
}

// provoke makes the request that a probe matches. It stores nothing.
func (c *Cluster) provoke(ctx context.Context, probe *unstructured.Unstructured) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(configMapKind)
	object.SetName("slipway-run-probe")
	object.SetLabels(map[string]string{probeLabel: probe.GetLabels()[probeLabel]})
	namespace := c.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	_, err := c.quiet.Resource(configMapResource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// probe is the configuration of the run's probe.
func (w LocalWebhooks) probe() *unstructured.Unstructured {
	label := map[string]any{probeLabel: w.Probe}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": w.Prefix + "probe", "labels": label},
		"webhooks": []any{map[string]any{
			"name": "probe.run.slipway.dev", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
			"failurePolicy": "Ignore", "timeoutSeconds": int64(tentativeSeconds),
			"clientConfig":   w.clientConfig(ProbePath(w.Probe)),
			"objectSelector": map[string]any{"matchLabels": label},
			"rules":          []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"}}},
		}},
	}}
}
