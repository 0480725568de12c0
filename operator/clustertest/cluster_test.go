package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/find"
)

// shared is the cluster of all tests that do not need one of another kind.
var shared = ForPackage(CRDs("testdata/crds"))

// usual returns that cluster.
func usual(t *testing.T) *Cluster {
	t.Helper()
	needProgram(t)
	return shared.Cluster(t)
}

// needProgram skips a test where no cluster program is named. `make test` names one, `make check` does not.
func needProgram(t *testing.T) {
	t.Helper()
	if os.Getenv(find.Variable) == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
}

// patience bounds every wait, to say what hangs. Nothing here takes more than two seconds on a quiet machine.
const patience = 5 * time.Minute

// eventually looks until there is something to see.
func eventually(t *testing.T, what string, look func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := until(ctx, look); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// isGone tells whether an object does not exist.
func isGone(cl client.Client, o client.Object) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := cl.Get(ctx, client.ObjectKeyFromObject(o), o)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

func widget(namespace, name string) *unstructured.Unstructured {
	return newObject("example.com/v1", "Widget", namespace, name)
}

func newObject(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func create(t *testing.T, cl client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := cl.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamespace(t *testing.T) {
	cl := usual(t).Client(t)
	var names []string
	t.Run("Makes_One/For each test: ünique", func(t *testing.T) {
		c := usual(t)
		names = append(names, c.Namespace(t), c.Namespace(t))
		for _, name := range names {
			create(t, cl, configMap(name, "a"), widget(name, "a"))
			if !strings.HasPrefix(name, "testnamespace-makes-one-for-each-test") {
				t.Errorf("namespace %s is not named after its test", name)
			}
		}
	})
	for _, name := range names {
		eventually(t, "the namespace goes with its test", isGone(cl, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
}

func TestLabel(t *testing.T) {
	for _, test := range []struct{ title, want string }{
		{"TestX", "testx"},
		{"TestX/a_b c#01", "testx-a-b-c-01"},
		{"///", "test"},
		{"", "test"},
		{"ünlaut", "nlaut"},
		{strings.Repeat("x", 49) + "/y", strings.Repeat("x", 49)},
	} {
		if got := label(test.title); got != test.want {
			t.Errorf("label(%q) = %q, want %q", test.title, got, test.want)
		}
	}
}

// TestControllers: what envtest leaves undone happens here.
func TestControllers(t *testing.T) {
	t.Parallel()
	c := usual(t)
	cl, ns := c.Client(t), c.Namespace(t)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "job"}, Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}}}}}
	owner := widget(ns, "owner")
	create(t, cl, job, owner)
	dependent := configMap(ns, "dependent")
	dependent.OwnerReferences = []metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}}
	create(t, cl, dependent)
	if err := cl.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, "dependents are collected", isGone(cl, dependent))
	eventually(t, "the Job completes", func(ctx context.Context) (bool, error) {
		err := cl.Get(ctx, client.ObjectKeyFromObject(job), job)
		return job.Status.Succeeded == 1, err
	})
}

// TestOnlyControllers: dependents are collected, and no Job starts.
func TestOnlyControllers(t *testing.T) {
	t.Parallel()
	c := usual(t).Isolated(t, OnlyControllers("gc"))
	cl := c.Client(t)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job"}, Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}}}}}
	owner := configMap("default", "owner")
	create(t, cl, job, owner)
	dependent := configMap("default", "dependent")
	dependent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.GetName(), UID: owner.GetUID()}}
	create(t, cl, dependent)
	if err := cl.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, "dependents are collected", isGone(cl, dependent))
	if err := cl.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil || job.Status.StartTime != nil {
		t.Errorf("a Job has started: %+v, %v", job.Status, err)
	}
	if _, err := usual(t).IsolatedContext(t.Context(), OnlyControllers("gcc")); err == nil || !strings.Contains(err.Error(), `there is no controller "gcc"`) {
		t.Errorf("an unknown controller: %v", err)
	}
}

// TestOptions starts the one cluster that differs from the usual one.
func TestOptions(t *testing.T) {
	needProgram(t)
	c := Start(t, Controllers(false), APIServerFlags("--max-requests-inflight=123"),
		FeatureGates(map[string]bool{"MutatingAdmissionPolicy": false}), RuntimeConfig(map[string]string{"autoscaling/v1": "false"}))
	cl := c.Client(t)
	var nodes corev1.NodeList
	if err := cl.List(t.Context(), &nodes); err != nil || len(nodes.Items) > 0 {
		t.Errorf("there are %d nodes without controllers, %v", len(nodes.Items), err)
	}
	unknown := newObject("autoscaling/v1", "HorizontalPodAutoscaler", "default", "x")
	if err := cl.Create(t.Context(), unknown); err == nil {
		t.Error("autoscaling/v1 is served although it was switched off")
	}
}

