package ship

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-dev/slipway/internal/report"
)

// LocalWebhooks are webhooks that a manager outside of the cluster serves.
type LocalWebhooks struct {
	Manifests []byte   // webhook configurations as they are generated
	Converted []string // names of the CRDs whose versions are converted
	Prefix    string   // of the configurations' names
	Address   string   // where the manager serves, as the API server can reach it
	Authority []byte   // who issued its certificate, as PEM
}

// callHereManager owns what [Cluster.CallHere] sets, so that taking it back leaves the rest alone.
const callHereManager = "slipway-run"

// restorePatience bounds the taking back, which begins when the user has ended the run.
const restorePatience = 10 * time.Second

// CallHere has the API server ask webhooks at an address, and returns what takes that back. Where
// the cluster converts a kind by a Service already, that stays.
func (c *Cluster) CallHere(ctx context.Context, w LocalWebhooks) (restore func() error, err error) {
	var undo []func(context.Context) error
	restore = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), restorePatience)
		defer cancel()
		var errs []error
		for _, step := range undo {
			errs = append(errs, step(ctx))
		}
		return errors.Join(errs...)
	}
	configurations, err := w.configurations()
	if err != nil {
		return restore, err
	}
	for _, object := range configurations {
		undo = append(undo, func(ctx context.Context) error { return c.dropConfiguration(ctx, object) })
		if err := c.setOwned(ctx, object); err != nil {
			return restore, c.explainObject(ctx, object, err)
		}
	}
	for _, name := range w.Converted {
		taken, err := c.convertHere(ctx, name, w)
		if err != nil {
			return restore, err
		}
		if taken {
			undo = append(undo, func(ctx context.Context) error { return c.convertNoMore(ctx, name) })
		}
	}
	return restore, nil
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
		object.SetName(w.Prefix + object.GetName())
		hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			return nil, fmt.Errorf("read webhook configurations: %w", err)
		}
		for _, hook := range hooks {
			if fields, ok := hook.(map[string]any); ok {
				path, _, _ := unstructured.NestedString(fields, "clientConfig", "service", "path")
				fields["clientConfig"] = w.clientConfig(path)
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, hooks, "webhooks"); err != nil {
			return nil, fmt.Errorf("read webhook configurations: %w", err)
		}
		objects = append(objects, object)
	}
}

func (w LocalWebhooks) clientConfig(path string) map[string]any {
	return map[string]any{"url": "https://" + w.Address + path, "caBundle": base64.StdEncoding.EncodeToString(w.Authority)}
}

func definitionNamed(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("apiextensions.k8s.io/v1")
	object.SetKind("CustomResourceDefinition")
	object.SetName(name)
	return object
}

// convertHere has the API server convert a kind at the address, unless a Service does that.
func (c *Cluster) convertHere(ctx context.Context, name string, w LocalWebhooks) (taken bool, err error) {
	definition, err := c.objects.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, &report.Error{What: "the cluster does not know the kind " + name, Where: c.server, Hint: "install the definitions first", Next: "slipway install"}
	}
	if err != nil {
		return false, c.explainObject(ctx, definitionNamed(name), err)
	}
	if _, service, _ := unstructured.NestedMap(definition.Object, "spec", "conversion", "webhook", "clientConfig", "service"); service {
		c.handler.Handle(report.Note{Text: name + " is converted by the operator that is deployed, not by the one here"})
		return false, nil
	}
	object := definitionNamed(name)
	object.Object["spec"] = map[string]any{"conversion": map[string]any{
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": w.clientConfig("/convert"), "conversionReviewVersions": []any{"v1"}},
	}}
	if err := c.setOwned(ctx, object); err != nil {
		return false, c.explainObject(ctx, object, err)
	}
	return true, nil
}

// convertNoMore takes back what convertHere set, and returns when the API server acts on it: it goes on asking at the
// address for a moment after it has stored the definition, and nobody is there any more.
func (c *Cluster) convertNoMore(ctx context.Context, name string) error {
	if err := c.setOwned(ctx, definitionNamed(name)); err != nil {
		return err
	}
	definition, err := c.objects.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, resource := range servedResources(definition) {
		err := poll(ctx, restorePatience, func(ctx context.Context) (bool, error) {
			_, err := c.objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil || apierrors.IsForbidden(err), ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("wait until %s is served without webhooks: %w", name, err)
		}
	}
	return nil
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

func (c *Cluster) dropConfiguration(ctx context.Context, object *unstructured.Unstructured) error {
	resource, _, err := c.locate(ctx, object, patienceOf(0))
	if err != nil {
		return err
	}
	if err := resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}
