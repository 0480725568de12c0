package test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	asJSON       = "application/json"
	asProtobufV3 = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// testDocumentsAreStock compares all OpenAPI documents with those of the stock server, which describes and renders
// everything before it serves: alone, with a custom resource, and when that has gone again.
func testDocumentsAreStock(t *testing.T, ours, stock clients) {
	t.Run("fresh", func(t *testing.T) { sameDocuments(t, ours, stock) })

	page := schema.GroupVersionResource{Group: "docs.example.com", Version: "v1", Resource: "pages"}
	for _, c := range []clients{ours, stock} {
		makeCRD(t, c, page)
		described(t, c, page, true)
	}
	t.Run("with a custom resource", func(t *testing.T) { sameDocuments(t, ours, stock) })
	t.Run("in protobuf", func(t *testing.T) { sameBinary(t, ours, stock) })

	for _, c := range []clients{ours, stock} {
		err := c.extensions.ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), page.GroupResource().String(), metav1.DeleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		described(t, c, page, false)
	}
	t.Run("without it again", func(t *testing.T) { sameDocuments(t, ours, stock) })
}

// described waits until both versions do or do not describe a resource.
func described(t *testing.T, c clients, r schema.GroupVersionResource, want bool) {
	t.Helper()
	group := "apis/" + r.Group + "/" + r.Version
	path := "/" + group + "/namespaces/{namespace}/" + r.Resource
	eventually(t, "the documents follow the custom resource", func(ctx context.Context) (bool, error) {
		document, err := readDocument(ctx, c)
		if err != nil {
			return false, err
		}
		paths, err := c.Discovery().OpenAPIV3().Paths()
		return (document.Paths[path] != nil) == want && (paths[group] != nil) == want, err
	})
}

// sameDocuments compares the documents of both versions, and the list of those of version 3. The order of keys in
// version 2 is another on the two servers, and with it the hash; version 3 is the same to the byte.
func sameDocuments(t *testing.T, ours, stock clients) {
	a, b := get(t, ours, "/openapi/v2", "Accept", asJSON), get(t, stock, "/openapi/v2", "Accept", asJSON)
	sameHeader(t, "/openapi/v2", a, b, "Content-Type", "Vary", "Cache-Control")
	if differ := differing(withoutMetrics(t, a.body), b.body); len(differ) > 0 {
		t.Errorf("version 2 differs in %v", differ)
	}
	revalidated(t, ours, "/openapi/v2", asJSON, a)
	zipped(t, ours, "/openapi/v2", asJSON, a)

	groups := listed(t, stock)
	metrics := []string{"apis/metrics.k8s.io", "apis/metrics.k8s.io/v1beta1"} // of package metricsapi
	if got := listed(t, ours); !slices.Equal(got, slices.Sorted(slices.Values(slices.Concat(groups, metrics)))) {
		t.Errorf("listed are %v, and on the stock server %v", got, groups)
	}
	if len(groups) < 30 { // the built-in ones alone are more
		t.Errorf("only these are listed: %v", groups)
	}
	for _, group := range groups {
		sameDocument(t, ours, stock, "/openapi/v3/"+group, asJSON)
	}
	sameDocument(t, ours, stock, "/openapi/v3/apis/apps/v1", asProtobufV3)
}

