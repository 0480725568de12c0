package authorship_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage"

	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// revisions is a storage that gives each write the next revision.
type revisions struct {
	storage.Interface
	last int64
	gate chan struct{} // closed: writes are committed at once
}

func (r *revisions) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (r *revisions) commit(out runtime.Object) {
	<-r.gate
	r.last++
	out.(*corev1.Pod).ResourceVersion = strconv.FormatInt(r.last, 10)
}

func (r *revisions) Create(_ context.Context, _ string, _, out runtime.Object, _ uint64) error {
	r.commit(out)
	return nil
}

func (r *revisions) GuaranteedUpdate(
	_ context.Context, _ string, out runtime.Object, _ bool, _ *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	_, _, err := update(&corev1.Pod{}, storage.ResponseMeta{ResourceVersion: uint64(r.last)})
	if err != nil {
		return err
	}
	if out.(*corev1.Pod).Name == "same" {
		out.(*corev1.Pod).ResourceVersion = strconv.FormatInt(r.last, 10)
		return nil
	}
	r.commit(out)
	return nil
}

// serve lets a handler act within a request.
func serve(c *authorship.Calls, r *http.Request, act func(context.Context)) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	c.Serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := request.WithUser(r.Context(), &user.DefaultInfo{Name: "jane"})
		act(request.WithRequestInfo(ctx, &request.RequestInfo{Verb: "patch", Subresource: "status"}))
	}), w, r)
	return w
}

func TestWritten(t *testing.T) {
	c := authorship.New(nil)
	inner := &revisions{last: 5, gate: make(chan struct{})}
	close(inner.gate)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	r := httptest.NewRequest("PATCH", "/x?fieldManager=me&force=true", nil)
	r.Header.Set("User-Agent", "kubectl/v1")
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	same := func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
		return input, nil, nil
	}
	serve(c, r, func(ctx context.Context) {
		pod := &corev1.Pod{}
		if err := s.Create(ctx, "/pods/default/a", pod, pod, 0); err != nil {
			t.Error(err)
		}
		inner := httptest.NewRequestWithContext(ctx, "POST", "/y", nil)
		serve(c, inner, func(ctx context.Context) {
			if err := s.GuaranteedUpdate(ctx, "/pods/default/a", pod, false, nil, same, nil); err != nil {
				t.Error(err)
			}
		})
		pod.Name = "same"
		if err := s.GuaranteedUpdate(ctx, "/pods/default/a", pod, false, nil, same, nil); err != nil {
			t.Error(err)
		}
		errRefused := errors.New("refused")
		err := s.GuaranteedUpdate(ctx, "/pods/default/a", pod, false, nil, func(runtime.Object, storage.ResponseMeta) (runtime.Object, *uint64, error) {
			return nil, nil, errRefused
		}, nil)
		if !errors.Is(err, errRefused) {
			t.Error(err)
		}
	})
	first, known := c.Written("/pods/default/a", 6, 0)
	want := protocol.RecordAuthor{User: "jane", Agent: "kubectl/v1", Manager: "me", Verb: "apply", Subresource: "status", Call: 1}
	if !known || first.By == nil || *first.By != want {
		t.Errorf("%+v", first.By)
	}
	if second, known := c.Written("/pods/default/a", 7, 0); !known || second.By == nil || second.By.Within != 1 || second.By.Call != 2 {
		t.Errorf("%+v", second.By)
	}
	if other, known := c.Written("/pods/default/a", 8, 0); !known || other.By != nil {
		t.Errorf("%+v", other.By)
	}
}

// TestUnderWay: a change waits for the write that may be its own, and for no other.
func TestUnderWay(t *testing.T) {
	c := authorship.New(nil)
	inner := &revisions{gate: make(chan struct{})}
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	ctx := request.WithUser(t.Context(), &user.DefaultInfo{Name: "jane"})
	go func() {
		pod := &corev1.Pod{}
		_ = s.Create(ctx, "/pods/default/a", pod, pod, 0)
	}()
	for {
		if _, known := c.Written("/pods/default/a", 1, time.Millisecond); !known { // the write is under way
			break
		}
	}
	if w, known := c.Written("/pods/default/b", 1, time.Minute); !known || w.By != nil {
		t.Error("another key:", w, known)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(inner.gate) })
	if w, known := c.Written("/pods/default/a", 1, time.Minute); !known || w.By == nil || w.By.User != "jane" {
		t.Error(w, known)
	}
}

