package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// crdResource is where definitions live.
var crdResource = schema.GroupVersionResource{Group: crdKind.Group, Version: "v1", Resource: "customresourcedefinitions"}

// errImpatient is the error of [poll] when time is up.
var errImpatient = errors.New("time is up")

// patienceOf is timeout, or the default.
func patienceOf(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return DefaultTimeout
	}
	return timeout
}

// poll asks until done says yes or fails, first often, then five times a second,
// and gives up with errImpatient after patience. A watch would tell sooner by some milliseconds
// and break by far more ways.
func poll(ctx context.Context, patience time.Duration, done func(context.Context) (bool, error)) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return errImpatient
		case <-time.After(pause):
		}
	}
}

// establish waits until the cluster serves what definitions define.
func (c *Cluster) establish(ctx context.Context, definitions []*unstructured.Unstructured, patience time.Duration) error {
	start := time.Now()
	for _, definition := range definitions {
		err := poll(ctx, patience-time.Since(start), func(ctx context.Context) (bool, error) { return c.serves(ctx, definition) })
		if errors.Is(err, errImpatient) {
			return c.explainUnestablished(ctx, definition, patience)
		}
		if err != nil {
			return c.explainObject(ctx, definition, err)
		}
	}
	c.handler.Handle(report.Step{Name: established(len(definitions)), Elapsed: time.Since(start)})
	return nil
}

// serves tells whether the cluster serves all versions that definition wants served. The definition itself would say whether it is
// established, but may be a megabyte, which the server, busy with establishing it, would write again and again.
func (c *Cluster) serves(ctx context.Context, definition *unstructured.Unstructured) (bool, error) {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	resource, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, item := range versions {
		version, _ := item.(map[string]any)
		if wanted, _, _ := unstructured.NestedBool(version, "served"); !wanted {
			continue
		}
		name, _, _ := unstructured.NestedString(version, "name")
		gv := schema.GroupVersion{Group: group, Version: name}
		c.catalog.forget(gv)
		all, err := c.catalog.resources(ctx, gv)
		if err != nil || !slices.ContainsFunc(all, func(r metav1.APIResource) bool { return r.Name == resource }) {
			return false, err
		}
	}
	return true, nil
}

// explainUnestablished says why a definition is not served.
func (c *Cluster) explainUnestablished(ctx context.Context, definition *unstructured.Unstructured, patience time.Duration) error {
	live, err := c.objects.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
	if err != nil {
		return c.explainObject(ctx, definition, err)
	}
	return &report.Error{
		What:  fmt.Sprintf("the definition was not established within %s", patience),
		Where: nameOf(definition),
		Err:   complaint(live),
	}
}

// established counts definitions for people.
func established(n int) string {
	if n == 1 {
		return "1 definition established"
	}
	return fmt.Sprintf("%d definitions established", n)
}

// defines tells whether the cluster has a definition of kind, established or not.
func (c *Cluster) defines(ctx context.Context, kind schema.GroupKind) bool {
	list, err := c.objects.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	for _, definition := range list.Items {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		if group == kind.Group && name == kind.Kind {
			return true
		}
	}
	return false
}

// condition is one entry of status.conditions.
type condition struct{ kind, status, reason, message string }

// conditions reads status.conditions of object, which may be nil.
func conditions(object *unstructured.Unstructured) []condition {
	if object == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var all []condition
	for _, item := range list {
		fields, _ := item.(map[string]any)
		text := func(name string) string { s, _ := fields[name].(string); return s }
		all = append(all, condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return all
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
