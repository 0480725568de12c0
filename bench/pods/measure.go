package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// image is that of the pods.
const image = "server:v1"

// start compares the start of a cluster with a real node, until that is ready, with one whose node is simulated.
func (b *bench) start(ctx context.Context) ([]sidebyside.Figure, error) {
	f := sidebyside.Figure{Case: "cluster with a real node, ready, beside a simulated one", Unit: "ms"}
	more := sidebyside.Figure{Case: "what the real node adds", Unit: "ms", Bar: sidebyside.AtMost(700)}
	for range b.runs + 1 {
		real, err := b.startOnce(ctx, "real")
		if err != nil {
			return nil, err
		}
		simulated, err := b.startOnce(ctx, "simulated")
		if err != nil {
			return nil, err
		}
		f.Ours, f.Peer, more.Ours = append(f.Ours, real), append(f.Peer, simulated), append(more.Ours, real-simulated)
	}
	f.Ours, f.Peer, more.Ours = f.Ours[1:], f.Peer[1:], more.Ours[1:] // the first warms up
	return []sidebyside.Figure{f, more}, nil
}

func (b *bench) startOnce(ctx context.Context, nodes string) (float64, error) {
	took, err := b.timed(ctx, b.dir, "cluster", "start", "--nodes", nodes)
	if err != nil {
		return 0, err
	}
	return took, b.run(ctx, b.dir, "cluster", "stop")
}

// pod measures one pod at a time, without a probe and with one: created until ready, and then, at once, deleted until
// gone.
func (b *bench) pod(ctx context.Context) ([]sidebyside.Figure, error) {
	var figures []sidebyside.Figure
	err := b.onCluster(ctx, "real", func(client kubernetes.Interface) error {
		if err := b.loadServer(ctx); err != nil {
			return err
		}
		for _, sort := range []struct {
			what  string
			probe *corev1.Probe
		}{{"pod", nil}, {"pod with a readiness probe", readiness}} {
			ready := sidebyside.Figure{Case: sort.what + ", created until Ready", Unit: "ms", Bar: sidebyside.AtMost(1000)}
			gone := sidebyside.Figure{Case: sort.what + ", deleted until gone", Unit: "ms", Bar: sidebyside.AtMost(1500)}
			for i := range b.runs + 1 {
				up, down, err := onePod(ctx, client, serverPod(fmt.Sprintf("pod-%d", i), sort.probe))
				if err != nil {
					return err
				}
				if i > 0 { // the first pulls the image
					ready.Ours, gone.Ours = append(ready.Ours, up), append(gone.Ours, down)
				}
			}
			figures = append(figures, ready, gone)
		}
		return nil
	})
	return figures, err
}

// readiness is a probe that asks as often as a probe can.
var readiness = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}}

func onePod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (up, down float64, err error) {
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	seen, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + pod.Name})
	if err != nil {
		return 0, 0, err
	}
	defer seen.Stop()
	begin := time.Now()
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return 0, 0, err
	}
	if err := await(ctx, seen, 1, isReady); err != nil {
		return 0, 0, err
	}
	up = milliseconds(time.Since(begin))
	begin = time.Now()
	if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		return 0, 0, err
	}
	err = await(ctx, seen, 1, isGone)
	return up, milliseconds(time.Since(begin)), err
}

// crowd is how many pods are made at once, on two nodes.
const crowd = 100

// hundred measures pods that are made at once.
func (b *bench) hundred(ctx context.Context) ([]sidebyside.Figure, error) {
	f := sidebyside.Figure{Case: fmt.Sprintf("%d pods at once on two nodes, all Ready", crowd), Unit: "ms", Bar: sidebyside.AtMost(30_000)}
	err := b.onCluster(ctx, "real=2", func(client kubernetes.Interface) error {
		if err := b.loadServer(ctx); err != nil {
			return err
		}
		for range 3 {
			took, err := crowded(ctx, client)
			if err != nil {
				return err
			}
			f.Ours = append(f.Ours, took)
		}
		return nil
	})
	return []sidebyside.Figure{f}, err
}

func crowded(ctx context.Context, client kubernetes.Interface) (float64, error) {
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	seen, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	defer seen.Stop()
	begin := time.Now()
	for i := range crowd {
		if _, err := pods.Create(ctx, serverPod(fmt.Sprintf("crowd-%d", i), readiness), metav1.CreateOptions{}); err != nil {
			return 0, err
		}
	}
	if err := await(ctx, seen, crowd, isReady); err != nil {
		return 0, err
	}
	took := milliseconds(time.Since(begin))
	if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return 0, err
	}
	return took, await(ctx, seen, crowd, isGone)
}

// deploy measures `slipway deploy` of the CronJob operator with webhooks, conversion, metrics and a self-kept
// certificate: two replicas until they are available and the API server trusts their certificate.
func (b *bench) deploy(ctx context.Context) ([]sidebyside.Figure, error) {
	f := sidebyside.Figure{Case: "slipway deploy of two replicas, all features, self-kept certificate", Unit: "ms", Bar: sidebyside.AtMost(5000)}
	operator := filepath.Join(b.dir, "operator")
	if err := b.operator(ctx, operator); err != nil {
		return nil, err
	}
	err := b.onCluster(ctx, "real", func(kubernetes.Interface) error {
		if err := b.run(ctx, operator, "image", "load", "cronjob:v1"); err != nil {
			return err
		}
		for i := range b.runs + 1 {
			took, err := b.timed(ctx, operator, "deploy", "--image", "cronjob:v1")
			if err != nil {
				return err
			}
			if i > 0 { // the first pulls the image
				f.Ours = append(f.Ours, took)
			}
			if err := b.run(ctx, operator, "undeploy"); err != nil {
				return err
			}
		}
		return nil
	})
	return []sidebyside.Figure{f}, err
}

var replicas = regexp.MustCompile(`replicas: \d+`)

// operator makes a copy of the example with all features and two replicas, and its image.
func (b *bench) operator(ctx context.Context, folder string) error {
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(b.root, "examples", "cronjob"))); err != nil {
		return err
	}
	if err := b.run(ctx, folder, "edit", "--certs", "self", "--enable", "network-policy"); err != nil {
		return err
	}
	manager := filepath.Join(folder, "config", "manager", "manager.yaml")
	text, err := os.ReadFile(manager)
	if err != nil {
		return err
	}
	if err := os.WriteFile(manager, replicas.ReplaceAll(text, []byte("replicas: 2")), 0o644); err != nil {
		return err
	}
	return b.run(ctx, folder, "image", "build", "-t", "cronjob:v1")
}

func serverPod(name string, probe *corev1.Probe) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: image, ReadinessProbe: probe}}},
	}
}

// await returns when so many pods were seen to be as wanted.
func await(ctx context.Context, seen watch.Interface, n int, wanted func(watch.Event) bool) error {
	done := map[string]bool{}
	for len(done) < n {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-seen.ResultChan():
			if !ok {
				return fmt.Errorf("the watch ended after %d of %d pods", len(done), n)
			}
			if pod, ok := event.Object.(*corev1.Pod); ok && wanted(event) {
				done[pod.Name] = true
			}
		}
	}
	return nil
}

func isGone(event watch.Event) bool { return event.Type == watch.Deleted }

func isReady(event watch.Event) bool { return ready(event.Object.(*corev1.Pod)) }

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
