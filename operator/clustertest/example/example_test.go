package example_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/slipway-dev/slipway/operator/clustertest"
	"github.com/slipway-dev/slipway/operator/clustertest/example"
)

// types are Kubernetes' and the operator's own.
var types = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		panic(err)
	}
	if err := example.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

// shared is the cluster of this package's tests.
var shared = clustertest.ForPackage(
	clustertest.Scheme(types),
	clustertest.CRDs("config/crd"),
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // what the manager does is looked at by the tests
	shared.Main(m)
}

// start returns a cluster for one test, with the operator's webhooks.
func start(t *testing.T) *clustertest.Cluster {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	return shared.Cluster(t).Isolated(t, clustertest.Webhooks("config/webhook"))
}

// runOperator runs the operator for as long as t runs.
func runOperator(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	mgr, err := ctrl.NewManager(c.Config(), ctrl.Options{
		Scheme:        types,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(c.WebhookOptions()),
		Controller:    config.Controller{SkipNameValidation: new(true)}, // several managers in one process
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := example.SetUp(mgr); err != nil {
		t.Fatal(err)
	}
	clustertest.Run(t, mgr)
	c.WaitForWebhooks(t)
}

func TestTask(t *testing.T) {
	c := start(t)
	runOperator(t, c)
	cl, ns := c.Client(t), c.Namespace(t)

	task := &example.Task{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}
	if err := cl.Create(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if task.Spec.Image != example.DefaultImage {
		t.Errorf("the image is %q, want the default", task.Spec.Image)
	}
	wait(t, "the task is done", func() (bool, error) {
		err := cl.Get(t.Context(), client.ObjectKeyFromObject(task), task)
		return task.Status.Done, err
	})
	if err := cl.Delete(t.Context(), task, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	wait(t, "the Job goes with its task", func() (bool, error) {
		err := cl.Get(t.Context(), client.ObjectKeyFromObject(task), &batchv1.Job{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func TestRefusedTask(t *testing.T) {
	c := start(t)
	runOperator(t, c)
	task := &example.Task{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace(t), Name: "a"}, Spec: example.TaskSpec{Image: "localhost:5000/app"}}
	err := c.Client(t).Create(t.Context(), task)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "has no version") {
		t.Errorf("a task without a version was answered with %v", err)
	}
}

// wait looks until what is about to happen has happened.
func wait(t *testing.T, what string, happened func() (bool, error)) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); <-tick.C {
		yes, err := happened()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if yes {
			return
		}
	}
	t.Fatalf("it did not happen: %s", what)
}
