package test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// testFirstUse shows that a custom resource can be created, listed and watched the moment its CRD is established:
// nobody is sent away or held up, whatever comes first, and no controller is needed for that.
func testFirstUse(t *testing.T, c clients) {
	const crds = 12
	slow := 0
	statuses := &statuses{}
	config := rest.CopyConfig(c.config)
	config.Wrap(statuses.wrap)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for i := range crds {
		resource := schema.GroupVersionResource{Group: fmt.Sprintf("first%d.example.com", i), Version: "v1", Resource: "widgets"}
		makeEstablished(t, c, resource)
		begin := time.Now()
		if err := useFirst(t.Context(), client, resource); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took >= createPause {
			t.Logf("the first use of %s took %v", resource.Group, took)
			slow++
		}
	}
	if slow > crds/2 { // upstream's pause would be in each; a busy machine may have some of its own
		t.Errorf("%d kinds were slow", slow)
	}
	for _, refused := range statuses.refused() {
		t.Error(refused)
	}
}

// createPause is how long upstream lets the first creation sleep.
const createPause = 2 * time.Second

// makeEstablished makes a CRD and returns when a watch tells that it is established.
func makeEstablished(t *testing.T, c clients, r schema.GroupVersionResource) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	crds := c.extensions.ApiextensionsV1().CustomResourceDefinitions()
	w, err := crds.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	crd := newCRD(r)
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range w.ResultChan() {
		if changed, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition); ok && changed.Name == crd.Name && established(changed) {
			return
		}
	}
	t.Fatalf("%s is never established", crd.Name)
}

// useFirst creates, lists and watches at the same time.
func useFirst(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource) error {
	widgets := client.Resource(r).Namespace(metav1.NamespaceDefault)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		widget := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": r.GroupVersion().String(), "kind": kind(r), "metadata": map[string]any{"name": "first"},
		}}
		_, err := widgets.Create(ctx, widget, metav1.CreateOptions{})
		return err
	})
	group.Go(func() error {
		_, err := widgets.List(ctx, metav1.ListOptions{})
		return err
	})
	group.Go(func() error {
		w, err := widgets.Watch(ctx, metav1.ListOptions{})
		if err == nil {
			w.Stop()
		}
		return err
	})
	return group.Wait()
}

// statuses notes which requests were not answered with success, for clients try again and do not tell.
type statuses struct {
	mu  sync.Mutex
	bad []string
}

func (s *statuses) wrap(next http.RoundTripper) http.RoundTripper { return noting{s, next} }

func (s *statuses) refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

type noting struct {
	*statuses
	next http.RoundTripper
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(r)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.bad = append(n.bad, r.Method+" "+r.URL.String()+": "+response.Status)
	}
	return response, err
}
