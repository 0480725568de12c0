package test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// edited is the image of these tests with another environment.
func edited(t testing.TB, edit string) v1.Image {
	t.Helper()
	image := podImage(t)
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config.Env = append(file.Config.Env, "EDIT="+edit)
	if image, err = mutate.ConfigFile(image, file); err != nil {
		t.Fatal(err)
	}
	return image
}

// pushWithToken puts an image into the cluster's registry by its token, as tools of other users would, and returns its
// digest.
func (c *realCluster) pushWithToken(repository string, image v1.Image) v1.Hash {
	c.t.Helper()
	token, err := os.ReadFile(filepath.Join(c.config.Dir, "registry-token"))
	if err != nil {
		c.t.Fatal(err)
	}
	ref, err := name.ParseReference(c.registry() + "/" + repository)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := remote.Write(ref, image, remote.WithAuth(&authn.Basic{Username: "slipway", Password: string(token)})); err != nil {
		c.t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		c.t.Fatal(err)
	}
	return digest
}

// testImageAgain: a name that was loaded again is what the next pod runs, on every node and whatever the pull policy.
func testImageAgain(t *testing.T, c *realCluster) {
	nodes, err := c.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []string{"one", "two"} {
		digest := c.pushWithToken("index.docker.io/library/again:v1", edited(t, edit))
		for i, node := range nodes.Items {
			for _, policy := range []corev1.PullPolicy{corev1.PullIfNotPresent, corev1.PullNever, corev1.PullAlways} {
				p := c.pod(fmt.Sprintf("again-%s-%d-%s", edit, i, strings.ToLower(string(policy))), "env")
				p.Spec.NodeName, p.Spec.RestartPolicy = node.Name, corev1.RestartPolicyNever
				p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = "again:v1", policy
				p = c.await(c.create(p).Name, func(p *corev1.Pod) bool { return succeeded(p) || p.Status.Phase == corev1.PodFailed })
				if log := c.log(p.Name, corev1.PodLogOptions{}); !strings.Contains(log, "\nEDIT="+edit+"\n") {
					t.Errorf("with pull policy %s on %s the pod does not run %s: %+v\n%s", policy, node.Name, edit, p.Status.ContainerStatuses, log)
				}
				if got, want := p.Status.ContainerStatuses[0].ImageID, "index.docker.io/library/again@"+digest.String(); got != want {
					t.Errorf("its image is %s, want %s", got, want)
				}
			}
		}
	}
	c.prunesSuperseded(nodes.Items)
}

// prunesSuperseded supersedes an image twice, which has no container, and has it removed from the registry and all
// nodes.
func (c *realCluster) prunesSuperseded(nodes []corev1.Node) {
	c.t.Helper()
	var digests []string
	for i, edit := range []string{"pruned", "last", "current"} {
		digests = append(digests, c.pushWithToken("index.docker.io/library/pruned:v1", edited(c.t, edit)).String())
		for j, node := range nodes {
			c.pulled(fmt.Sprintf("pruned-%d-%d", i, j), node.Name, "pruned:v1")
		}
	}
	check := func(p protocol.Prune, want ...string) {
		c.t.Helper()
		var places []string
		for _, image := range c.prune(p).Images {
			if !strings.Contains(image.Name, "library/pruned") {
				continue
			}
			places = append(places, image.Node)
			if image.Bytes < 1<<10 && image.Node != "" || image.Node == "" && image.Digest != digests[0] {
				c.t.Errorf("pruned %+v", image)
			}
		}
		if !slices.Equal(places, want) {
			c.t.Errorf("with %+v pruned from %q, want %q", p, places, want)
		}
	}
	places := []string{""} // the registry
	for _, node := range nodes {
		places = append(places, node.Name)
	}
	check(protocol.Prune{AgeMs: time.Hour.Milliseconds()})
	check(protocol.Prune{DryRun: true}, places...)
	template := c.pod("pruned").Spec
	template.Containers[0].Image, template.RestartPolicy = "pruned@"+digests[0], corev1.RestartPolicyNever
	later := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "pruned"}, Spec: batchv1.CronJobSpec{
		Schedule: "0 0 1 1 *", Suspend: new(true), JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: template}}},
	}}
	if _, err := c.client.BatchV1().CronJobs(c.ns).Create(c.t.Context(), later, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	check(protocol.Prune{})
	if err := c.client.BatchV1().CronJobs(c.ns).Delete(c.t.Context(), "pruned", metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
	check(protocol.Prune{}, places...)
	check(protocol.Prune{})
}

// pulled has a node pull an image for a pod whose container cannot be created.
func (c *realCluster) pulled(pod, node, image string) {
	c.t.Helper()
	p := c.pod(pod)
	p.Spec.NodeName, p.Spec.Containers[0].Image = node, image
	p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}}}}
	c.create(p)
	c.await(pod, func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
}

func (c *realCluster) prune(p protocol.Prune) (done protocol.PruneDone) {
	c.t.Helper()
	requests := c.dial()
	requests.call("prune", p, &done)
	_ = requests.w.Close()
	return done
}

// testRegistryBehindService: the cluster's process connects to its registry on behalf of whoever uses a Service, who
// may read, and not write.
func testRegistryBehindService(t *testing.T, c *realCluster) {
	var port int32
	if _, err := fmt.Sscanf(c.registry(), "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	c.hostEndpoints("registry", port)
	service := c.service("registry", corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, Selector: map[string]string{}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
	})
	base := fmt.Sprintf("http://127.0.0.1:%d/v2/op/", service.Spec.Ports[0].NodePort)
	eventually(t, "the registry is behind the Service", func(ctx context.Context) (bool, error) {
		return statusOf(ctx, http.MethodGet, base+"manifests/v1") == http.StatusNotFound, nil
	})
	if status := statusOf(t.Context(), http.MethodPost, base+"blobs/uploads/"); status != http.StatusUnauthorized {
		t.Errorf("an upload through a Service: status %d", status)
	}
}

// statusOf is that of the answer to a request; 0 for none.
func statusOf(ctx context.Context, method, url string) int {
	request, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
