package clustertest

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// Namespace makes a namespace of its own for t, named after it, and returns the name. Its deletion is asked for
// at the end of t. The test does not wait for that: by then the finalizers of its objects may have no controller to
// remove them any more, and no other test uses the namespace.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name, err := c.NamespaceContext(t.Context(), t.Name())
	if err != nil {
		fatal(t, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTime)
		defer cancel()
		if err := c.deleteNamespace(ctx, name); err != nil {
			t.Errorf("clustertest: %s", fault.Text(err))
		}
	})
	return name
}

// cleanupTime bounds a request at the end of a test.
const cleanupTime = 30 * time.Second

// NamespaceContext makes a namespace whose name, which it returns, begins with title as far as names
// may. It stays until it is deleted.
func (c *Cluster) NamespaceContext(ctx context.Context, title string) (name string, err error) {
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	ns.SetGenerateName(label(title) + "-")
	made, err := c.dynamic.Resource(namespaceResource).Create(ctx, ns, metav1.CreateOptions{})
	if err != nil {
		return "", &fault.Error{What: "cannot make a namespace for " + title, Err: c.because(err)}
	}
	return made.GetName(), nil
}

func (c *Cluster) deleteNamespace(ctx context.Context, name string) error {
	err := c.dynamic.Resource(namespaceResource).Delete(ctx, name, metav1.DeleteOptions{})
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return &fault.Error{What: "cannot delete namespace " + name, Err: c.because(err)}
}

// maxLabel leaves room in a namespace's name for what makes it unique.
const maxLabel = 50

// label makes of a test's name the beginning of a namespace's.
func label(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, title)
	name = strings.Trim(name[:min(len(name), maxLabel)], "-")
	if name == "" {
		return "test"
	}
	return name
}
