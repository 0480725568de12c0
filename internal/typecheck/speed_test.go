package typecheck_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/typecheck"
)

// BenchmarkCronJob checks the example after a change of its types, which all of its packages import.
func BenchmarkCronJob(b *testing.B) {
	root := filepath.Join("..", "..", "examples", "cronjob")
	measure(b, root, "api/v1/cronjob_types.go")
}

// BenchmarkHundredKinds checks a project of a hundred kinds after a change of one.
func BenchmarkHundredKinds(b *testing.B) {
	root := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "cronjob", name))
		if err != nil {
			b.Fatal(err)
		}
		write(name, string(text))
	}
	write("api/v1/groupversion_info.go", groupVersion)
	for i := range 100 {
		kind := fmt.Sprintf("Kind%d", i)
		for name, text := range map[string]string{"api/v1/%s_types.go": types, "internal/controller/%s_controller.go": controller, "internal/controller/%s_controller_test.go": test} {
			write(fmt.Sprintf(name, strings.ToLower(kind)), strings.ReplaceAll(text, "KIND", kind))
		}
	}
	measure(b, root, "api/v1/kind7_types.go")
}

func measure(b *testing.B, root, file string) {
	b.Helper()
	list := exec.Command("go", "list", "-e", "-export", "-deps", "-test", "./...")
	list.Dir, list.Env = root, append(os.Environ(), "GOWORK=off")
	if out, err := list.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		b.Fatal(err)
	}
	root, err = filepath.Abs(root)
	if err != nil {
		b.Fatal(err)
	}
	cache := b.TempDir()
	check := func() typecheck.Verdict {
		c := change(b, root, map[string]string{file: string(text) + "\n// Changed.\n"})
		c.Cache = cache
		verdict, err := c.Check(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return verdict
	}
	if v := check(); len(v.Mistakes)+len(v.Unknown) > 0 {
		b.Fatalf("got %+v", v)
	}
	for b.Loop() {
		check()
	}
}

const groupVersion = `// +kubebuilder:object:generate=true
// +groupName=crew.example.com
package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "crew.example.com", Version: "v1"}
	SchemeBuilder = runtime.NewSchemeBuilder()
	AddToScheme   = SchemeBuilder.AddToScheme
)
`

const types = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type KINDSpec struct {
	// +optional
	Foo *string ` + "`json:\"foo,omitempty\"`" + `
	// +optional
	Selector *metav1.LabelSelector ` + "`json:\"selector,omitempty\"`" + `
}

type KINDStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition ` + "`json:\"conditions,omitempty\"`" + `
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type KIND struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec   KINDSpec   ` + "`json:\"spec\"`" + `
	Status KINDStatus ` + "`json:\"status,omitempty\"`" + `
}

// +kubebuilder:object:root=true
type KINDList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []KIND ` + "`json:\"items\"`" + `
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &KIND{}, &KINDList{})
		return nil
	})
}
`

const controller = `package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "tutorial.kubebuilder.io/project/api/v1"
)

type KINDReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *KINDReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var object v1.KIND
	if err := r.Get(ctx, req.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: object.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Spec.Selector = object.Spec.Selector
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: *object.Spec.Foo}}
		return controllerutil.SetControllerReference(&object, deployment, r.Scheme)
	}); err != nil {
		return ctrl.Result{}, fmt.Errorf("write the Deployment: %w", err)
	}
	meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Reconciled"})
	return ctrl.Result{}, r.Status().Update(ctx, &object)
}

func (r *KINDReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.KIND{}).Owns(&appsv1.Deployment{}).Named("KIND").Complete(r)
}
`

const test = `package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "tutorial.kubebuilder.io/project/api/v1"
)

func TestKINDReconcile(t *testing.T) {
	object := &v1.KIND{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Namespace: "default"}}
	c := fake.NewClientBuilder().Build()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("create: %v", err)
	}
	reconciler := &KINDReconciler{Client: c, Scheme: c.Scheme()}
	if _, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
		t.Fatalf("reconcile: %v", err)
	}
}
`
