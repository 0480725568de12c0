package ship

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/report"
)

// LocalWebhooks are webhooks that a manager outside of the cluster serves.
type LocalWebhooks struct {
	Manifests []byte   // webhook configurations as they are generated
	Converted []string // names of the CRDs whose versions are converted
	Prefix    string   // of the configurations' names
	Address   string   // where the manager serves, as the API server can reach it
	Authority []byte   // who issued its certificate, as PEM
	Alone     bool     // the deployed operator is paused: kinds that it converts are converted here, too

	// Probe is a text of this run alone. With it the detour has a probe, for an address that the API server may not
	// reach. Empty: it reaches the address.
	Probe string
}

// callHereManager owns what [Cluster.CallHere] sets, so that taking it back leaves the rest alone.
const callHereManager = "slipway-run"

// CallHere has the API server ask webhooks at an address, as a detour that [Cluster.PlanDetour] made says. The detour
// has to be written down before: [Cluster.TakeBack] needs it, whatever CallHere came to. A request that is under way
// when ctx ends is waited for, since one that is given up may be stored after all, and later than what takes it back.
//
// Configurations that an earlier detour of the session made, and that are not wanted any more, go.
func (c *Cluster) CallHere(ctx context.Context, d *Detour) error {
	if err := c.setAll(ctx, d.wanted); err != nil {
		return err
	}
	for _, made := range d.Configurations {
		wanted := func(o *unstructured.Unstructured) bool {
			return o.GetName() == made.Name && o.GroupVersionKind() == made.GroupVersionKind
		}
		if slices.ContainsFunc(d.wanted, wanted) {
			continue
		}
		if err := c.dropConfiguration(ctx, d, made); err != nil {
			return err
		}
	}
	return nil
}

// setAll is setWhole for several objects.
func (c *Cluster) setAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.setWhole(ctx, object); err != nil {
			return c.explainObject(ctx, object, err)
		}
	}
	return nil
}

// setWhole is setOwned to its end.
func (c *Cluster) setWhole(ctx context.Context, object *unstructured.Unstructured) error {
	defer ending.Await(ctx, "a request to the cluster")()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit)
	defer cancel()
	return c.setOwned(ctx, object)
}

// requestLimit is how long a request may take that is not to be given up.
const requestLimit = 10 * time.Second

// hookKinds are those of webhook configurations.
var hookKinds = []schema.GroupKind{
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
}

// configurations are the manifests, with this run's names and the address.
func (w LocalWebhooks) configurations() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(w.Manifests), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read webhook configurations: %w", err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if !slices.Contains(hookKinds, object.GroupVersionKind().GroupKind()) {
			return nil, &report.Error{Class: report.BadProject, What: "this is no webhook configuration", Where: nameOf(object), Object: refOf(object), Hint: "the files that webhook configurations are generated into have nothing else"}
		}
		if err := w.redirect(object); err != nil {
			return nil, fmt.Errorf("read webhook configurations: %w", err)
		}
		objects = append(objects, object)
	}
}

// redirect gives a webhook configuration this run's name and the address.
func (w LocalWebhooks) redirect(object *unstructured.Unstructured) error {
	object.SetName(w.Prefix + object.GetName())
	hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if fields, ok := hook.(map[string]any); ok {
			path, _, _ := unstructured.NestedString(fields, "clientConfig", "service", "path")
			fields["clientConfig"] = w.clientConfig(path)
		}
	}
	return unstructured.SetNestedSlice(object.Object, hooks, "webhooks")
}

// conversion is a definition of which only the conversion is said: at the address.
func (w LocalWebhooks) conversion(name string) *unstructured.Unstructured {
	return withConversion(name, map[string]any{
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": w.clientConfig("/convert"), "conversionReviewVersions": []any{"v1"}},
	})
}

func (w LocalWebhooks) clientConfig(path string) map[string]any {
	return map[string]any{"url": w.url() + path, "caBundle": w.bundle()}
}

func (w LocalWebhooks) url() string { return "https://" + w.Address }

func (w LocalWebhooks) bundle() string { return base64.StdEncoding.EncodeToString(w.Authority) }

// withConversion is a definition of which only the conversion is said.
func withConversion(name string, conversion map[string]any) *unstructured.Unstructured {
	object := definitionNamed(name)
	object.Object["spec"] = map[string]any{"conversion": conversion}
	return object
}

func definitionNamed(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("apiextensions.k8s.io/v1")
	object.SetKind(crdKind.Kind)
	object.SetName(name)
	return object
}

// definitionToConvert is a definition as the cluster has it, or nil if a Service converts its kind already and goes on
// with it.
func (c *Cluster) definitionToConvert(ctx context.Context, name string, alone bool) (*unstructured.Unstructured, error) {
	definition, err := c.objects.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, &report.Error{Class: report.Refused, What: "the cluster does not serve the kind " + name, Where: c.server, Hint: "install the CRDs first", Next: "slipway install"}
	}
	if err != nil {
		return nil, c.explainObject(ctx, definitionNamed(name), err)
	}
	if _, service, _ := unstructured.NestedMap(definition.Object, "spec", "conversion", "webhook", "clientConfig", "service"); service && !alone {
		c.handler.Handle(report.Note{Text: name + " is converted by the deployed operator, not by this one"})
		return nil, nil
	}
	return definition, nil
}

// setOwned makes the fields of an object that callHereManager owns those that are given.
func (c *Cluster) setOwned(ctx context.Context, object *unstructured.Unstructured) error {
	resource, object, err := c.locate(ctx, object, patienceOf(0))
	if err != nil {
		return err
	}
	patch, err := json.Marshal(object)
	if err != nil {
		return err
	}
	force := true
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: callHereManager, Force: &force})
	return err
}
