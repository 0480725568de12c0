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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func (r *revisions) now() int64 { return r.last }

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
	inner := &revisions{last: 5, gate: make(chan struct{})}
	close(inner.gate)
	c := authorship.New(nil, inner.now)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	r := httptest.NewRequest("PATCH", "/x?fieldManager=example.com%2Fme&force=true", nil)
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
	want := protocol.RecordAuthor{User: "jane", Agent: "kubectl/v1", Manager: "example.com/me", Verb: "apply", Subresource: "status", Call: 1}
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
	inner := &revisions{gate: make(chan struct{})}
	c := authorship.New(nil, inner.now)
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

// faulty is a storage whose writes are committed, but return an error or another revision.
type faulty struct {
	revisions
	err      error
	revision int64
}

func (f *faulty) GuaranteedUpdate(
	_ context.Context, _ string, out runtime.Object, _ bool, _ *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	if _, _, err := update(&corev1.Pod{}, storage.ResponseMeta{ResourceVersion: 1}); err != nil {
		return err
	}
	out.(*corev1.Pod).ResourceVersion = strconv.FormatInt(f.revision, 10)
	return f.err
}

var unchanged = func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
	return input, nil, nil
}

// TestUnknown: what a client may have written is not said to be written by none, nor by another client.
func TestUnknown(t *testing.T) {
	const key = "/pods/default/a"
	for name, f := range map[string]*faulty{
		"the client is gone":  {err: context.Canceled},
		"no answer":           {err: storage.NewUnreachableError(key, 0)},
		"conflict":            {err: storage.NewResourceVersionConflictsError(key, 0)},
		"stale, no effect":    {revision: 7},
		"written":             {revision: 8},
		"also another's":      {revision: 8},
		"began after changes": {revision: 12},
	} {
		f.last = 7
		c := authorship.New(nil, f.now)
		s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", f)
		update := func(who string) {
			ctx := request.WithUser(t.Context(), &user.DefaultInfo{Name: who})
			if err := s.GuaranteedUpdate(ctx, key, &corev1.Pod{}, false, nil, unchanged, nil); !errors.Is(err, f.err) {
				t.Error(err)
			}
		}
		update("jane")
		if f.err != nil { // also another time, later
			f.last = 9
			update("jane")
		}
		if name == "also another's" {
			update("joe")
		}
		w, known := c.Written(key, 8, 0)
		got := map[bool]string{true: "nobody", false: "unknown"}[known]
		if known && w.By != nil {
			got = w.By.User
		}
		want := map[string]string{"the client is gone": "unknown", "no answer": "unknown", "written": "jane", "also another's": "unknown"}[name]
		if want == "" {
			want = "nobody"
		}
		if got != want {
			t.Errorf("%s: %s in place of %s", name, got, want)
		}
	}
}

// TestMany: authors wait for their changes; those that had no room are not known.
func TestMany(t *testing.T) {
	f := &faulty{}
	c := authorship.New(nil, f.now)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", f)
	const writes = 20_000
	ctx := request.WithUser(t.Context(), &user.DefaultInfo{Name: "jane"})
	for f.revision = 1; f.revision <= writes; f.revision++ {
		f.last = f.revision - 1
		if err := s.GuaranteedUpdate(ctx, "/pods/default/a", &corev1.Pod{}, false, nil, unchanged, nil); err != nil {
			t.Fatal(err)
		}
	}
	unknown := 0
	for revision := range int64(writes) {
		switch w, known := c.Written("/pods/default/a", revision+1, 0); {
		case !known:
			unknown++
		case w.By == nil || w.By.User != "jane":
			t.Fatal(revision, "was written by no client")
		}
	}
	if unknown != writes-1<<14 {
		t.Error(unknown, "authors are not known")
	}
}

