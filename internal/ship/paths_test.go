package ship

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

// configuration calls the Service of shipped at a path.
func configuration(t *testing.T, path, policy string) *unstructured.Unstructured {
	t.Helper()
	return objects(t, `
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: a}
webhooks:
- {name: first, failurePolicy: `+policy+`, clientConfig: {service: {name: webhooks, namespace: sea, path: `+path+`}}}
- {name: far, clientConfig: {url: "https://example.com"}}
`)[0]
}

// TestAnsweredNow: webhooks whose paths change are called there at once if all that runs answers there for certain.
func TestAnsweredNow(t *testing.T) {
	const pods = "/api/v1/namespaces/sea/pods?labelSelector=app%3Dop"
	known := func(paths ...string) func(*harbour, http.ResponseWriter, string, int) {
		return func(_ *harbour, w http.ResponseWriter, at string, _ int) {
			for _, path := range paths {
				if strings.HasSuffix(at, path) {
					return
				}
			}
			http.Error(w, "404 page not found", http.StatusNotFound)
		}
	}
	for name, test := range map[string]struct {
		live, policy string // of the cluster's configuration
		proxy        func(*harbour, http.ResponseWriter, string, int)
		change       func(h *harbour)
		want         bool
	}{
		"all answer":                {live: "/old", proxy: known("/new", "/old"), want: true},
		"one does not":              {live: "/old", proxy: known("a:9443/new", "/old")},
		"any path is answered":      {live: "/old", proxy: known("")},
		"nothing changes":           {live: "/new", proxy: known("/new")},
		"failures were ignored":     {live: "/old", policy: "Ignore", proxy: known("/new")},
		"there is no configuration": {proxy: known("/new")},
		"it may not be asked": {live: "/old", proxy: func(h *harbour, w http.ResponseWriter, _ string, _ int) {
			h.refuse(w, apierrors.NewForbidden(podResource.GroupResource(), "a", errors.New("no")))
		}},
		"it cannot be asked": {live: "/old", proxy: func(h *harbour, w http.ResponseWriter, _ string, _ int) { h.refuse(w, noCertificate) }},
		"no pods": {live: "/old", proxy: known("/new"), change: func(h *harbour) {
			h.content[pods].(map[string]any)["items"] = []any{}
		}},
		"what comes is of another owner": {live: "/old", proxy: known("/new"), change: func(h *harbour) {
			late := h.content[pods].(map[string]any)["items"].([]any)[2].(map[string]any)
			late["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"uid": "other", "controller": true}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarbour(t)
			h.proxy = test.proxy
			const live = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/a"
			if delete(h.content, live); test.live != "" {
				h.content[live] = configuration(t, test.live, "Fail").Object
				if test.policy != "" {
					h.content[live] = configuration(t, test.live, test.policy).Object
				}
			}
			if test.change != nil {
				test.change(h)
			}
			server := httptest.NewServer(h)
			defer server.Close()
			c, err := New(&rest.Config{Host: server.URL}, "default", report.Discard)
			if err != nil {
				t.Fatal(err)
			}
			wanted := configuration(t, "/new", "Fail")
			u, err := (&application{cluster: c}).planUpgrade(t.Context(), append(objects(t, shipped)[:1], wanted), true)
			if err != nil {
				t.Fatal(err)
			}
			if _, held := u.held[wanted]; held == test.want || (len(u.ahead) == 1) != test.want {
				t.Errorf("held: %v, ahead: %d", held, len(u.ahead))
			}
			if test.live == "/new" && len(h.asked) > 0 {
				t.Errorf("asked were %v", h.asked)
			}
		})
	}
}

// TestStages: configurations that what runs answers come before what runs is replaced, and after what they need.
func TestStages(t *testing.T) {
	all := objects(t, "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: op}\n---"+shipped)
	for name, test := range map[string]struct {
		ahead bool
		want  string
	}{
		"held or not": {false, "Service Deployment ValidatingWebhookConfiguration"},
		"ahead":       {true, "Service ValidatingWebhookConfiguration Deployment"},
	} {
		u := &upgrade{application: &application{}, objects: all}
		if test.ahead {
			u.ahead = all[2:3]
		}
		var kinds []string
		for _, stage := range u.stages() {
			for _, object := range stage {
				kinds = append(kinds, object.GetKind())
			}
		}
		if got := strings.Join(kinds, " "); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
