package apiserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/kube-openapi/pkg/handler3"
)

// document reads a path as JSON.
func document(t *testing.T, c kubernetes.Interface, path string, into any) {
	t.Helper()
	raw, err := c.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(t.Context()).Raw()
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestDocumentsAreMadeWhenAskedFor: the list names the built-in groups beside other APIs, and what it leads to
// describes their kinds. The document of version 2 has all of them.
func TestDocumentsAreMadeWhenAskedFor(t *testing.T) {
	c := theServer(t).client(t)
	var list handler3.OpenAPIV3Discovery
	document(t, c, root, &list)
	for group, kind := range map[string]string{
		"api/v1": "io.k8s.api.core.v1.Pod", "apis/apps/v1": "io.k8s.api.apps.v1.Deployment",
		"apis/apiextensions.k8s.io/v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
	} {
		entry, ok := list.Paths[group]
		if !ok {
			t.Errorf("the list lacks %s", group)
			continue
		}
		var d struct {
			Components struct{ Schemas map[string]any }
		}
		path, _, _ := strings.Cut(entry.ServerRelativeURL, "?")
		document(t, c, path, &d)
		if d.Components.Schemas[kind] == nil {
			t.Errorf("%s does not describe %s", group, kind)
		}
	}
	var old struct {
		Info        struct{ Title string }
		Definitions map[string]any
		Paths       map[string]any
	}
	document(t, c, rootV2, &old)
	for _, kind := range []string{
		"io.k8s.api.core.v1.Pod", "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
		"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
	} {
		if old.Definitions[kind] == nil {
			t.Errorf("version 2 does not describe %s", kind)
		}
	}
	if old.Paths["/api/v1/pods"] == nil || old.Info.Title == "" {
		t.Errorf("version 2: %d paths, title %q", len(old.Paths), old.Info.Title)
	}
}

// TestListOfDocumentsFails: when the servers behind cannot list theirs, the client hears so.
func TestListOfDocumentsFails(t *testing.T) {
	d := &documents{}
	w := httptest.NewRecorder()
	d.serveList(w, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "list the OpenAPI documents") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
