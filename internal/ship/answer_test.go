package ship

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// shipped is a Service, and webhooks that are called there and elsewhere.
const shipped = `
kind: Service
apiVersion: v1
metadata: {name: webhooks, namespace: sea}
spec: {selector: {app: op}, ports: [{port: 80}, {port: 443, protocol: UDP, targetPort: 1}, {port: 443, targetPort: hooks}]}
---
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: a}
webhooks:
- {name: first, clientConfig: {caBundle: QQ==, service: {name: webhooks, namespace: sea}}}
- {name: second, clientConfig: {caBundle: QQ==, service: {name: webhooks, namespace: sea, port: 443}}}
- {name: others, clientConfig: {caBundle: QQ==, service: {name: webhooks, namespace: lake}}}
- {name: far, clientConfig: {caBundle: QQ==, url: "https://example.com"}}
`

// behind are the Service's pods: two that are ready, of which the second has the port by another number and in a
// sidecar, one that is not ready, and one that is being deleted.
const behind = `
kind: PodList
apiVersion: v1
items:
- {metadata: {name: a}, spec: {containers: [{name: c}, {name: d, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
- {metadata: {name: b}, spec: {containers: [{name: c}], initContainers: [{name: d, restartPolicy: Always, ports: [{name: hooks, containerPort: 19443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
- {metadata: {name: late}, spec: {containers: [{name: c, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "False"}]}}
- {metadata: {name: old, deletionTimestamp: "2026-01-02T03:04:05Z"}, spec: {containers: [{name: c, ports: [{name: hooks, containerPort: 9443}]}]}, status: {conditions: [{type: Ready, status: "True"}]}}
`

const admission = `
kind: APIResourceList
apiVersion: v1
groupVersion: admissionregistration.k8s.io/v1
resources: [{name: validatingwebhookconfigurations, kind: ValidatingWebhookConfiguration, namespaced: false, verbs: [get]}]
`

// podA, podB and ofAll are asked of all that, by their names in paths.
const podA, podB, ofAll = "pods/https:a:9443", "pods/https:b:19443", "services/https:webhooks:443"

// harbour is an API server with all of that.
type harbour struct {
	t       *testing.T
	content map[string]any // by path
	proxy   func(h *harbour, w http.ResponseWriter, whom string, times int)
	mu      sync.Mutex
	asked   map[string]int
}

func newHarbour(t *testing.T) *harbour {
	const sea, group = "/api/v1/namespaces/sea/", "/apis/admissionregistration.k8s.io/v1"
	ship, pods := objects(t, shipped), objects(t, behind)[0]
	return &harbour{t: t, asked: map[string]int{}, content: map[string]any{
		sea + "services/webhooks": ship[0].Object, group: objects(t, admission)[0].Object, group + "/validatingwebhookconfigurations/a": ship[1].Object,
		sea + "pods?labelSelector=app%3Dop": pods.Object,
	}}
}

func (h *harbour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if whom, path, ok := strings.Cut(r.URL.Path, "/proxy/"); ok {
		whom = strings.TrimSuffix(strings.TrimPrefix(whom, "/api/v1/namespaces/sea/")+"/"+path, "/")
		h.mu.Lock()
		h.asked[whom]++
		times := h.asked[whom]
		h.mu.Unlock()
		h.proxy(h, w, whom, times)
		return
	}
	content, ok := h.content[r.URL.RequestURI()]
	if refusal, is := content.(*apierrors.StatusError); is {
		h.refuse(w, refusal)
	} else if !ok {
		http.NotFound(w, r)
	} else {
		h.write(w, http.StatusOK, content)
	}
}

func (h *harbour) write(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		h.t.Error(err)
	}
}

// refuse answers as an API server does that could not ask, or would not.
func (h *harbour) refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.APIVersion, status.Kind = "v1", "Status"
	h.write(w, int(status.Code), status)
}

// noCertificate is what an API server says of a pod that has none.
var noCertificate = apierrors.NewServiceUnavailable("error trying to reach service: remote error: tls: internal error")

