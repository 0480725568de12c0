package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Detour says how an API server comes to ask webhooks on this machine, and what has to be as it was afterwards. Its
// JSON is all that [Cluster.TakeBack] needs, in this process or in another.
type Detour struct {
	Cluster        types.UID      `json:"cluster"` // of kube-system; empty if the user may not know it
	Server         string         `json:"server"`
	URL            string         `json:"url"`    // how the addresses begin that the API server asks
	Bundle         string         `json:"bundle"` // the authority that it is reported, which is one run's own
	Configurations []configured   `json:"configurations,omitempty"`
	Conversions    []conversionOf `json:"conversions,omitempty"`
	Probe          *configured    `json:"probe,omitempty"`  // nil where the API server reaches the address
	Paused         []paused       `json:"paused,omitempty"` // see [Cluster.PlanPause]
	Silent         []configured   `json:"silent,omitempty"`
	Converted      []string       `json:"-"` // definitions that the operator to be paused converts

	wanted []*unstructured.Unstructured // to be applied
	probe  *unstructured.Unstructured
}

// namespaceResource is where namespaces live.
var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// configured names a webhook configuration.
type configured struct {
	schema.GroupVersionKind `json:"kind"`
	Name                    string `json:"name"`
}

// conversionOf is how the kind of a definition is converted without the detour, and who owns the fields that say so.
type conversionOf struct {
	Definition string                      `json:"definition"`
	Before     map[string]any              `json:"before"`
	Owners     []metav1.ManagedFieldsEntry `json:"owners,omitempty"`
}

// Empty reports whether the detour changes nothing.
func (d *Detour) Empty() bool { return len(d.wanted) == 0 }

// PlanDetour looks how things are, and changes nothing. A kind that the cluster converts by a Service already stays as
// it is.
func (c *Cluster) PlanDetour(ctx context.Context, w LocalWebhooks) (*Detour, error) {
	d := &Detour{Cluster: c.identity(ctx), Server: c.server, URL: w.url(), Bundle: w.bundle()}
	configurations, err := w.configurations()
	if err != nil {
		return nil, err
	}
	for _, object := range configurations {
		if err := c.requireFree(ctx, object); err != nil {
			return nil, err
		}
		d.wanted = append(d.wanted, object)
		d.Configurations = append(d.Configurations, configured{object.GroupVersionKind(), object.GetName()})
	}
	if w.Probe != "" {
		d.probe = w.probe()
		if err := c.requireFree(ctx, d.probe); err != nil {
			return nil, err
		}
		d.Probe = &configured{d.probe.GroupVersionKind(), d.probe.GetName()}
	}
	for _, name := range w.Converted {
		definition, err := c.definitionToConvert(ctx, name, w.Alone)
		if err != nil {
			return nil, err
		}
		if definition == nil {
			continue
		}
		before, _, _ := unstructured.NestedMap(definition.Object, "spec", "conversion")
		owners, err := ownersOf(definition, conversionPath)
		if err != nil {
			return nil, err
		}
		d.wanted = append(d.wanted, w.conversion(name))
		d.Conversions = append(d.Conversions, conversionOf{name, before, owners})
	}
	return d, nil
}

// Continue makes d take back what an earlier detour of the same session changed, too.
func (d *Detour) Continue(before *Detour) {
	for _, c := range before.Configurations {
		if !slices.Contains(d.Configurations, c) {
			d.Configurations = append(d.Configurations, c)
		}
	}
	for _, c := range before.Conversions {
		if at := slices.IndexFunc(d.Conversions, func(o conversionOf) bool { return o.Definition == c.Definition }); at >= 0 {
			d.Conversions[at] = c // since it is made already, the present state is not the one to go back to
		} else {
			d.Conversions = append(d.Conversions, c)
		}
	}
}

// Same reports whether d has the API server ask the same webhooks as another detour, which may be nil.
func (d *Detour) Same(other *Detour) bool {
	return other != nil && slices.EqualFunc(d.wanted, other.wanted, func(a, b *unstructured.Unstructured) bool { return equality.Semantic.DeepEqual(a, b) })
}

// KeepConversions gives definitions the conversion that a Service does in the cluster, and the others none: what calls
// this machine is a detour's.
func (c *Cluster) KeepConversions(ctx context.Context, definitions []*unstructured.Unstructured) error {
	for _, d := range definitions {
		unstructured.RemoveNestedField(d.Object, "spec", "conversion")
		live, err := c.objects.Resource(crdResource).Get(ctx, d.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return c.explainObject(ctx, d, err)
		}
		conversion, _, _ := unstructured.NestedMap(live.Object, "spec", "conversion")
		if _, service, _ := unstructured.NestedMap(conversion, "webhook", "clientConfig", "service"); !service {
			continue
		}
		unstructured.RemoveNestedField(conversion, "webhook", "clientConfig", "caBundle") // it stays its owner's
		if err := unstructured.SetNestedMap(d.Object, conversion, "spec", "conversion"); err != nil {
			return err
		}
	}
	return nil
}