// sameBinary compares the document of version 2 in its binary form, in which clients read it.
func sameBinary(t *testing.T, ours, stock clients) {
	var documents [2]map[string]any
	for i, c := range []clients{ours, stock} {
		document, err := c.Discovery().OpenAPISchema()
		if err != nil {
			t.Fatal(err)
		}
		text, err := document.YAMLValue("")
		if err == nil {
			err = yaml.Unmarshal(text, &documents[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(documents[0]) == 0 {
		t.Error("the document is empty")
	}
	leaveOutMetrics(t, documents[0])
	if differ := differences(documents[0], documents[1]); len(differ) > 0 {
		t.Errorf("version 2 in protobuf differs in %v", differ)
	}
}

// listed are the names of the documents of version 3.
func listed(t *testing.T, c clients) []string {
	t.Helper()
	paths, err := c.Discovery().OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(paths))
}

func sameDocument(t *testing.T, ours, stock clients, path, accept string) {
	t.Helper()
	a, b := get(t, ours, path, "Accept", accept), get(t, stock, path, "Accept", accept)
	sameHeader(t, path, a, b, "Content-Type", "Vary", "Cache-Control", "Etag", "Content-Length")
	if !bytes.Equal(a.body, b.body) {
		t.Errorf("%s as %s: %d bytes, on the stock server %d; they differ in %v", path, accept, len(a.body), len(b.body), differing(a.body, b.body))
	}
	revalidated(t, ours, path, accept, a)
}

// sameHeader compares two answers but for their bodies.
func sameHeader(t *testing.T, path string, a, b answer, names ...string) {
	t.Helper()
	if a.status != http.StatusOK || b.status != http.StatusOK {
		t.Fatalf("%s: status %d, on the stock server %d", path, a.status, b.status)
	}
	for _, name := range names {
		if x, y := a.header.Values(name), b.header.Values(name); !slices.Equal(x, y) {
			t.Errorf("%s: %s is %q, on the stock server %q", path, name, x, y)
		}
	}
}

// revalidated asks again for what has not changed.
func revalidated(t *testing.T, c clients, path, accept string, known answer) {
	t.Helper()
	again := get(t, c, path, "Accept", accept, "If-None-Match", known.header.Get("Etag"))
	if again.status != http.StatusNotModified || len(again.body) > 0 {
		t.Errorf("%s as %s: status %d with %d bytes for who has it", path, accept, again.status, len(again.body))
	}
}

// zipped asks for it compressed.
func zipped(t *testing.T, c clients, path, accept string, known answer) {
	t.Helper()
	a := get(t, c, path, "Accept", accept, "Accept-Encoding", "gzip")
	if a.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s as %s is not compressed: %q", path, accept, a.header)
		return
	}
	unzip, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(unzip)
	if err != nil || !bytes.Equal(body, known.body) {
		t.Errorf("%s as %s is another when it is compressed, %v", path, accept, err)
	}
}

// withoutMetrics is a document of version 2 without the metrics API, which the stock server does not have.
func withoutMetrics(t *testing.T, document []byte) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(document, &all); err != nil {
		t.Fatal(err)
	}
	leaveOutMetrics(t, all)
	rest, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return rest
}

// leaveOutMetrics takes out what is described of the metrics API, which must be something. No other group has a kind
// with a duration.
func leaveOutMetrics(t *testing.T, document map[string]any) {
	t.Helper()
	for part, of := range map[string]string{"paths": "/apis/metrics.k8s.io/", "definitions": "io.k8s.metrics."} {
		described, _ := document[part].(map[string]any)
		before := len(described)
		maps.DeleteFunc(described, func(key string, _ any) bool {
			return strings.HasPrefix(key, of) || key == "io.k8s.apimachinery.pkg.apis.meta.v1.Duration"
		})
		if before == len(described) {
			t.Errorf("no %s of the metrics API are described", part)
		}
	}
}

// differing are the paths in two JSON documents whose values differ.
func differing(a, b []byte) []string {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return []string{"what is no JSON"}
	}
	return differences(x, y)
}

// differences are the paths of values that differ, as far down as both have objects.
func differences(x, y map[string]any) (paths []string) {
	both := maps.Clone(x)
	maps.Copy(both, y)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		m, ok := x[key].(map[string]any)
		n, also := y[key].(map[string]any)
		if ok && also {
			for _, below := range differences(m, n) {
				paths = append(paths, key+" "+below)
			}
		} else if !reflect.DeepEqual(x[key], y[key]) {
			paths = append(paths, key)
		}
	}
	const enough = 10
	return paths[:min(len(paths), enough)]
}

// An answer is what a server answers, as it is on the wire.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// get gets a path with header fields.
func get(t *testing.T, c clients, path string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.config.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}
