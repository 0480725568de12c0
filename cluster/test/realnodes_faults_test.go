package test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/slipway-dev/slipway/cluster/internal/testlock"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	// faultsVariable says how many rounds of all faults there are, seedVariable what random times begin with.
	faultsVariable = "SLIPWAY_FAULTS"
	seedVariable   = "SLIPWAY_SEED"
	// crowd is how many pods are started, or deleted, when something is killed.
	crowd = 6
)

// faults are the rounds that are wanted, and the source of random times.
func faults(t *testing.T) (rounds int, random *rand.Rand) {
	t.Helper()
	number := func(variable string, otherwise uint64) uint64 {
		text := os.Getenv(variable)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%s is not a number", variable, text)
		}
		return n
	}
	seed := number(seedVariable, rand.Uint64N(1_000_000))
	t.Logf("%s=%d", seedVariable, seed)
	return int(number(faultsVariable, 1)), rand.New(rand.NewPCG(seed, 0))
}

// within is a random time up to a longest.
func within(random *rand.Rand, longest time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(longest)))
}

// pass lets some time pass: the moment of a fault is random, and nothing that could be waited for.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// asUsers runs a test as root and as an ordinary user, or, for those who are no root, as they are.
func asUsers(t *testing.T, test func(*testing.T, func(*exec.Cmd))) {
	t.Helper()
	if os.Getuid() != 0 {
		test(t, nil)
		return
	}
	t.Run("root", func(t *testing.T) { test(t, nil) })
	t.Run("user", func(t *testing.T) { test(t, beOrdinary) })
}

// TestRealKillsOfCluster kills the cluster's process at random moments of all that it does. Each time nothing of it may
// be left, and the durable cluster comes back with the pods that it was told to have.
func TestRealKillsOfCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	asUsers(t, func(t *testing.T, how func(*exec.Cmd)) {
		rounds, random := faults(t)
		c := startReal(t, how, func(c *protocol.Config) { c.Durable = true })
		c.createCrowd("kept", 2)
		c.awaitCrowd("kept", 2)
		for range rounds {
			for _, moment := range []struct {
				name    string
				do      func()
				longest time.Duration
			}{
				{"start", func() {}, 0}, // which is killed before it is done
				{"pods that start", func() { c.createCrowd("more", crowd) }, time.Second},
				{"streams", c.openStreams, 200 * time.Millisecond},
				{"deletion", func() { c.deleteCrowd("more") }, 500 * time.Millisecond},
				{"reset", func() { c.dial().send(`{"id": 1, "method": "reset"}`) }, 300 * time.Millisecond},
				{"stop", func() { _ = c.w.Close() }, 300 * time.Millisecond},
			} {
				t.Log("kill:", moment.name)
				if moment.name == "start" {
					c.killStart(within(random, 2*time.Second))
				} else {
					moment.do()
					c.killCluster(within(random, moment.longest))
				}
				c.startAgain()
				if moment.name == "reset" { // which may have come to its end, or not: what is there has to work
					c.createCrowd("kept", 2)
				}
				c.awaitCrowd("kept", 2)
				if t.Failed() {
					t.Fatalf("after the kill at: %s", moment.name)
				}
			}
		}
		c.stop()
		c.removeAsOwner()
	})
}

