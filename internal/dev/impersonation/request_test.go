package impersonation

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

func TestAbout(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		want         Request
	}{
		{"GET", "/", Request{Verb: "get", Path: "/"}},
		{"GET", "/api/v1", Request{Verb: "get", Path: "/api/v1"}},
		{"GET", "/apis/apps/v1", Request{Verb: "get", Path: "/apis/apps/v1"}},
		{"POST", "/version/", Request{Verb: "post", Path: "/version/"}},
		{"GET", "/api/v1/watch", Request{Verb: "get", Path: "/api/v1/watch"}},
		{"GET", "/api/v1/pods", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"HEAD", "/api/v1/pods/?limit=5", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=1", Request{Verb: "watch", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch", Request{Verb: "watch", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=False", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=0&watch=1", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?fieldSelector=metadata.name%3Da,spec.x%3Db", Request{Verb: "list", Version: "v1", Resource: "pods", Name: "a"}},
		{"GET", "/api/v1/pods?fieldSelector=metadata.name%3D..", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?fieldSelector=metadata.name%21%3Da", Request{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/namespaces", Request{Verb: "list", Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/a", Request{Verb: "get", Version: "v1", Resource: "namespaces", Namespace: "a", Name: "a"}},
		{"PUT", "/api/v1/namespaces/a/finalize", Request{Verb: "update", Version: "v1", Resource: "namespaces", Subresource: "finalize", Namespace: "a", Name: "a"}},
		{"GET", "/api/v1/namespaces/a/pods/b/log?follow=true", Request{Verb: "get", Version: "v1", Resource: "pods", Subresource: "log", Namespace: "a", Name: "b"}},
		{"GET", "/api/v1/namespaces/a/services/b/proxy/x/y", Request{Verb: "get", Version: "v1", Resource: "services", Subresource: "proxy", Namespace: "a", Name: "b"}},
		{"GET", "/api/v1/watch/namespaces/a/pods/b", Request{Verb: "watch", Version: "v1", Resource: "pods", Namespace: "a", Name: "b"}},
		{"GET", "/api/v1/proxy/namespaces/a/pods/b/x", Request{Verb: "proxy", Version: "v1", Resource: "pods", Namespace: "a", Name: "b"}},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments", Request{Verb: "deletecollection", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "a"}},
		{"OPTIONS", "/apis/apps/v1/deployments", Request{Group: "apps", Version: "v1", Resource: "deployments"}},
	} {
		u, err := url.Parse(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, about(tt.method, u)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.method, tt.path, diff)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAboutClients: what clients of client-go ask for is what is reported.
func TestAboutClients(t *testing.T) {
	var got Request
	config := &rest.Config{Host: "https://example.com/clusters/one", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		u := *r.URL
		u.Path = strings.TrimPrefix(u.Path, "/clusters/one")
		got = about(r.Method, &u)
		return &http.Response{StatusCode: http.StatusGone, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
	})}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: "ship.example.com", Version: "v1", Resource: "frigates"}
	frigates, all := client.Resource(resource).Namespace("sea"), client.Resource(resource)
	one := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ship.example.com/v1", "kind": "Frigate", "metadata": map[string]any{"name": "a"}}}
	of := func(verb, namespace, name string, subresource ...string) Request {
		r := Request{Verb: verb, Group: resource.Group, Version: resource.Version, Resource: resource.Resource, Namespace: namespace, Name: name}
		r.Subresource = strings.Join(subresource, "/")
		return r
	}
	ctx := t.Context()
	for _, tt := range []struct {
		want Request
		call func() error
	}{
		{of("get", "sea", "a"), func() error { _, err := frigates.Get(ctx, "a", metav1.GetOptions{}); return err }},
		{of("get", "", "a"), func() error { _, err := all.Get(ctx, "a", metav1.GetOptions{}); return err }},
		{of("list", "sea", ""), func() error { _, err := frigates.List(ctx, metav1.ListOptions{}); return err }},
		{of("list", "", "a"), func() error {
			_, err := all.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"})
			return err
		}},
		{of("watch", "", ""), func() error { _, err := all.Watch(ctx, metav1.ListOptions{}); return err }},
		{of("create", "sea", ""), func() error { _, err := frigates.Create(ctx, one, metav1.CreateOptions{}); return err }},
		{of("update", "sea", "a"), func() error { _, err := frigates.Update(ctx, one, metav1.UpdateOptions{}); return err }},
		{of("update", "sea", "a", "status"), func() error { _, err := frigates.UpdateStatus(ctx, one, metav1.UpdateOptions{}); return err }},
		{of("patch", "sea", "a", "scale"), func() error {
			_, err := frigates.Patch(ctx, "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "scale")
			return err
		}},
		{of("patch", "sea", "a"), func() error {
			_, err := frigates.Apply(ctx, "a", one, metav1.ApplyOptions{FieldManager: "m"})
			return err
		}},
		{of("delete", "sea", "a"), func() error { return frigates.Delete(ctx, "a", metav1.DeleteOptions{}) }},
		{of("deletecollection", "sea", ""), func() error {
			return frigates.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "a=b"})
		}},
		{Request{Verb: "get", Path: "/version"}, func() error { _, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion(); return err }},
	} {
		got = Request{}
		if err := tt.call(); err == nil {
			t.Errorf("%+v: no error", tt.want)
		}
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// FuzzAbout: every request is either about a resource or about another path, and what is said of it stands in it.
func FuzzAbout(f *testing.F) {
	f.Add("GET", "/api/v1/namespaces/a/pods/b/log", "watch=1")
	f.Add("DELETE", "/apis/apps/v1/watch/deployments//x", "fieldSelector=metadata.name%3Da")
	f.Add("", "apis//", "%")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		u := &url.URL{Path: path, RawQuery: query}
		r := about(method, u)
		if r.Path != "" && r.Resource+r.Version+r.Namespace+r.Name+r.Subresource != "" || r.Path != "" && r.Path != path {
			t.Errorf("%q: %+v", path, r)
		}
		for _, part := range []string{r.Group, r.Version, r.Resource, r.Namespace, r.Subresource} {
			if strings.Contains(part, "/") || !strings.Contains(path, part) {
				t.Errorf("%q: %+v", path, r)
			}
		}
		if strings.Contains(r.Name, "/") {
			t.Errorf("%q: %+v", path, r)
		}
		if r.Verb == "list" || r.Verb == "watch" && !strings.Contains(path, "watch") {
			if escaped, err := url.Parse(u.RequestURI()); err == nil && about(method, escaped) != r {
				t.Errorf("%q?%q: escaped, it is %+v", path, query, about(method, escaped))
			}
		}
	})
}

// TestMissed: reports that have no room are counted, and never waited for.
func TestMissed(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	var reports []Request
	q := newQueue(func(r Request) {
		if reports = append(reports, r); len(reports) == 1 {
			close(enter)
			<-leave
		}
	})
	q.put(Request{Name: "first"})
	<-enter
	for range maxWaiting + 3 {
		q.put(Request{Name: "next"})
	}
	close(leave)
	for q.missed > 0 { // until one more has room
		q.put(Request{Name: "last"})
	}
	q.close()
	missed := 0
	for _, r := range reports {
		missed += r.Missed
	}
	last := reports[len(reports)-1]
	if last.Name != "last" || last.Missed < 3 || last.Missed != missed {
		t.Errorf("%+v after %d reports, %d missed", last, len(reports), missed)
	}
}

func readAll(contentType, answer string, size int) [2]string {
	r := newReader(contentType)
	body := read{io.NopCloser(strings.NewReader(answer)), r}
	piece := make([]byte, size)
	for {
		if _, err := body.Read(piece); errors.Is(err, io.EOF) {
			name, version := r.found()
			return [2]string{name, version}
		}
	}
}
