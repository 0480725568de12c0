package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// containerRuns is how many times a container is started for each run of the others: it takes milliseconds.
const containerRuns = 3

// starts are the figures of the start of a container.
type starts struct {
	itself, beside, within, sandbox sidebyside.Figure
}

func newStarts() starts {
	return starts{
		itself:  sidebyside.Figure{Case: "container by itself, created and started, until its program is executed", Unit: "ms", Bar: sidebyside.AtMost(15)},
		beside:  sidebyside.Figure{Case: "container by itself, beside runc", Unit: "ms", Bar: sidebyside.RatioAtMost(0.5)},
		within:  sidebyside.Figure{Case: "container of a pod that is created, asked for until its program is executed", Unit: "ms"},
		sandbox: sidebyside.Figure{Case: "pod's sandbox, asked for until it is there", Unit: "ms"},
	}
}

// figures are those that could be measured.
func (s *starts) figures() (all []sidebyside.Figure) {
	if len(s.itself.Ours) > 0 {
		all = append(all, s.itself)
	}
	if len(s.beside.Peer) > 0 {
		all = append(all, s.beside)
	}
	return append(all, s.within, s.sandbox)
}

// container measures the start of a container, from the kubelet's call of the runtime until the image's program is
// executed: as part of the start of a pod, by the kubelet's own measurements, whose sum is read before and after each
// pod; and, when there is no cluster any more, by itself, in turn with runc, where that can be had.
func (b *bench) container(ctx context.Context) ([]sidebyside.Figure, error) {
	s := newStarts()
	err := b.onCluster(ctx, "real", func(client kubernetes.Interface) error {
		if err := b.loadServer(ctx); err != nil {
			return err
		}
		return b.times(func(i int, counts bool) error { return s.withinPod(ctx, client, i, counts) })
	})
	if err != nil {
		return nil, err
	}
	runtime, err := b.prepareAlone(ctx)
	if errors.Is(err, errNotRoot) {
		fmt.Printf("no container is started by itself: %v\n\n", err)
		return s.figures(), nil
	}
	if err != nil {
		return nil, err
	}
	peer, why := b.prepareRunc(ctx)
	if why != nil {
		fmt.Printf("runc is not here: %v\n\n", why)
	}
	err = b.times(func(i int, counts bool) error { return s.byItself(ctx, i, runtime, peer, counts) })
	return s.figures(), err
}

// times calls once as often as containers are started. The first one warms up, and does not count.
func (b *bench) times(once func(i int, counts bool) error) error {
	for i := range containerRuns*b.runs + 1 {
		if err := once(i, i > 0); err != nil {
			return err
		}
	}
	return nil
}

func (s *starts) withinPod(ctx context.Context, client kubernetes.Interface, i int, counts bool) error {
	took, err := startedPod(ctx, client, fmt.Sprintf("container-%d", i))
	if err == nil && counts {
		s.within.Ours, s.sandbox.Ours = append(s.within.Ours, took["start_container"]), append(s.sandbox.Ours, took["run_podsandbox"])
	}
	return err
}

// byItself starts a container with our runtime and with the peer, if that is there.
func (s *starts) byItself(ctx context.Context, i int, runtime *alone, peer *runc, counts bool) error {
	ours, err := runtime.start(ctx)
	if err != nil {
		return err
	}
	if counts {
		s.itself.Ours, s.beside.Ours = append(s.itself.Ours, ours), append(s.beside.Ours, ours)
	}
	if peer == nil {
		return nil
	}
	theirs, err := peer.start(ctx, i)
	if err == nil && counts {
		s.beside.Peer = append(s.beside.Peer, theirs)
	}
	return err
}

// startedPod is what the runtime took for the operations of a pod of one container, in milliseconds.
func startedPod(ctx context.Context, client kubernetes.Interface, name string) (map[string]float64, error) {
	before, err := operations(ctx, client)
	if err != nil {
		return nil, err
	}
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	seen, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return nil, err
	}
	defer seen.Stop()
	if _, err := pods.Create(ctx, serverPod(name, nil), metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if err := await(ctx, seen, 1, isReady); err != nil {
		return nil, err
	}
	took, err := operations(ctx, client)
	if err != nil {
		return nil, err
	}
	for operation := range took {
		took[operation] -= before[operation]
	}
	if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	return took, await(ctx, seen, 1, isGone)
}

// operations is how long all operations of the node's container runtime took so far, in milliseconds.
func operations(ctx context.Context, client kubernetes.Interface) (map[string]float64, error) {
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/node-1/proxy/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, `kubelet_runtime_operations_duration_seconds_sum{operation_type="`)
		if !ok {
			continue
		}
		operation, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("the kubelet's metrics: %w", err)
		}
		sums[operation] = seconds * 1000
	}
	return sums, nil
}