func TestObject(t *testing.T) {
	c := authorship.New(nil)
	c.Storage(schema.GroupResource{Resource: "services"}, "services/specs", nil)
	c.Storage(schema.GroupResource{Group: "apps", Resource: "deployments"}, "/deployments", nil)
	for key, want := range map[string]protocol.RecordObject{
		"/services/specs/default/a":       {Resource: "services", Namespace: "default", Name: "a"},
		"/deployments/default/a":          {Group: "apps", Resource: "deployments", Namespace: "default", Name: "a"},
		"/namespaces/a":                   {Resource: "namespaces", Name: "a"},
		"/example.com/widgets/default/a":  {Group: "example.com", Resource: "widgets", Namespace: "default", Name: "a"},
		"/example.com/clusters/a.b.c:d/e": {Group: "example.com", Resource: "clusters", Namespace: "a.b.c:d", Name: "e"},
	} {
		if got := *c.Object(key); got != want {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

type plugin struct{ *admission.Handler }

func (plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	for key, value := range map[string]string{
		"mutation.webhook.admission.k8s.io/round_0_index_0": `{"configuration":"c","webhook":"w","mutated":true}`,
		"mutation.webhook.admission.k8s.io/round_0_index_1": `{"configuration":"c","webhook":"v","mutated":false}`,
		"w/of-the-webhooks-own":                             "anything",
	} {
		if err := a.AddAnnotation(key, value); err != nil {
			return err
		}
	}
	return errors.New("no")
}

// TestRefusal: a refused write is reported with the server's message and what admission did about it; that of a Secret
// without both.
func TestRefusal(t *testing.T) {
	var got []protocol.RecordEntry
	c := authorship.New(func(e protocol.RecordEntry) { got = append(got, e) })
	judge := authorship.Admission(plugin{admission.NewHandler(admission.Create)}, "Judge").(admission.ValidationInterface)
	refuse := func(method, path, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			authorship.Authenticated(r.Context(), &user.DefaultInfo{Name: "joe"})
			a := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "", "", schema.GroupVersionResource{}, "", "", nil, false, nil)
			_ = judge.Validate(r.Context(), a, nil)
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(body))
		}), w, httptest.NewRequest(method, path, nil))
		if w.Code != http.StatusForbidden || w.Body.String() != body {
			t.Error("the answer is", w.Code, w.Body)
		}
	}
	const body = `{"kind":"Status","message":"no value","reason":"Forbidden","details":{"name":"new"}}`
	refuse("GET", "/api/v1/pods", body)
	refuse("POST", "/api/v1/namespaces/default/pods", body)
	refuse("PUT", "/api/v1/namespaces/default/secrets/s", body)
	refuse("POST", "/elsewhere", strings.Repeat("x", 1<<20))
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	pod, secret, other := got[0], got[1], got[2]
	if pod.Message != "no value" || pod.Reason != "Forbidden" || pod.Object.Name != "new" || pod.By.User != "joe" || pod.By.Verb != "create" || pod.Status != 403 {
		t.Errorf("%+v %+v", pod, pod.By)
	}
	if d := pod.Decisions; len(d) != 2 || d[0] != (protocol.RecordDecision{Plugin: "Judge", Effect: "mutated", Text: "w"}) || d[1].Effect != "denied" || d[1].Text != "no" {
		t.Errorf("%+v", d)
	}
	if secret.Message != "" || secret.Decisions != nil || secret.Object.Name != "s" || other.Path != "/elsewhere" {
		t.Errorf("%+v %+v", secret, other)
	}
}