// requireFree fails if there is a configuration of that name which is none of a run's.
func (c *Cluster) requireFree(ctx context.Context, object *unstructured.Unstructured) error {
	resource, _, err := c.locate(ctx, object, patienceOf(0))
	if err != nil {
		return c.explainObject(ctx, object, err)
	}
	live, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return c.explainObject(ctx, object, err)
	}
	if slices.ContainsFunc(live.GetManagedFields(), isCallHere) {
		return nil
	}
	return &report.Error{
		Class: report.Conflict,
		What:  "another tool's webhook configuration has the name that this run needs", Where: nameOf(live), Object: refOf(live),
		Hint: "rename or delete it, or run without webhooks", Next: "ENABLE_WEBHOOKS=false slipway run",
	}
}

// isCallHere tells an entry of managed fields that a run made.
func isCallHere(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == callHereManager }

// TakeBack ends a detour. It restores the former values and owners of everything that the detour changed; what others
// changed since stays. It may be repeated.
func (c *Cluster) TakeBack(ctx context.Context, d *Detour) error {
	errs := []error{c.resume(ctx, d)}
	configurations := d.Configurations
	if d.Probe != nil {
		configurations = append(slices.Clone(configurations), *d.Probe)
	}
	for _, configuration := range configurations {
		if err := c.dropConfiguration(ctx, d, configuration); err != nil {
			errs = append(errs, fmt.Errorf("remove %s %s: %w", configuration.Kind, configuration.Name, err))
		}
	}
	for _, conversion := range d.Conversions {
		if err := c.convertAsBefore(ctx, d, conversion); err != nil {
			errs = append(errs, fmt.Errorf("restore the conversion of %s: %w", conversion.Definition, err))
		}
	}
	return errors.Join(errs...)
}

// Made reports whether the detour was made in this cluster.
func (d *Detour) Made(ctx context.Context, c *Cluster) bool {
	if d.Cluster == "" {
		return d.Server == c.server
	}
	return d.Cluster == c.identity(ctx)
}

// Key is what distinguishes this cluster from others; its address if the user may not know better.
func (c *Cluster) Key(ctx context.Context) string {
	if id := c.identity(ctx); id != "" {
		return string(id)
	}
	return c.server
}

// identity tells this cluster from another, whatever its address is; it is empty if that cannot be known.
func (c *Cluster) identity(ctx context.Context) types.UID {
	namespace, err := c.objects.Resource(namespaceResource).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return namespace.GetUID()
}

// leads tells whether an object has the API server ask at the detour's end.
func (d *Detour) leads(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(clientConfigs(object), func(config map[string]any) bool {
		url, _ := config["url"].(string)
		bundle, _ := config["caBundle"].(string)
		return strings.HasPrefix(url, d.URL) && bundle == d.Bundle
	})
}

// converts reports whether a definition has the API server ask at the detour's end. Something in the cluster, such as
// cert-manager's cainjector, may have set another authority since.
func (d *Detour) converts(definition *unstructured.Unstructured) bool {
	url, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	return strings.HasPrefix(url, d.URL+"/")
}

// dropConfiguration removes a configuration that is the detour's.
func (c *Cluster) dropConfiguration(ctx context.Context, d *Detour, configuration configured) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(configuration.GroupVersionKind)
	resource, _, err := c.locate(ctx, object, patienceOf(0))
	if err != nil {
		return err
	}
	live, err := resource.Get(ctx, configuration.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !d.leads(live) {
		return nil
	}
	if err != nil {
		return err
	}
	uid := live.GetUID()
	err = resource.Delete(ctx, configuration.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it is gone, and the name may be another's
		return nil
	}
	return err
}

// convertAsBefore restores how a kind is converted, and returns when the API server acts on it: it goes on asking at
// the address for a moment after it has stored the definition, and nobody is there any more.
func (c *Cluster) convertAsBefore(ctx context.Context, d *Detour, conversion conversionOf) error {
	definition, err := c.objects.Resource(crdResource).Get(ctx, conversion.Definition, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	restored := d.converts(definition)
	if restored {
		if err := c.setOwned(ctx, withConversion(conversion.Definition, conversion.Before)); err != nil {
			return err
		}
	}
	if err := giveBack(ctx, c.objects.Resource(crdResource), conversion.Definition, conversion.Owners); err != nil {
		return err
	}
	if restored && conversion.Before["strategy"] != "Webhook" {
		return c.awaitServed(ctx, definition)
	}
	return nil
}

// awaitServed waits until the objects of a definition can be listed in all versions.
func (c *Cluster) awaitServed(ctx context.Context, definition *unstructured.Unstructured) error {
	for _, resource := range servedResources(definition) {
		err := poll(ctx, patienceOf(0), func(ctx context.Context) (bool, error) {
			_, err := c.objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil || apierrors.IsForbidden(err), ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("wait until it is served without webhooks: %w", err)
		}
	}
	return nil
}
