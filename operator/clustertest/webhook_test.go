package clustertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	crconversion "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// Gizmo is the hub of the kind that is converted.
type Gizmo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Size              int `json:"size"`
}

func (g *Gizmo) Hub() {}

func (g *Gizmo) DeepCopyObject() runtime.Object {
	c := *g
	c.ObjectMeta = *g.ObjectMeta.DeepCopy() //nolint:staticcheck // g.DeepCopy would read as a copy of g
	return &c
}

// GizmoV2 is its other version.
type GizmoV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Length            int `json:"length"`
}

func (g *GizmoV2) DeepCopyObject() runtime.Object {
	c := *g
	c.ObjectMeta = *g.ObjectMeta.DeepCopy() //nolint:staticcheck // g.DeepCopy would read as a copy of g
	return &c
}

func (g *GizmoV2) ConvertTo(hub conversion.Hub) error {
	h := hub.(*Gizmo)
	h.ObjectMeta, h.Size = g.ObjectMeta, g.Length
	return nil
}

func (g *GizmoV2) ConvertFrom(hub conversion.Hub) error {
	h := hub.(*Gizmo)
	g.ObjectMeta, g.Length = h.ObjectMeta, h.Size
	return nil
}

func gizmos() *runtime.Scheme {
	s := runtime.NewScheme()
	v1, v2 := schema.GroupVersion{Group: "example.com", Version: "v1"}, schema.GroupVersion{Group: "example.com", Version: "v2"}
	s.AddKnownTypeWithName(v1.WithKind("Gizmo"), &Gizmo{})
	s.AddKnownTypeWithName(v2.WithKind("Gizmo"), &GizmoV2{})
	metav1.AddToGroupVersion(s, v1)
	metav1.AddToGroupVersion(s, v2)
	return s
}

// serve serves the webhooks of testdata/webhooks, and conversion, for as long as t runs.
func serve(t *testing.T, c *Cluster) {
	t.Helper()
	s := webhook.NewServer(c.WebhookOptions())
	color := func(_ context.Context, r admission.Request) admission.Response {
		if strings.Contains(string(r.Object.Raw), `"color"`) {
			return admission.Allowed("")
		}
		changed := strings.Replace(string(r.Object.Raw), `"kind":"Widget"`, `"kind":"Widget","spec":{"color":"red"}`, 1)
		return admission.PatchResponseFromRaw(r.Object.Raw, []byte(changed))
	}
	taste := func(_ context.Context, r admission.Request) admission.Response {
		if strings.Contains(string(r.Object.Raw), "beige") {
			return admission.Denied("not beige")
		}
		return admission.Allowed("")
	}
	s.Register("/mutate-example-com-v1-widget", &admission.Webhook{Handler: admission.HandlerFunc(color)})
	s.Register("/validate-example-com-v1-widget", &admission.Webhook{Handler: admission.HandlerFunc(taste)})
	s.Register("/convert", crconversion.NewWebhookHandler(gizmos(), crconversion.NewRegistry()))
	Run(t, s)
	c.WaitForWebhooks(t)
}

// TestWebhooks: configurations that name a Service call the test, for admission and for conversion.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	c := usual(t).Isolated(t, Scheme(gizmos()), CRDs("testdata/conversion"), Webhooks("testdata/webhooks"))
	cl, ns := c.Client(t), c.Namespace(t)
	eventually(t, "the webhook server is asked, which does not exist", func(ctx context.Context) (bool, error) {
		err := cl.Create(ctx, widget(ns, "early"), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), c.webhook.Address()), nil
	})
	serve(t, c)

	w := widget(ns, "a")
	create(t, cl, w)
	if color, _, _ := unstructured.NestedString(w.Object, "spec", "color"); color != "red" {
		t.Errorf("the widget is %v, want a red one", w.Object)
	}
	w = widget(ns, "b")
	w.Object["spec"] = map[string]any{"color": "beige"}
	if err := cl.Create(t.Context(), w); err == nil || !strings.Contains(err.Error(), "not beige") {
		t.Errorf("a beige widget was answered with %v", err)
	}

	created := &GizmoV2{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}, Length: 7}
	create(t, cl, created)
	var hub Gizmo
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(created), &hub); err != nil || hub.Size != 7 {
		t.Errorf("as the other version it is of size %d, %v, want 7", hub.Size, err)
	}
}

// TestWaitForWebhooksEnds: a server that does not run is told as such.
func TestWaitForWebhooksEnds(t *testing.T) {
	c := usual(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := c.WaitForWebhooksContext(ctx)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Where != c.webhook.Address() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WaitForWebhooks without a server returned %v", err)
	}
}

// TestRunFails: a manager that fails fails its test, and none outlives it.
func TestRunFails(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{{nil, ""}, {context.Canceled, ""}, {errors.New("no lease"), "clustertest: the manager failed: no lease"}} {
		r := &recorder{TB: t}
		Run(r, runnable(func(ctx context.Context) error {
			<-ctx.Done()
			return test.err
		}))
		r.finish()
		if r.said != test.want {
			t.Errorf("a manager that returned %v made its test say %q, want %q", test.err, r.said, test.want)
		}
	}
}

type runnable func(context.Context) error

func (r runnable) Start(ctx context.Context) error { return r(ctx) }

// recorder is a test whose failure is looked at.
type recorder struct {
	testing.TB
	said     string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.said += fmt.Sprintf(format, args...)
}

// Fatalf ends the goroutine, as a test's does: call what may fail by attempt.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// attempt calls f, which may fail.
func (r *recorder) attempt(f func()) {
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	f()
}

func (r *recorder) finish() {
	for _, f := range r.cleanups {
		f()
	}
}