// killCluster ends the cluster's process after a while, and sees to it that nothing is left.
func (c *realCluster) killCluster(after time.Duration) {
	c.t.Helper()
	before := stateOfMachine(c.t)
	pass(after)
	had := ownedBy(c.processes())
	_ = signalled(c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.exited
	nothingLeft(c.t, c.config.Dir, had, before)
	c.closeStreams()
}

// killStart ends the cluster, starts it again and ends it on the way.
func (c *realCluster) killStart(after time.Duration) {
	c.t.Helper()
	c.killCluster(0)
	before := stateOfMachine(c.t)
	c.program = launch(c.t, c.config, c.how...)
	pass(after)
	had := ownedBy(c.processes())
	_ = signalled(c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.exited
	nothingLeft(c.t, c.config.Dir, had, before)
}

// startAgain starts a cluster that has ended.
func (c *realCluster) startAgain() {
	c.t.Helper()
	c.program = launch(c.program.t, c.config, c.how...)
	c.next("ready")
	c.client = c.clients()
}

// createCrowd makes pods with a label, those of them that are not there yet.
func (c *realCluster) createCrowd(label string, n int) {
	c.t.Helper()
	for i := range n {
		p := c.pod(fmt.Sprintf("%s-%d", label, i))
		p.Labels["crowd"] = label
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
		if _, err := c.client.CoreV1().Pods(c.ns).Create(c.t.Context(), p, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			c.t.Fatal(err)
		}
	}
}

func (c *realCluster) deleteCrowd(label string) {
	c.t.Helper()
	err := c.client.CoreV1().Pods(c.ns).DeleteCollection(c.t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "crowd=" + label})
	if err != nil {
		c.t.Fatal(err)
	}
}

// awaitCrowd waits until so many pods with a label are ready, for which each answers by a command: what a status says
// may be from before.
func (c *realCluster) awaitCrowd(label string, n int) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("%d pods %s are ready", n, label), func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{LabelSelector: "crowd=" + label})
		if err != nil {
			return false, err
		}
		return len(list.Items) == n && !slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return !ready(&p) || !c.answers(p.Name) }), nil
	})
}

func (c *realCluster) answers(pod string) bool {
	got, _, err := c.try(pod, nil, false, "pod", "echo", "hello")
	return err == nil && got == "hello\n"
}

// openStreams follows a log and runs a command that does not end. Both break off, or end when they are closed.
func (c *realCluster) openStreams() {
	c.t.Helper()
	c.closeStreams()
	ctx, cancel := context.WithCancel(c.t.Context())
	var group sync.WaitGroup
	c.streams = func() { cancel(); group.Wait() }
	var log io.ReadCloser
	eventually(c.t, "the log can be followed", func(context.Context) (bool, error) { // a kubelet may not have looked at a container that just began
		var err error
		log, err = c.client.CoreV1().Pods(c.ns).GetLogs("kept-0", &corev1.PodLogOptions{Follow: true}).Stream(ctx)
		return err == nil, nil
	})
	group.Go(func() {
		defer log.Close()
		_, _ = io.Copy(io.Discard, log)
	})
	in, open := io.Pipe() // nothing comes
	context.AfterFunc(ctx, func() { _ = open.Close() })
	request := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.ns).Name("kept-0").SubResource("exec").VersionedParams(
		&corev1.PodExecOptions{Command: []string{"pod", "cat"}, Stdin: true, Stdout: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.client.config, "GET", request.URL().String())
	if err != nil {
		c.t.Fatal(err)
	}
	group.Go(func() {
		_ = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: io.Discard})
	})
}

func (c *realCluster) closeStreams() {
	if c.streams != nil {
		c.streams()
	}
	c.streams = nil
}

