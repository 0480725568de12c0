package ship

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// mounting is a Deployment with a pod that needs more than its image.
func mounting(name, needs string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: default}\nspec:\n  selector: {matchLabels: {app: " + name + "}}\n" +
		"  template: {metadata: {labels: {app: " + name + "}}, spec: {" + needs + "}}"
}

// TestTroubleIsReported: what keeps a pod from starting is reported while a deployment waits, since what it lacks may
// still come: then the deployment goes on.
func TestTroubleIsReported(t *testing.T) {
	for name, test := range map[string]struct{ needs, trouble, want string }{
		"volume": {"containers: [{name: c, image: none, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, secret: {secretName: late-volume}}]",
			"FailedMount", `FailedMount: MountVolume.SetUp failed for volume "v" : secret "late-volume" not found`},
		"variables": {"containers: [{name: c, image: none, envFrom: [{secretRef: {name: late-variables}}]}]",
			"Failed: ", `Failed: Error: secret "late-variables" not found`},
		"key": {"containers: [{name: c, image: none, env: [{name: A, valueFrom: {secretKeyRef: {name: late-key, key: password}}}]}]",
			"Failed: ", "Failed: Error: couldn't find key password in Secret default/late-key"},
		"variable": {"initContainers: [{name: c, image: none, env: [{name: A, valueFrom: {secretKeyRef: {name: late-variable, key: password}}}]}], containers: [{name: d, image: none}]",
			"Failed: ", `Failed: Error: secret "late-variable" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			c, events := connect(t)
			text := mounting("mounting-"+name, test.needs)
			late := strings.ReplaceAll(secret, "creds", "late-"+name)
			remove(t, c, text+"\n---\n"+late)
			if name == "key" {
				mustApply(t, c, strings.ReplaceAll(late, "password", "other"), ApplyOptions{})
			}
			create := sync.OnceFunc(func() {
				if err := c.Apply(context.Background(), objects(t, late), ApplyOptions{}); err != nil {
					t.Error(err)
				}
			})
			var told string
			reported := 0
			events.step = func(step string) {
				if strings.Contains(step, test.trouble) {
					told, reported = step, reported+1
					create()
				}
			}
			mustApply(t, c, text, ApplyOptions{Wait: true, Timeout: testlimit.Hang})
			if want := "waiting for deployment/default/mounting-" + name + ": " + test.want; told != want || reported != 1 {
				t.Errorf("%d times: %q, want %q", reported, told, want)
			}
		})
	}
}

// TestBrief: an event that another wrote looks like no other line, and has an end.
func TestBrief(t *testing.T) {
	for message, want := range map[string]string{
		`secret "late" not found`:       `secret "late" not found`,
		"one\n  created    object\r\n":  "one created object",
		strings.Repeat("é", 1000):       strings.Repeat("é", 250) + "…",
		"x" + strings.Repeat("é", 1000): "x" + strings.Repeat("é", 249) + "…",
	} {
		if got := brief(message); got != want {
			t.Errorf("%.50q: got %q", message, got)
		}
	}
}

// TestTroubleThatStays: what does not come by itself is not waited for.
func TestTroubleThatStays(t *testing.T) {
	for name, test := range map[string]struct{ needs, want string }{
		"config": {"containers: [{name: c, image: none, securityContext: {runAsNonRoot: true, runAsUser: 0}}]", "CreateContainerConfigError: "},
		"image":  {"containers: [{name: c, image: Never}]", "InvalidImageName"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := connect(t)
			text := mounting("staying-"+name, test.needs)
			remove(t, c, text)
			known := failure(t, c.Apply(t.Context(), objects(t, text), ApplyOptions{Wait: true, Timeout: testlimit.Hang}))
			if !strings.HasPrefix(known.What, "does not become ready") || !strings.Contains(known.Hint, test.want) {
				t.Errorf("error is %v, want %s", known, test.want)
			}
			stuck := func(u report.Unready) bool {
				return u.Object.Name == "staying-"+name && u.Pod != "" && u.Container == "c" && strings.HasPrefix(test.want, u.Reason) && u.Message != ""
			}
			if known.Class != report.NotReady || !slices.ContainsFunc(known.Unready, stuck) {
				t.Errorf("class %q, %+v", known.Class, known.Unready)
			}
		})
	}
}

// TestTroubleOfOldPods: what is wrong with a DaemonSet's pods of the template before ends no deployment of the next
// one.
func TestTroubleOfOldPods(t *testing.T) {
	c, _ := connect(t)
	set := func(image string) *unstructured.Unstructured {
		return objects(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: mended, namespace: default}
spec:
  updateStrategy: {type: OnDelete}
  selector: {matchLabels: {app: mended}}
  template:
    metadata: {labels: {app: mended}}
    spec: {containers: [{name: c, image: `+image+`}]}
`)[0]
	}
	sets := c.objects.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}).Namespace("default")
	// images are those of the pods of the newest template, when the controller has looked at it and made them.
	images := func(generation int64, pods int) (all []string) {
		t.Helper()
		err := poll(t.Context(), testlimit.Hang, func(ctx context.Context) (bool, error) {
			live, err := sets.Get(ctx, "mended", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			found := c.podsOf(ctx, live)
			if observedGeneration(live) != generation || len(found) != pods {
				return false, nil
			}
			for _, pod := range found {
				all = append(all, pod.Spec.Containers[0].Image)
			}
			return true, nil
		})
		if err != nil {
			t.Fatalf("there are not %d pods: %v", pods, err)
		}
		return all
	}
	if err := c.Apply(t.Context(), []*unstructured.Unstructured{set("Never")}, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sets.Delete(context.WithoutCancel(t.Context()), "mended", metav1.DeleteOptions{}) })
	if got := images(1, 1); got[0] != "Never" {
		t.Fatal(got)
	}
	if err := c.Apply(t.Context(), []*unstructured.Unstructured{set("example.com/good:v1")}, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	images(2, 0)
	old := list[corev1.Pod](t.Context(), c.objects.Resource(podResource).Namespace("default"), selecting(map[string]string{"app": "mended"}))
	if len(old) != 1 {
		t.Fatalf("%d pods are left of the first template", len(old))
	}
	if err := c.objects.Resource(podResource).Namespace("default").Delete(t.Context(), old[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := images(2, 1); got[0] != "example.com/good:v1" {
		t.Error(got)
	}
}
