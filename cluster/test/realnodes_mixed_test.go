package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// missing is an image that nobody has.
const missing = "misspelt.invalid/server:v1"

// nodeProgram is the path of slipway-node.
func nodeProgram() string {
	if own := os.Getenv("SLIPWAY_NODE"); own != "" {
		return own
	}
	return filepath.Join(filepath.Dir(programPath), "slipway-node")
}

// startJoining starts a cluster that a real node joins when an image comes.
func startJoining(t testing.TB, changes ...func(*protocol.Config)) *realCluster {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("isolated nodes need Linux")
	}
	c := newConfig(t)
	c.NodeKind, c.NodeProgram = protocol.DefaultNodes, nodeProgram()
	for _, change := range changes {
		change(&c)
	}
	p := launch(t, c)
	p.nextOrSkip("ready")
	return &realCluster{program: p, t: t, client: p.clients(), image: "server:v1", ns: metav1.NamespaceDefault}
}

// load puts the image into the cluster's registry, by that name in there.
func (c *realCluster) load(repository string) {
	c.t.Helper()
	ref, err := name.ParseReference(c.registry() + "/" + repository)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := remote.Write(ref, podImage(c.t)); err != nil {
		c.t.Fatal(err)
	}
	if s := c.kinds(); strings.Contains(s.Problem, "forbids the namespaces") {
		c.t.Skip(s.Problem)
	}
}

// loaded is where package registry has image server:v1 of nowhere.
const loaded = "index.docker.io/library/server:v1"

func (c *realCluster) kinds() protocol.NodeKinds { return c.status().Nodes }

func (c *realCluster) registry() string { return c.status().Registry }

// on says whether a pod is on a node of a kind.
func (c *realCluster) on(pod *corev1.Pod, label string) bool {
	c.t.Helper()
	n, err := c.client.CoreV1().Nodes().Get(c.t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	return err == nil && n.Labels[label] == "true"
}

// TestRealNodeJoins follows a durable cluster from its first image on, which brings a real node, to a start without the
// program of such nodes.
func TestRealNodeJoins(t *testing.T) {
	t.Parallel()
	c := startJoining(t, durable)
	if n := c.kinds(); n != (protocol.NodeKinds{Simulated: 1, Joins: true}) {
		t.Errorf("before an image: %+v", n)
	}
	host := c.pod("host", "serve")
	host.Spec.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	daemons := c.in(t)
	c.part(t, "the node comes with an image", func(t *testing.T, c *realCluster) {
		c.create(c.pod("early"))
		if early := c.await("early", ready); !c.on(early, node.SimulatedLabel) {
			t.Error("without an image a pod is not simulated")
		}
		c.awaitEvent("early", "Simulated", "image server:v1 is not in the cluster")
		daemons.createDaemonSet(host)
		daemons.awaitDaemons("host", 1)
		c.load("index.docker.io/library/other:v1")
		if n := c.kinds(); n != (protocol.NodeKinds{Simulated: 1, Real: 1, Joins: true}) {
			t.Errorf("with an image: %+v", n)
		}
	})
	c.part(t, "a pod waits for its image", testWaitsForImage)
	c.part(t, "daemons are on nodes of both kinds", func(t *testing.T, c *realCluster) {
		own := *daemons
		own.t = t
		testDaemons(t, &own)
	})
	c.part(t, "pods go by their images", func(t *testing.T, c *realCluster) { testPodsGoByImages(t, c, host) })
	c.part(t, "both kinds beside each other", func(t *testing.T, c *realCluster) { testBothKinds(t, c.in(t)) })
	c.part(t, "reset", testResetLeavesJoinedNode)
	c.part(t, "next starts", testKeepsJoinedNode)
}

// testWaitsForImage: a pod that may be on real nodes alone waits for its image, and is tried again when that comes.
func testWaitsForImage(t *testing.T, c *realCluster) {
	c.createClaiming("set", 1).awaitReady()
	waiting := c.pod("waiting", "serve")
	waiting.Spec.NodeSelector = map[string]string{node.RealLabel: "true"}
	c.create(waiting)
	c.await("waiting", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && strings.Contains(p.Status.Conditions[0].Message, "image server:v1 is not in the cluster")
	})
	c.load(loaded)
	c.await("waiting", ready)
}