// TestRealKillsOfParts kills nodes, containers and the nodes' machine at random moments of all that pods do. The
// cluster goes on: the node is ready again, all pods run that are wanted, and of those that are not nothing is left.
func TestRealKillsOfParts(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	asUsers(t, func(t *testing.T, how func(*exec.Cmd)) {
		rounds, random := faults(t)
		c := startReal(t, how)
		folders := c.foldersOf()
		c.createCrowd("kept", 1)
		c.awaitCrowd("kept", 1)
		before := c.usageOf()
		for range rounds {
			for _, victim := range []struct {
				name string
				find func(*rand.Rand) int
			}{{"node", func(*rand.Rand) int { return c.findNode() }}, {"container", c.anyContainer}, {"machine", c.steadyMachine}} {
				for _, moment := range []struct {
					name    string
					do      func()
					longest time.Duration
				}{
					{"pods that start", func() { c.createCrowd("more", crowd) }, time.Second},
					{"streams", c.openStreams, 100 * time.Millisecond},
					{"deletion", func() { c.deleteCrowd("more") }, 500 * time.Millisecond},
				} {
					t.Logf("kill a %s: %s", victim.name, moment.name)
					moment.do()
					pass(within(random, moment.longest))
					_ = signalled(victim.find(random), syscall.SIGKILL)
					if moment.name == "pods that start" {
						c.awaitCrowd("more", crowd)
					}
					c.awaitCrowd("kept", 1)
					c.closeStreams()
				}
				c.awaitCrowd("more", 0)
				c.settlesTo(before, c.usageOf)
			}
		}
		if rounds > 1 {
			c.deleteCrowd("kept")
			c.settlesTo(folders, c.foldersOf)
		}
		had, machine := ownedBy(c.processes()), stateOfMachine(t)
		c.stop()
		nothingLeft(t, c.config.Dir, had, machine)
	})
}

// anyContainer is the first process of a container of the node's, which may just be being made; 0 if there is none.
func (c *realCluster) anyContainer(random *rand.Rand) int {
	c.t.Helper()
	all, node := c.processes(), c.findNode()
	var children []int
	for pid := range all {
		if parentOf(pid) == node {
			children = append(children, pid)
		}
	}
	if len(children) == 0 {
		return 0
	}
	slices.Sort(children)
	return children[random.IntN(len(children))]
}

func parentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// TestRealThreeClusters: clusters with the same addresses, names and ports do not disturb one another.
func TestRealThreeClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-nodes")
	}
	testlock.Hold(t, testlock.PortName(30777))
	var all []*realCluster
	for i := range 3 {
		how := []func(*exec.Cmd){nil, nil}[min(i, 1)]
		if i == 2 && os.Getuid() == 0 {
			how = beOrdinary
		}
		all = append(all, startReal(t, how))
	}
	addresses := map[string][]string{}
	for i, c := range all {
		p := c.pod("server")
		p.Spec.Hostname = fmt.Sprintf("of-%d", i)
		c.create(p)
		addresses["pod"] = append(addresses["pod"], c.await("server", ready).Status.PodIP)
		c.create(c.pod("client")) // which has the next address, since it comes later
		service := c.service("server", corev1.ServiceSpec{ClusterIP: "10.0.0.77", Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "http", Port: 80, NodePort: 30777, TargetPort: intstr.FromInt32(8080)}}})
		c.await("client", ready)
		addresses["Service"] = append(addresses["Service"], service.Spec.ClusterIP)
	}
	if of := slices.Compact(slices.Clone(addresses["Service"])); len(of) != 1 {
		t.Errorf("the Services have different addresses: %v", of)
	}
	if of := slices.Compact(slices.Clone(addresses["pod"])); len(of) != 1 {
		t.Log("a sandbox was made twice: the pods have different addresses, so that those show nothing this time:", of)
	}
	apart := func(clusters []*realCluster) {
		t.Helper()
		for i, c := range all {
			if !slices.Contains(clusters, c) {
				continue
			}
			want := fmt.Sprintf("of-%d", i)
			for _, url := range []string{"http://" + addresses["pod"][i] + ":8080/", "http://10.0.0.77/", "http://server/", "http://server.default.svc.cluster.local/"} {
				c.eventuallyExec(want, "pod", "get", url)
			}
		}
	}
	apart(all)
	// The port of this machine is that of the first; the others say that it is taken.
	if got := fetch(t, "http://127.0.0.1:30777/"); got != "of-0" {
		t.Errorf("the port of the node is that of %q", got)
	}
	all[1].stop()
	killProcess(t, all[2].cmd.Process.Pid)
	<-all[2].exited
	apart(all[:1])
	if got := fetch(t, "http://127.0.0.1:30777/"); got != "of-0" {
		t.Errorf("after the others ended the port of the node is that of %q", got)
	}
}
