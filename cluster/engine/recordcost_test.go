package engine

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// costRounds is the variable that has TestRecordCost measure in so many rounds.
const costRounds = "SLIPWAY_RECORD_ROUNDS"

// TestRecordCost measures what a record costs a write: two logical clusters of one process, of which one keeps a
// record, take turns. Processor time is that of the whole process, the client too.
func TestRecordCost(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(costRounds))
	if err != nil {
		t.Skip(costRounds + " has the number of rounds")
	}
	h, err := Start(t.Context(), Options{Dir: t.TempDir(), Logger: quiet, Progress: func(string, protocol.State) {}, Main: Spec{Name: "test"}})
	must(t, err)
	defer h.Stop()
	sides := [2]*writes{}
	for i, bytes := range []int64{0, 256 << 20} {
		c, err := h.Add(t.Context(), Spec{Name: fmt.Sprint("side", i), RecordBytes: bytes})
		must(t, err)
		sides[i] = newWrites(t, c)
	}
	for _, kind := range []struct {
		name string
		do   func(*writes) error
	}{{"create a custom object", (*writes).create}, {"update a custom object", (*writes).update}, {"update a pod's status", (*writes).status}} {
		var wall, cpu []float64
		var base time.Duration
		for round := range rounds + 1 {
			var took, used [2]time.Duration
			for _, side := range [][]int{{0, 1}, {1, 0}}[round%2] {
				took[side], used[side] = measured(t, sides[side], kind.do)
			}
			if round > 0 { // the first one warms up
				wall, cpu = append(wall, float64(took[1])/float64(took[0])), append(cpu, float64(used[1])/float64(used[0]))
				base += used[0] / time.Duration(rounds)
			}
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		t.Logf("%-24s wall ×%.3f (%.2f to %.2f), processor ×%.3f (%.2f to %.2f) of %v", kind.name,
			wall[rounds/2], wall[rounds/4], wall[3*rounds/4], cpu[rounds/2], cpu[rounds/4], cpu[3*rounds/4], base/perRound)
	}
	record, err := h.logical["side1"].History()
	must(t, err)
	t.Logf("%+v", record.Status())
}

const perRound = 100

func measured(t *testing.T, w *writes, do func(*writes) error) (took, used time.Duration) {
	t.Helper()
	var before, after syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	began := time.Now()
	for range perRound {
		must(t, do(w))
	}
	took = time.Since(began)
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return took, time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}

// writes are those of one side.
type writes struct {
	ctx     context.Context
	widgets dynamic.ResourceInterface
	client  kubernetes.Interface
	n       int
	first   string // of the objects that were created
}

func newWrites(t *testing.T, c *Cluster) *writes {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	must(t, err)
	config.QPS = -1
	keep := true
	_, err = extensions.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), &v1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: v1.CustomResourceDefinitionSpec{Group: "example.com", Scope: v1.NamespaceScoped, Names: v1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []v1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &v1.CustomResourceValidation{OpenAPIV3Schema: &v1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}}}}},
	}, metav1.CreateOptions{})
	must(t, err)
	w := &writes{ctx: t.Context(), client: kubernetes.NewForConfigOrDie(config)}
	w.widgets = dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	for w.create() != nil { // until it is served
		<-time.After(10 * time.Millisecond)
	}
	_, err = w.client.CoreV1().ServiceAccounts("default").Create(w.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	must(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "web"}}}
	for i := range 3 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Image: "nginx", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}})
	}
	_, err = w.client.CoreV1().Pods("default").Create(w.ctx, pod, metav1.CreateOptions{})
	must(t, err)
	return w
}

func (w *writes) create() error {
	w.n++
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": fmt.Sprint("w", w.n)},
		"spec": map[string]any{"size": int64(w.n), "image": "nginx:1", "selector": map[string]any{"app": "web"}, "ports": []any{int64(80), int64(443)}},
	}}
	_, err := w.widgets.Create(w.ctx, object, metav1.CreateOptions{})
	if err == nil && w.first == "" {
		w.first = object.GetName()
	}
	return err
}

func (w *writes) update() error {
	w.n++
	_, err := w.widgets.Patch(w.ctx, w.first, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"size":%d}}`, w.n), metav1.PatchOptions{})
	return err
}

func (w *writes) status() error {
	w.n++
	text := fmt.Appendf(nil, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","message":"%d"},{"type":"Initialized","status":"True"}]}}`, w.n)
	_, err := w.client.CoreV1().Pods("default").Patch(w.ctx, "p", types.MergePatchType, text, metav1.PatchOptions{}, "status")
	return err
}