// TestLaterWrites: a change does not wait for writes that began behind it, nor for those in which admission runs.
func TestLaterWrites(t *testing.T) {
	inner := &revisions{last: 8, gate: make(chan struct{})}
	c := authorship.New(nil, inner.now)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	admitting, judged := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.GuaranteedUpdate(t.Context(), "/pods/default/a", &corev1.Pod{}, false, nil, func(runtime.Object, storage.ResponseMeta) (runtime.Object, *uint64, error) {
			close(admitting)
			<-judged
			return nil, nil, errors.New("denied")
		}, nil)
	}()
	<-admitting
	go func() { _ = s.Create(t.Context(), "/pods/default/b", &corev1.Pod{}, &corev1.Pod{}, 0) }()
	for {
		if _, known := c.Written("/pods/default/b", 9, time.Millisecond); !known { // it is under way
			break
		}
	}
	for key, revision := range map[string]int64{"/pods/default/a": 9, "/pods/default/b": 8} {
		if _, known := c.Written(key, revision, 0); !known {
			t.Error("a change of", key, "waits")
		}
	}
	close(judged)
	close(inner.gate)
}

// TestDecisions: each write has the decisions about its own object, and of its last attempt.
func TestDecisions(t *testing.T) {
	inner := &revisions{last: 5, gate: make(chan struct{})}
	close(inner.gate)
	c := authorship.New(nil, inner.now)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	judge := authorship.Admission(plugin{admission.NewHandler(admission.Delete)}, "Judge").(admission.ValidationInterface)
	serve(c, httptest.NewRequest("DELETE", "/x", nil), func(ctx context.Context) {
		for _, name := range []string{"a", "b"} {
			a := admission.NewAttributesRecord(nil, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, schema.GroupVersionKind{}, "default", "",
				schema.GroupVersionResource{Resource: "pods"}, "", admission.Delete, nil, false, nil)
			err := s.GuaranteedUpdate(ctx, "/pods/default/"+name, &corev1.Pod{}, false, nil, func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
				_ = judge.Validate(ctx, a, nil)
				return input, nil, nil
			}, nil)
			if err != nil {
				t.Error(err)
			}
		}
	})
	for revision := int64(6); revision <= 7; revision++ {
		if w, _ := c.Written("/pods/default/"+string(rune('a'+revision-6)), revision, 0); len(w.Decisions) != 2 {
			t.Errorf("%d: %+v", revision, w.Decisions)
		}
	}
}

// TestLongHeaders: what a client says of itself is bounded.
func TestLongHeaders(t *testing.T) {
	inner := &revisions{gate: make(chan struct{})}
	close(inner.gate)
	c := authorship.New(nil, inner.now)
	s := c.Storage(schema.GroupResource{Resource: "pods"}, "/pods", inner)
	r := httptest.NewRequest("POST", "/x?fieldManager="+strings.Repeat("m", 1<<16), nil)
	r.Header.Set("User-Agent", strings.Repeat("a", 1<<20))
	r.Header.Set("Traceparent", strings.Repeat("t", 1<<20))
	serve(c, r, func(ctx context.Context) { _ = s.Create(ctx, "/pods/default/a", &corev1.Pod{}, &corev1.Pod{}, 0) })
	if w, _ := c.Written("/pods/default/a", 1, 0); w.By == nil || len(w.By.Agent)+len(w.By.Trace)+len(w.By.Manager) > 2000 {
		t.Error(len(w.By.Agent), len(w.By.Trace), len(w.By.Manager))
	}
}

func TestObject(t *testing.T) {
	c := authorship.New(nil, (&revisions{}).now)
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
	c := authorship.New(func(e protocol.RecordEntry) { got = append(got, e) }, (&revisions{}).now)
	judge := authorship.Admission(plugin{admission.NewHandler(admission.Create)}, "Judge").(admission.ValidationInterface)
	refuse := func(method, path, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			authorship.Authenticated(r.Context(), &user.DefaultInfo{Name: "joe"})
			a := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "default", "", schema.GroupVersionResource{Resource: "pods"}, "", "", nil, false, nil)
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
