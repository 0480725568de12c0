package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// containerRuns is how many times a container is started for each run of the others: it takes milliseconds.
const containerRuns = 3

// container measures the start of a container, from the kubelet's call of the runtime until the image's program is executed: by itself, in
// turn with runc, where that can be had, which starts the same program; and as part of the start of a pod, by the kubelet's own measurements,
// whose sum is read before and after each pod.
func (b *bench) container(ctx context.Context) ([]sidebyside.Figure, error) {
	itself := sidebyside.Figure{Case: "container by itself, asked for until its program is executed", Unit: "ms", Bar: sidebyside.AtMost(15)}
	beside := sidebyside.Figure{Case: "container by itself, beside runc", Unit: "ms", Bar: sidebyside.RatioAtMost(0.5)}
	within := sidebyside.Figure{Case: "container of a pod that is created, asked for until its program is executed", Unit: "ms"}
	sandbox := sidebyside.Figure{Case: "pod's sandbox, asked for until it is there", Unit: "ms"}
	runtime, err := b.prepareAlone(ctx)
	if err != nil {
		return nil, err
	}
	err = b.onCluster(ctx, "real", func(client kubernetes.Interface) error {
		if err := b.loadServer(ctx); err != nil {
			return err
		}
		peer, why := b.prepareRunc(ctx)
		if why != nil {
			fmt.Printf("runc is not here: %v\n\n", why)
			beside = sidebyside.Figure{Case: "container by itself; runc is not here to compare with", Unit: "ms"}
		}
		for i := range containerRuns*b.runs + 1 {
			took, err := startedPod(ctx, client, fmt.Sprintf("container-%d", i))
			if err != nil {
				return err
			}
			ours, err := runtime.start(ctx)
			if err != nil {
				return err
			}
			var runc float64
			if peer != nil {
				if runc, err = peer.start(ctx, i); err != nil {
					return err
				}
			}
			if i == 0 { // warms up
				continue
			}
			within.Ours, sandbox.Ours = append(within.Ours, took["start_container"]), append(sandbox.Ours, took["run_podsandbox"])
			itself.Ours, beside.Ours = append(itself.Ours, ours), append(beside.Ours, ours)
			if peer != nil {
				beside.Peer = append(beside.Peer, runc)
			}
		}
		return nil
	})
	return []sidebyside.Figure{itself, beside, within, sandbox}, err
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