// testPodsGoByImages: those that were simulated stay so, until they are replaced.
func testPodsGoByImages(t *testing.T, c *realCluster, host *corev1.Pod) {
	c.create(c.pod("real", "serve"))
	simulated := c.pod("simulated")
	simulated.Spec.Containers[0].Image = missing
	c.create(simulated)
	if p := c.await("simulated", ready); !c.on(p, node.SimulatedLabel) {
		t.Errorf("a pod without its image is on %s", p.Spec.NodeName)
	}
	if p := c.await("real", ready); !c.on(p, node.RealLabel) {
		t.Errorf("a pod with its image is on %s", p.Spec.NodeName)
	}
	if p := c.await("early", ready); !c.on(p, node.SimulatedLabel) {
		t.Error("a pod that was simulated has moved")
	}
	if p := c.await("set-0", ready); !c.on(p, node.SimulatedLabel) {
		t.Error("a pod that was simulated has moved")
	}
	if p := c.replace("set-0"); !c.on(p, node.RealLabel) { // as after a restart of the rollout
		t.Errorf("a pod with its image and a claim is on %s", p.Spec.NodeName)
	}
	host = host.DeepCopy()
	c.create(host)
	if p := c.await("host", ready); !c.on(p, node.SimulatedLabel) {
		t.Errorf("a pod with a hostPath volume is on %s", p.Spec.NodeName)
	}
	c.awaitEvent("host", "Simulated", "real nodes refuse the hostPath volume host")
	host.Name, host.Spec.NodeName = "bound", "real-1"
	c.refuses(host, "real nodes refuse the hostPath volume host")
	c.load(loaded) // again: nothing changes
	requests := c.dial()
	requests.send(`{"id":2,"method":"joinNode"}`)
	if got := string(requests.next("reply").Result); got != `{"name":"real-1","already":true}` {
		t.Errorf("joining twice: %s", got)
	}
}

// testBothKinds: what reaches pods passes simulated ones by; nodes of both kinds are lost and come back.
func testBothKinds(t *testing.T, c *realCluster) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"service": "web"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
	}}
	if _, err := c.client.CoreV1().Services(c.ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, image := range []string{c.image, missing, missing} {
		p := c.pod(fmt.Sprintf("web-%d", i), "serve")
		p.Labels["service"], p.Spec.Containers[0].Image = "web", image
		c.create(p)
	}
	for i := range 3 {
		c.await(fmt.Sprintf("web-%d", i), ready)
	}
	eventually(t, "the API server reaches the real pod, by the Service", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().RESTClient().Get().Namespace(c.ns).Resource("services").Name("web").SubResource("proxy").DoRaw(ctx)
		return err == nil, nil
	})
	for _, name := range []string{"real-1", "simulated-1"} {
		c.stopNode(name)
		c.startNode(name)
	}
	c.await("web-0", ready)
	c.await("web-1", ready)
	if refusal := c.dial().ask("stopNode", map[string]string{"name": "nobody"}, nil); !strings.Contains(refusal, "the nodes are real-1, simulated-1") {
		t.Errorf("an unknown node: %s", refusal)
	}
}

// testResetLeavesJoinedNode: a reset leaves the node, without the volumes of the claims that it removes.
func testResetLeavesJoinedNode(t *testing.T, c *realCluster) {
	set := claiming{c, "set", 1}
	set.awaitReady()
	eventually(t, "its pod answers", func(context.Context) (bool, error) { return c.answers("set-0"), nil }) // the node was started again
	set.write()
	folders := set.folders()
	c.dial().resetTo("")
	if n := c.kinds(); n.Real != 1 {
		t.Errorf("after a reset: %+v", n)
	}
	allGone(t, folders)
	c.create(c.pod("after", "serve"))
	if p := c.await("after", ready); !c.on(p, node.RealLabel) {
		t.Errorf("after a reset a pod with its image is on %s", p.Spec.NodeName)
	}
}

// testKeepsJoinedNode: a durable cluster with images begins with its real node, and so with the pods there.
func testKeepsJoinedNode(t *testing.T, c *realCluster) {
	before := c.await("after", ready)
	c.stop()
	c.startAgain()
	if n := c.kinds(); n.Real != 1 || n.Simulated != 1 {
		t.Errorf("started again: %+v", n)
	}
	after := c.await("after", ready)
	if after.UID != before.UID || !c.on(after, node.RealLabel) {
		t.Errorf("the pod that was kept: %s on %s", after.UID, after.Spec.NodeName)
	}
	c.stop()

	// Where the program has gone all is simulated again: nothing waits for a node that does not come.
	c.config.NodeProgram = filepath.Join(t.TempDir(), "absent")
	c.startAgain()
	if n := c.kinds(); n.Real != 0 || !strings.Contains(n.Problem, "not built yet") {
		t.Errorf("without the program: %+v", n)
	}
	eventually(t, "the real node is gone", func(ctx context.Context) (bool, error) {
		nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: node.RealLabel})
		return err == nil && len(nodes.Items) == 0, err
	})
}