func TestAwaitAnswer(t *testing.T) {
	answer := func(*harbour, http.ResponseWriter, string, int) {}
	refuse := func(whom string, until int, err *apierrors.StatusError) func(*harbour, http.ResponseWriter, string, int) {
		return func(h *harbour, w http.ResponseWriter, at string, times int) {
			if at == whom && times < until {
				h.refuse(w, err)
			}
		}
	}
	const never = 1 << 30
	for name, test := range map[string]struct {
		proxy  func(h *harbour, w http.ResponseWriter, whom string, times int)
		change func(h *harbour)
		asked  []string
		warns  string
		fails  error
	}{
		"all answer, whatever": {proxy: func(h *harbour, w http.ResponseWriter, whom string, _ int) {
			switch whom {
			case podA:
				http.Error(w, "404 page not found", http.StatusNotFound)
			case podB:
				http.Error(w, "busy", http.StatusServiceUnavailable)
			case ofAll:
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(http.StatusFound)
			}
		}, asked: []string{podA, podB, ofAll}},
		"as an API server does": {proxy: refuse(podB, never, apierrors.NewUnauthorized("who are you")), asked: []string{podA, podB, ofAll}},
		"it may not be asked":   {proxy: refuse(podA, never, apierrors.NewForbidden(podResource.GroupResource(), "a", errors.New("no"))), asked: []string{podA, podB, ofAll}},
		"one is late":           {proxy: refuse(podB, 4, noCertificate), asked: []string{podA, podB, ofAll}},
		"one never does":        {proxy: refuse(podB, never, noCertificate), asked: []string{podA, podB}, warns: "pod b: error trying to reach service"},
		"the Service does not":  {proxy: refuse(ofAll, never, noCertificate), asked: []string{podA, podB, ofAll}, warns: "service webhooks: error trying"},
		"no pods": {proxy: answer, change: func(h *harbour) {
			h.content["/api/v1/namespaces/sea/pods?labelSelector=app%3Dop"].(map[string]any)["items"] = []any{}
		}},
		"no selector": {proxy: answer, change: func(h *harbour) {
			delete(h.content["/api/v1/namespaces/sea/services/webhooks"].(map[string]any)["spec"].(map[string]any), "selector")
		}},
		"pods may not be seen": {proxy: answer, change: func(h *harbour) {
			h.content["/api/v1/namespaces/sea/pods?labelSelector=app%3Dop"] = apierrors.NewForbidden(podResource.GroupResource(), "", errors.New("no"))
		}},
		"pods cannot be seen": {proxy: answer, change: func(h *harbour) {
			h.content["/api/v1/namespaces/sea/pods?labelSelector=app%3Dop"] = apierrors.NewInternalError(errors.New("no"))
		}, fails: apierrors.NewInternalError(errors.New("no"))},
	} {
		t.Run(name, func(t *testing.T) {
			h, events := newHarbour(t), &recorder{}
			h.proxy = test.proxy
			if test.change != nil {
				test.change(h)
			}
			server := httptest.NewServer(h)
			defer server.Close()
			c, err := New(&rest.Config{Host: server.URL}, "default", events)
			if err != nil {
				t.Fatal(err)
			}
			w := watch{cluster: c, start: time.Now(), patience: testlimit.Hang}
			if test.warns != "" {
				w.patience = 300 * time.Millisecond
			}
			err = w.awaitTrust(t.Context(), objects(t, shipped))
			if (err != nil) != (test.fails != nil) || err != nil && apierrors.ReasonForError(failure(t, err).Err) != apierrors.ReasonForError(test.fails) {
				t.Errorf("%v, want %v", err, test.fails)
			}
			told := strings.Join(events.lines, "\n")
			if strings.Contains(told, "may not answer") != (test.warns != "") || !strings.Contains(told, test.warns) {
				t.Errorf("told was %q, want %q", told, test.warns)
			}
			var asked []string
			for whom := range h.asked {
				asked = append(asked, whom)
			}
			slices.Sort(asked)
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Error(diff)
			}
			if n := h.asked[ofAll]; n > 1 && test.warns == "" {
				t.Errorf("the Service was asked %d times, for each webhook that calls it", n)
			}
		})
	}
}

// TestAskSilent: one who does not answer at all is not waited for any longer than that, and not once the caller has
// given up.
func TestAskSilent(t *testing.T) {
	h := newHarbour(t)
	left := make(chan struct{})
	h.proxy = func(*harbour, http.ResponseWriter, string, int) { <-left }
	server := httptest.NewServer(h)
	defer server.Close()
	defer close(left)
	c, err := New(&rest.Config{Host: server.URL}, "default", report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	d := door{"pods", "a", 9443}
	if silent, err := c.ask(t.Context(), "sea", d, time.Millisecond); silent == nil || err != nil {
		t.Errorf("%v, %v", silent, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if silent, err := c.ask(ended, "sea", d, testlimit.Hang); silent != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", silent, err)
	}
}
