package apiserver

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

func TestBackdateEstablished(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(d)) }
	for _, tt := range []struct {
		name       string
		kind       apiextensions.CustomResourceDefinitionConditionType
		since, now metav1.Time
	}{
		{"established now", apiextensions.Established, at(0), at(-backdate)},
		{"established a second ago", apiextensions.Established, at(-time.Second), at(-backdate)},
		{"established long ago", apiextensions.Established, at(-time.Hour), at(-time.Hour)},
		{"something else", apiextensions.NamesAccepted, at(0), at(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crd := &apiextensions.CustomResourceDefinition{}
			crd.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: tt.kind, LastTransitionTime: tt.since}}
			backdateEstablished(crd, now)
			if got := crd.Status.Conditions[0].LastTransitionTime; !got.Equal(&tt.now) {
				t.Errorf("since %v, want %v", got, tt.now)
			}
		})
	}
}

// TestFirstUse: a kind can be used as soon as its CRD is established, which is stored as having been so for long enough
// for nobody to sleep, and its lists are answered at once.
func TestFirstUse(t *testing.T) {
	s := theServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	client, err := extensions.NewForConfig(s.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	group := fresh("docs") + ".example.com"
	name := "pages." + group
	w, err := crds.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := crds.Create(ctx, pages(name, group), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	since, made := waitEstablished(t, w)
	if since.Add(backdate - time.Second).After(made) { // fractions of a second are cut off
		t.Errorf("established at %v, made at %v: who creates an object now sleeps", since, made)
	}
	objects, err := dynamic.NewForConfig(s.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	resource := objects.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "pages"}).Namespace(metav1.NamespaceDefault)
	if _, err := resource.List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("the first list: %v", err)
	}
	page := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Page", "metadata": map[string]any{"name": "first"},
	}}
	if _, err := resource.Create(ctx, page, metav1.CreateOptions{}); err != nil {
		t.Errorf("the first object: %v", err)
	}
}

func pages(name, group string) *extensionsv1.CustomResourceDefinition {
	preserve := true
	return &extensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: extensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: extensionsv1.NamespaceScoped,
			Names: extensionsv1.CustomResourceDefinitionNames{Plural: "pages", Singular: "page", Kind: "Page", ListKind: "PageList"},
			Versions: []extensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &extensionsv1.CustomResourceValidation{OpenAPIV3Schema: &extensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
			}},
		},
	}
}

// waitEstablished says since when a CRD is told to be established, and when it was made.
func waitEstablished(t *testing.T, w watch.Interface) (since, made time.Time) {
	t.Helper()
	for event := range w.ResultChan() {
		crd, ok := event.Object.(*extensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%v", event.Object)
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == extensionsv1.Established && c.Status == extensionsv1.ConditionTrue {
				return c.LastTransitionTime.Time, crd.CreationTimestamp.Time
			}
		}
	}
	t.Fatal("it is never established")
	return since, made
}

// slowStorage is not ready until it has been asked for it that often; -1 means never.
type slowStorage struct {
	storage.Interface
	misses, asked int
	err           error // when it is ready
	listed        bool
}

func (s *slowStorage) ReadinessCheck() error {
	s.asked++
	if s.misses < 0 || s.asked <= s.misses {
		return storage.ErrStorageNotReady
	}
	return s.err
}

func (s *slowStorage) GetList(context.Context, string, storage.ListOptions, runtime.Object) error {
	s.listed = true
	return nil
}

func (s *slowStorage) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	s.listed = true
	return watch.NewEmptyWatch(), nil
}

// TestPatient: lists and watches wait for a storage that is not ready yet, for a while; then it answers itself.
func TestPatient(t *testing.T) {
	for _, tt := range []struct {
		name    string
		storage slowStorage
		waits   time.Duration
		cancel  bool
	}{
		{"ready", slowStorage{}, 0, false},
		{"ready with another error", slowStorage{err: errors.New("another")}, 0, false},
		{"ready in a moment", slowStorage{misses: 4}, 3 * patiencePoll, false},
		{"never ready", slowStorage{misses: -1}, patience, false},
		{"who asked has gone", slowStorage{misses: -1}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel {
					cancel()
				}
				for _, ask := range []func(s patient) error{
					func(s patient) error { return s.GetList(ctx, "/", storage.ListOptions{}, &corev1.PodList{}) },
					func(s patient) error { _, err := s.Watch(ctx, "/", storage.ListOptions{}); return err },
				} {
					inner := tt.storage
					begin := time.Now()
					if err := ask(patient{&inner}); err != nil {
						t.Fatal(err)
					}
					if waited := time.Since(begin); waited != tt.waits || !inner.listed {
						t.Errorf("waited %v, want %v; asked then: %v", waited, tt.waits, inner.listed)
					}
				}
			})
		})
	}
}
