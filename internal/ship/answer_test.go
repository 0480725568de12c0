package ship

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

// behind is what an API server knows of a Service: two pods that are ready, of which the second has a port by another number, one that is not,
// and one that is being deleted.
const behind = `
kind: Service
apiVersion: v1
metadata: {name: webhooks, namespace: sea}
spec: {selector: {app: op}, ports: [{port: 80}, {port: 443, targetPort: hooks}]}
---
kind: PodList
apiVersion: v1
items:
- {metadata: {name: a}, spec: {containers: [{name: c}, {name: d, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
- {metadata: {name: b}, spec: {containers: [{name: c, ports: [{name: hooks, containerPort: 19443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
- {metadata: {name: late}, spec: {containers: [{name: c, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "False"}]}}
- {metadata: {name: old, deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {containers: [{name: c, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
`

// harbour is an API server that answers for pods and Services.
type harbour struct {
	t      *testing.T
	proxy  func(w http.ResponseWriter, whom string, times int)
	mu     sync.Mutex
	called map[string]int
}

func (h *harbour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const sea = "/api/v1/namespaces/sea/"
	known := objects(h.t, behind)
	path := strings.TrimPrefix(r.URL.Path, sea)
	switch {
	case path == "services/webhooks":
		h.write(w, known[0].Object)
	case path == "pods" && r.URL.Query().Get("labelSelector") == "app=op":
		h.write(w, known[1].Object)
	case strings.HasSuffix(path, "/proxy/"):
		whom := strings.TrimSuffix(path, "/proxy/")
		h.mu.Lock()
		h.called[whom]++
		times := h.called[whom]
		h.mu.Unlock()
		h.proxy(w, whom, times)
	default:
		http.NotFound(w, r)
	}
}

func (h *harbour) write(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		h.t.Error(err)
	}
}

// refuse answers as an API server does that could not ask, or would not.
func (h *harbour) refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.APIVersion, status.Kind = "v1", "Status"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	if err := json.NewEncoder(w).Encode(status); err != nil {
		h.t.Error(err)
	}
}

func TestAwaitAnswer(t *testing.T) {
	all := []string{"pods/https:a:9443", "pods/https:b:19443", "services/https:webhooks:443"}
	for name, test := range map[string]struct {
		proxy func(h *harbour, w http.ResponseWriter, whom string, times int)
		asked []string
		fails string // what the error says
	}{
		"all answer": {func(_ *harbour, w http.ResponseWriter, whom string, _ int) {
			switch whom { // whatever they say
			case all[0]:
				http.Error(w, "404 page not found", http.StatusNotFound)
			case all[1]:
				http.Error(w, "busy", http.StatusServiceUnavailable)
			}
		}, all, ""},
		"one is late": {func(h *harbour, w http.ResponseWriter, whom string, times int) {
			if whom == all[1] && times < 4 {
				h.refuse(w, apierrors.NewServiceUnavailable("error trying to reach service: remote error: tls: internal error"))
			}
		}, all, ""},
		"one never does": {func(h *harbour, w http.ResponseWriter, whom string, _ int) {
			if whom == all[1] {
				h.refuse(w, apierrors.NewServiceUnavailable("error trying to reach service: remote error: tls: internal error"))
			}
		}, all[:2], "its webhooks do not answer within 300ms: pod b: error trying to reach service"},
		"the Service does not": {func(h *harbour, w http.ResponseWriter, whom string, _ int) {
			if whom == all[2] {
				h.refuse(w, apierrors.NewServiceUnavailable(`no endpoints available for service "https:webhooks:"`))
			}
		}, all, "service webhooks: no endpoints available"},
		"it may not be asked": {func(h *harbour, w http.ResponseWriter, _ string, _ int) {
			h.refuse(w, apierrors.NewForbidden(podResource.GroupResource(), "a", errors.New("not allowed")))
		}, all, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &harbour{t: t, called: map[string]int{}}
			h.proxy = func(w http.ResponseWriter, whom string, times int) { test.proxy(h, w, whom, times) }
			server := httptest.NewServer(h)
			defer server.Close()
			c, err := New(&rest.Config{Host: server.URL}, "default", report.Discard)
			if err != nil {
				t.Fatal(err)
			}
			patience := time.Minute
			if test.fails != "" {
				patience = 300 * time.Millisecond
			}
			w := watch{cluster: c, start: time.Now(), patience: patience}
			configuration := objects(t, "kind: ValidatingWebhookConfiguration\napiVersion: v1\nmetadata: {name: a}\nwebhooks: [{clientConfig: {service: {name: webhooks, namespace: sea}}}]")[0]
			services := calledBy(configuration)
			if want := []called{{"sea", "webhooks", 443}}; !slices.Equal(services, want) {
				t.Fatalf("called are %v, want %v", services, want)
			}
			err = w.awaitAnswer(t.Context(), configuration, services[0])
			if fmt.Sprint(err) != "<nil>" && test.fails == "" || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("%v, want %q", err, test.fails)
			}
			var asked []string
			for whom := range h.called {
				asked = append(asked, whom)
			}
			slices.Sort(asked)
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}
