package manifest

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// Server is where webhooks are served.
type Server struct {
	URL string // without a path: https://127.0.0.1:20123
	CA  []byte // PEM
}

// client returns the client configuration that reaches path on the server.
func (s Server) client(path string) map[string]any {
	return map[string]any{
		"url":      s.URL + "/" + strings.TrimPrefix(path, "/"),
		"caBundle": base64.StdEncoding.EncodeToString(s.CA),
	}
}

// conversionPath is where controller-runtime serves conversion.
const conversionPath = "/convert"

// redirect returns config pointed to the server if it names a Service; one that
// names a URL is its author's choice.
func (s Server) redirect(config map[string]any, path string) map[string]any {
	if url, _, _ := unstructured.NestedString(config, "url"); url != "" {
		return config
	}
	if p, ok, _ := unstructured.NestedString(config, "service", "path"); ok {
		path = p
	}
	return s.client(path)
}

// Redirect points the webhooks of a configuration to the server.
func Redirect(config *unstructured.Unstructured, s Server) error {
	hooks, _, err := unstructured.NestedSlice(config.Object, "webhooks")
	if err != nil {
		return malformed(config, err)
	}
	for i, hook := range hooks {
		h, ok := hook.(map[string]any)
		if !ok {
			return malformed(config, fmt.Errorf("webhooks[%d] is not an object", i))
		}
		client, _, err := unstructured.NestedMap(h, "clientConfig")
		if err != nil {
			return malformed(config, err)
		}
		h["clientConfig"] = s.redirect(client, "/")
	}
	return unstructured.SetNestedSlice(config.Object, hooks, "webhooks")
}

// Converts reports whether the versions of a CRD are converted by a webhook: when it
// says so itself, or when the scheme has its types and they can be converted.
func Converts(crd *unstructured.Unstructured, scheme *runtime.Scheme) (bool, error) {
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy == "Webhook" {
		return true, nil
	}
	if scheme == nil {
		return false, nil
	}
	return convertible(crd, scheme)
}

// RedirectConversion makes a CRD's versions be converted by the server.
func RedirectConversion(crd *unstructured.Unstructured, s Server) error {
	spec, _, err := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook")
	if err != nil {
		return malformed(crd, err)
	}
	if spec == nil {
		spec = map[string]any{}
	}
	client, _, err := unstructured.NestedMap(spec, "clientConfig")
	if err != nil {
		return malformed(crd, err)
	}
	spec["clientConfig"] = s.redirect(client, conversionPath)
	if _, ok := spec["conversionReviewVersions"]; !ok {
		spec["conversionReviewVersions"] = []any{"v1"}
	}
	return unstructured.SetNestedMap(crd.Object, map[string]any{"strategy": "Webhook", "webhook": spec}, "spec", "conversion")
}

// convertible looks at the Go types of a CRD's versions: one is the hub, and all
// others convert to it and from it.
func convertible(crd *unstructured.Unstructured, scheme *runtime.Scheme) (bool, error) {
	kinds, err := served(crd)
	if err != nil {
		return false, err
	}
	var hubs, spokes, others []string
	for _, gvk := range kinds {
		o, err := scheme.New(gvk)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		switch o.(type) {
		case conversion.Hub:
			hubs = append(hubs, gvk.Version)
		case conversion.Convertible:
			spokes = append(spokes, gvk.Version)
		default:
			others = append(others, gvk.Version)
		}
	}
	if len(hubs) == 0 || len(hubs)+len(spokes)+len(others) == 1 {
		return false, nil
	}
	if len(hubs) > 1 || len(others) > 0 {
		return false, &fault.Error{What: "the versions of " + crd.GetName() + " do not all have a conversion",
			Err:  fmt.Errorf("hubs: %v, convertible to the hub: %v, neither: %v", hubs, spokes, others),
			Hint: "one version's type must have Hub(), and all others ConvertTo and ConvertFrom"}
	}
	return true, nil
}

// served returns the kinds of a CRD's versions.
func served(crd *unstructured.Unstructured) ([]schema.GroupVersionKind, error) {
	kind, _, err := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	if err != nil {
		return nil, malformed(crd, err)
	}
	versions, err := versions(crd)
	var all []schema.GroupVersionKind
	for _, v := range versions {
		all = append(all, v.WithKind(kind))
	}
	return all, err
}

// Resources returns what a CRD makes the API server serve: its resource in every version.
func Resources(crd *unstructured.Unstructured) ([]schema.GroupVersionResource, error) {
	plural, _, err := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	if err != nil {
		return nil, malformed(crd, err)
	}
	versions, err := versions(crd)
	var all []schema.GroupVersionResource
	for _, v := range versions {
		all = append(all, v.WithResource(plural))
	}
	return all, err
}

// versions returns a CRD's served versions.
func versions(crd *unstructured.Unstructured) ([]schema.GroupVersion, error) {
	group, _, err := unstructured.NestedString(crd.Object, "spec", "group")
	if err != nil {
		return nil, malformed(crd, err)
	}
	list, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return nil, malformed(crd, err)
	}
	var all []schema.GroupVersion
	for _, item := range list {
		v, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(v, "name")
		if on, _, _ := unstructured.NestedBool(v, "served"); on && name != "" {
			all = append(all, schema.GroupVersion{Group: group, Version: name})
		}
	}
	return all, nil
}

// malformed is the error of an object whose fields are of the wrong types.
func malformed(o *unstructured.Unstructured, err error) error {
	return &fault.Error{What: o.GetKind() + " " + o.GetName() + " cannot be read", Err: err}
}
