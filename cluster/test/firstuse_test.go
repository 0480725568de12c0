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

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// testFirstUse shows that a custom resource can be created, listed and watched the moment its CRD is established:
// no client is sent away at once or held up, whatever comes first, and no controller is needed for that. A kind that
// was used before tells how long a creation takes on this machine.
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
	var usual time.Duration
	for i := range crds {
		resource := schema.GroupVersionResource{Group: fmt.Sprintf("first%d.example.com", i), Version: "v1", Resource: "widgets"}
		makeEstablished(t, c, resource)
		took, err := useFirst(t.Context(), client, resource)
		if err != nil {
			t.Fatal(err)
		}
		if took >= max(createPause, 3*usual) {
			t.Logf("the first creation of %s took %v, the one before in a known kind %v", resource.Group, took, usual)
			slow++
		}
		if usual, err = createWidget(t.Context(), client, resource, "second"); err != nil {
			t.Fatal(err)
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
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
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

// useFirst creates, lists and watches at the same time, and returns how long the creation took.
func useFirst(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource) (took time.Duration, err error) {
	widgets := client.Resource(r).Namespace(metav1.NamespaceDefault)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		took, err = createWidget(ctx, client, r, "first")
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
	err = group.Wait()
	return took, err
}

func createWidget(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource, name string) (took time.Duration, err error) {
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": kind(r), "metadata": map[string]any{"name": name},
	}}
	begin := time.Now()
	_, err = client.Resource(r).Namespace(metav1.NamespaceDefault).Create(ctx, widget, metav1.CreateOptions{})
	return time.Since(begin), err
}

// heldFor is how long the server holds a request before it sends the client away, because the machine is so busy that
// the storage is not ready by then. The client tries again.
const heldFor = time.Second

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
	begin := time.Now()
	response, err := n.next.RoundTrip(r)
	held := err == nil && response.StatusCode == http.StatusTooManyRequests && time.Since(begin) >= heldFor
	if err == nil && response.StatusCode >= http.StatusMultipleChoices && !held {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.bad = append(n.bad, r.Method+" "+r.URL.String()+": "+response.Status)
	}
	return response, err
}