// testDaemons: a copy of a DaemonSet is on each node, whatever its image; but none on real nodes of one that they
// refuse, so that it completes. The pod of that one was there before the real node.
func testDaemons(t *testing.T, c *realCluster) {
	before, err := c.podsOf(t.Context(), "host")
	if err != nil || len(before) != 1 {
		t.Fatalf("%d pods, %v", len(before), err)
	}
	c.createDaemonSet(c.pod("daemon", "serve"))
	c.awaitDaemons("daemon", 2)
	c.awaitDaemons("host", 1)
	c.awaitEvent(before[0].Name, "Simulated", "image server:v1 is not in the cluster")
	if after, err := c.podsOf(t.Context(), "host"); err != nil || len(after) != 1 || after[0].UID != before[0].UID {
		t.Errorf("the pod that was there was replaced by %v, %v", after, err)
	}
	before[0] = *c.replaceDaemon("host")
	c.awaitEvent(before[0].Name, "Simulated", "real nodes refuse the hostPath volume host")
}

func (c *realCluster) createDaemonSet(p *corev1.Pod) {
	c.t.Helper()
	must[*appsv1.DaemonSet](c.t)(c.client.AppsV1().DaemonSets(c.ns).Create(c.t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec},
		},
	}, metav1.CreateOptions{}))
}

// awaitDaemons waits until a DaemonSet has as many pods as it wants, and they are ready.
func (c *realCluster) awaitDaemons(name string, pods int32) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("DaemonSet %s has %d ready pods", name, pods), func(ctx context.Context) (bool, error) {
		d, err := c.client.AppsV1().DaemonSets(c.ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && d.Status.ObservedGeneration == d.Generation && d.Status.NumberReady == pods && d.Status.DesiredNumberScheduled == pods, err
	})
}

// replaceDaemon deletes the only pod of a DaemonSet and returns the next one.
func (c *realCluster) replaceDaemon(app string) *corev1.Pod {
	c.t.Helper()
	pods, err := c.podsOf(c.t.Context(), app)
	if err != nil || len(pods) != 1 {
		c.t.Fatalf("%d pods, %v", len(pods), err)
	}
	c.remove(pods[0].Name)
	c.awaitDaemons(app, 1)
	if pods, err = c.podsOf(c.t.Context(), app); err != nil || len(pods) != 1 {
		c.t.Fatalf("%d pods, %v", len(pods), err)
	}
	return &pods[0]
}

// TestRealBesideSimulated: real nodes that were asked for have a simulated one beside them if that was asked for, too.
// Nothing else ever joins chosen nodes, also where they are simulated.
func TestRealBesideSimulated(t *testing.T) {
	t.Parallel()
	c := startReal(t, nil, func(c *protocol.Config) { c.SimulateMissingImages = new(true) })
	if n := c.kinds(); n != (protocol.NodeKinds{Simulated: 1, Real: 1}) {
		t.Errorf("real and simulated: %+v", n)
	}
	c.image = missing
	c.create(c.pod("simulated"))
	if p := c.await("simulated", ready); !c.on(p, node.SimulatedLabel) {
		t.Errorf("a pod without its image is on %s", p.Spec.NodeName)
	}
	c.image = "server:v1"
	c.load(loaded)
	c.create(c.pod("real", "serve"))
	if p := c.await("real", ready); !c.on(p, node.RealLabel) {
		t.Errorf("a pod with its image is on %s", p.Spec.NodeName)
	}
}

// testNothingJoins: the chosen nodes of this cluster are simulated. An image that is loaded is on them, and on those of
// logical clusters.
func testNothingJoins(t *testing.T, p *program, logical clients) {
	c := &realCluster{program: p, t: t, client: p.clients(), image: "server:v1", ns: metav1.NamespaceDefault}
	show := func(status string) {
		for _, cluster := range []clients{c.client, logical} {
			eventually(t, "the pod is shown as "+status, func(ctx context.Context) (bool, error) {
				row, err := shown(ctx, cluster, c.ns, "own")
				return row["Status"] == status, err
			})
		}
	}
	for _, cluster := range []clients{c.client, logical} {
		makePod(t, cluster, c.ns, "own", func(_ *metav1.ObjectMeta, s *corev1.PodSpec) {
			s.Containers[0].Image, s.Containers[0].ImagePullPolicy = loaded, corev1.PullNever
		})
	}
	show("ErrImageNeverPull")
	c.load(loaded)
	show("Running")
	if n := c.kinds(); n.Real != 0 || n.Joins {
		t.Errorf("simulated: %+v", n)
	}
	if refusal := c.dial().ask("joinNode", map[string]string{"program": nodeProgram()}, nil); !strings.Contains(refusal, "chosen nodes") {
		t.Errorf("a real node joined: %q", refusal)
	}
}
