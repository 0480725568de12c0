package ship

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// catalog knows which resource holds the objects of a kind. It asks for one
// group and version at a time, and only for those that are shipped. client-go's discovery
// client would do as well, but brings every built-in type into the program.
type catalog struct {
	client rest.Interface
	direct *http.Client // follows no redirects

	mu    sync.Mutex
	known map[schema.GroupVersion][]metav1.APIResource
}

// newCatalog returns an empty catalog of the cluster behind config.
func newCatalog(config *rest.Config, client *http.Client) (*catalog, error) {
	config = rest.CopyConfig(config)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a pod that is asked could lead elsewhere
	unversioned, err := rest.UnversionedRESTClientForConfigAndClient(config, &direct)
	if err != nil {
		return nil, err
	}
	return &catalog{client: unversioned, direct: &direct, known: map[schema.GroupVersion][]metav1.APIResource{}}, nil
}

// get reads a JSON document of the server into value.
func (c *catalog) get(ctx context.Context, path string, value any) error {
	return c.getAs(ctx, path, runtime.ContentTypeJSON, value)
}

// getAs does so with a document of a media type.
func (c *catalog) getAs(ctx context.Context, path, accept string, value any) error {
	text, err := c.client.Get().AbsPath(path).SetHeader("Accept", accept).Do(ctx).Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// certificate returns that of the server in the handshake of a request; nil without encryption.
func (c *catalog) certificate(ctx context.Context) (*x509.Certificate, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.client.Get().AbsPath("/version").URL().String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := c.direct.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.TLS == nil {
		return nil, nil
	}
	return response.TLS.PeerCertificates[0], nil
}

// errNoKind is the error of [catalog.find] for a kind that the cluster does not serve.
type errNoKind struct {
	schema.GroupVersionKind
	definition *unstructured.Unstructured // of its group and kind, which does not serve that version; nil if there is none
}

func (e errNoKind) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s of %s", e.Kind, e.GroupVersion())
}

// find returns the resource of a kind, or [errNoKind].
func (c *catalog) find(ctx context.Context, kind schema.GroupVersionKind) (metav1.APIResource, error) {
	resources, err := c.resources(ctx, kind.GroupVersion())
	if err != nil {
		return metav1.APIResource{}, err
	}
	for _, r := range resources {
		if r.Kind == kind.Kind && !isSubresource(r) {
			return r, nil
		}
	}
	c.forget(kind.GroupVersion()) // it may come: definitions are established while we watch
	return metav1.APIResource{}, errNoKind{GroupVersionKind: kind}
}

// preferred returns the resource of a kind, in the version that the server prefers, or [errNoKind].
func (c *catalog) preferred(ctx context.Context, kind schema.GroupKind) (schema.GroupVersion, metav1.APIResource, error) {
	versions := []string{"v1"}
	if kind.Group != "" {
		var group metav1.APIGroup
		if err := c.get(ctx, "/apis/"+kind.Group, &group); err != nil && !apierrors.IsNotFound(err) {
			return schema.GroupVersion{}, metav1.APIResource{}, err
		}
		versions = versions[:0]
		for _, version := range append([]metav1.GroupVersionForDiscovery{group.PreferredVersion}, group.Versions...) {
			versions = append(versions, version.Version)
		}
	}
	for _, version := range slices.DeleteFunc(versions, isEmpty) {
		found, err := c.find(ctx, kind.WithVersion(version))
		if _, unserved := errors.AsType[errNoKind](err); unserved {
			continue
		}
		return schema.GroupVersion{Group: kind.Group, Version: version}, found, err
	}
	return schema.GroupVersion{}, metav1.APIResource{}, errNoKind{GroupVersionKind: kind.WithVersion("")}
}

// resources lists what a group and version has; one that is not there has nothing.
func (c *catalog) resources(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	c.mu.Lock()
	known, ok := c.known[gv]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	var list metav1.APIResourceList
	if err := c.get(ctx, path, &list); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[gv] = list.APIResources
	return list.APIResources, nil
}

// forget makes the next question for gv go to the server.
func (c *catalog) forget(gv schema.GroupVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, gv)
}

// isSubresource tells deployments/scale from deployments.
func isSubresource(r metav1.APIResource) bool {
	return strings.Contains(r.Name, "/")
}
