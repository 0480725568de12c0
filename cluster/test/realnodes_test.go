package test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// realCluster is a cluster with real nodes and an image for their pods.
type realCluster struct {
	*program
	t      testing.TB
	client clients
	image  string
}

// startReal starts one. Where the system forbids real nodes, the test is skipped.
func startReal(t testing.TB, config ...func(*program)) *realCluster {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("real nodes need Linux")
	}
	c := newConfig(t)
	c.NodeProgram = filepath.Join(filepath.Dir(programPath), "slipway-node")
	if own := os.Getenv("SLIPWAY_NODE"); own != "" {
		c.NodeProgram = own
	}
	p := start(t, c)
	return &realCluster{program: p, t: t, client: p.clients(), image: publish(t)}
}

// pod runs a pod with these arguments.
func (c *realCluster) pod(name string, args ...string) *corev1.Pod {
	c.t.Helper()
	return c.create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: c.image, Args: args}}},
	})
}

func (c *realCluster) create(p *corev1.Pod) *corev1.Pod {
	c.t.Helper()
	created, err := c.client.CoreV1().Pods("default").Create(c.t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return created
}

// await waits until a pod is as it should be.
func (c *realCluster) await(name string, is func(*corev1.Pod) bool) *corev1.Pod {
	c.t.Helper()
	var last *corev1.Pod
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		p, err := c.client.CoreV1().Pods("default").Get(c.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			continue
		}
		if last = p; is(p) {
			return p
		}
	}
	c.t.Fatalf("pod %s is not as it should be: %+v", name, last.Status)
	return nil
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestRealPod(t *testing.T) {
	begin := time.Now()
	c := startReal(t)
	t.Log("cluster", time.Since(begin))
	for _, name := range []string{"first", "second"} {
		begin = time.Now()
		c.pod(name)
		c.await(name, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		t.Log(name, "running", time.Since(begin))
		c.await(name, ready)
		t.Log(name, "ready", time.Since(begin))
	}
	for _, name := range []string{"first", "second"} {
		begin = time.Now()
		if err := c.client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := c.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Log(name, "deleted", time.Since(begin))
	}
}