func TestNodes(t *testing.T) {
	s := newSettings([]Option{Nodes()})
	if s.spec.Nodes == nil || len(s.spec.Nodes) > 0 {
		t.Errorf("Nodes() means %v, want an empty list and not the usual node", s.spec.Nodes)
	}
	s = newSettings([]Option{Nodes(Node{Name: "a"}, Node{Name: "b", Labels: map[string]string{"zone": "x"}})})
	if len(s.spec.Nodes) != 2 || s.spec.Nodes[1].Labels["zone"] != "x" {
		t.Errorf("two nodes became %v", s.spec.Nodes)
	}
}

// TestSettingsAreCopied: the options of an isolated cluster do not change those of the one it belongs to.
func TestSettingsAreCopied(t *testing.T) {
	base := newSettings([]Option{CRDs("a", "b"), APIServerFlags("--x"), RuntimeConfig(map[string]string{"a": "b"})})
	base.crds = base.crds[:1:2]
	derived := base.with([]Option{CRDs("c"), APIServerFlags("--y"), RuntimeConfig(map[string]string{"c": "d"})})
	if got := base.crds[:2][1]; got != "b" {
		t.Errorf("the base's paths were overwritten with %q", got)
	}
	if len(derived.crds) != 2 || len(derived.spec.APIServerFlags) != 2 || len(derived.spec.RuntimeConfig) != 2 {
		t.Errorf("derived settings are %+v, want both options' values", derived)
	}
	if len(base.spec.RuntimeConfig) != 1 {
		t.Errorf("the base's runtime configuration became %v", base.spec.RuntimeConfig)
	}
}

func TestConfigIsACopy(t *testing.T) {
	c := usual(t)
	changed := c.Config()
	changed.Host = "https://elsewhere"
	if c.Config().Host == changed.Host {
		t.Error("a changed copy changed the cluster's own configuration")
	}
	if info, err := os.Stat(c.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig is %v, %v, want a file for its owner only", info, err)
	}
}

// TestImpersonation: permissions can be tested.
func TestImpersonation(t *testing.T) {
	config := usual(t).Config()
	config.Impersonate.UserName = "jane"
	cl, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("jane lists secrets: %v", err)
	}
}

// TestInstalledKindsAreServed: no wait and no retry is needed after InstallCRDs.
func TestInstalledKindsAreServed(t *testing.T) {
	c := usual(t)
	ns, dir := c.Namespace(t), t.TempDir()
	text, err := os.ReadFile("testdata/crds/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const kinds = 20
	for i := range kinds {
		other := strings.NewReplacer("widget", fmt.Sprintf("gadget%d", i), "Widget", fmt.Sprintf("Gadget%d", i), "example.com", fmt.Sprintf("g%d.example.com", i%3)).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.InstallCRDs(t, dir)
	cl := c.Client(t)
	for i := range kinds {
		create(t, cl, newObject(fmt.Sprintf("g%d.example.com/v1", i%3), fmt.Sprintf("Gadget%d", i), ns, "a"))
	}
	c.InstallCRDs(t, dir) // again: an update
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "g1.example.com", Version: "v1", Kind: "Gadget1List"})
	if err := cl.List(t.Context(), &list); err != nil || len(list.Items) != 1 {
		t.Errorf("after an update there are %d objects, %v", len(list.Items), err)
	}
}

func TestInstallRefusesTakenNames(t *testing.T) {
	c := usual(t)
	text, err := os.ReadFile("testdata/crds/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	thief := strings.NewReplacer("widgets.example.com", "thieves.example.com", "plural: widgets", "plural: thieves").Replace(string(text))
	path := filepath.Join(t.TempDir(), "thief.yaml")
	if err := os.WriteFile(path, []byte(thief), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.InstallCRDsContext(t.Context(), path); !errors.Is(err, errNames) {
		t.Errorf("a definition with taken names was answered with %v", err)
	}
}

func TestInstallRefusesPaths(t *testing.T) {
	c := usual(t)
	_, err := os.Stat("nowhere")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, path := range []string{"nowhere", "testdata/webhooks"} {
		err := c.InstallCRDsContext(t.Context(), path)
		e, ok := errors.AsType[*Error](err)
		if !ok || !filepath.IsAbs(e.Where) || e.Next != "slipway generate" {
			t.Errorf("InstallCRDs(%q) = %#v, want where it was looked for, and a command", path, err)
		}
	}
}
