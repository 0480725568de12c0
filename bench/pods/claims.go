package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// claimants is how many pods with claims there are.
const claimants = 3

// patience is how long the experiment waits for what takes a second or less.
const patience = time.Minute

var (
	errData   = errors.New("the volume of a pod has other data than its pods wrote")
	errNotYet = errors.New("not yet")
)

// startDurable starts a cluster that outlives its process.
var startDurable = []string{"cluster", "start", "--durable", "--nodes", "real"}

// claims measures a StatefulSet whose pods have claims, on a durable cluster: created until all are Ready, and one of
// its pods deleted until the next one of its name is Ready. It fails when data are lost, also when the cluster is
// killed.
func (b *bench) claims(ctx context.Context) (_ []sidebyside.Figure, err error) {
	ready := sidebyside.Figure{Case: "StatefulSet of three with claims, created until Ready", Unit: "ms", Bar: sidebyside.AtMost(3000)}
	next := sidebyside.Figure{Case: "its pod, deleted until the next one is Ready with its data", Unit: "ms"}
	again := sidebyside.Figure{Case: "its cluster, killed, from its start until all three have their data", Unit: "ms"}
	if err := b.run(ctx, b.dir, startDurable...); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.run(context.WithoutCancel(ctx), b.dir, "cluster", "delete")) }()
	client, err := b.client()
	if err == nil {
		err = b.loadServer(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i := range b.runs + 1 {
		s := &set{client, fmt.Sprintf("set-%d", i), 1}
		up, replaced, err := s.run(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 { // the first pulls the image
			continue
		}
		ready.Ours, next.Ours = append(ready.Ours, up), append(next.Ours, replaced...)
	}
	kept := &set{client, "kept", 1}
	if err := kept.create(ctx); err != nil {
		return nil, err
	}
	took, err := b.outlive(ctx, kept)
	again.Ours = append(again.Ours, took)
	return []sidebyside.Figure{ready, next, again}, err
}

// outlive kills the cluster, and is how many milliseconds its next start takes until the data are there.
func (b *bench) outlive(ctx context.Context, s *set) (float64, error) {
	err := s.hasAll(ctx)
	if err == nil {
		err = b.kill(ctx)
	}
	begin := time.Now()
	if err == nil {
		err = b.run(ctx, b.dir, startDurable...)
	}
	if err == nil {
		s.client, err = b.client()
	}
	if err != nil {
		return 0, err
	}
	s.starts++
	if err := s.hasAll(ctx); err != nil {
		return 0, fmt.Errorf("after the cluster was killed: %w", err)
	}
	return milliseconds(time.Since(begin)), nil
}

// kill kills the cluster's process.
func (b *bench) kill(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.slipway, "cluster", "status", "--output", "json")
	cmd.Dir, cmd.Env = b.dir, b.env
	text, err := cmd.Output()
	if err != nil {
		return err
	}
	var status struct{ Value struct{ PID int } }
	if err := json.Unmarshal(text, &status); err != nil {
		return fmt.Errorf("read the cluster's status: %w", err)
	}
	if status.Value.PID == 0 {
		return fmt.Errorf("no process is named by %s", text)
	}
	return syscall.Kill(status.Value.PID, syscall.SIGKILL)
}

// set is a StatefulSet, each of whose pods writes a line to its volume when it starts.
type set struct {
	client kubernetes.Interface
	name   string
	starts int // of each pod
}

// run creates it, replaces each of its pods and removes it.
func (s *set) run(ctx context.Context) (up float64, replaced []float64, err error) {
	begin := time.Now()
	if err := s.create(ctx); err != nil {
		return 0, nil, err
	}
	up = milliseconds(time.Since(begin))
	if err := s.hasAll(ctx); err != nil {
		return 0, nil, err
	}
	s.starts++
	for i := range claimants {
		begin := time.Now()
		if err := s.replace(ctx, s.pod(i)); err != nil {
			return 0, nil, err
		}
		replaced = append(replaced, milliseconds(time.Since(begin)))
	}
	return up, replaced, s.remove(ctx)
}

func (s *set) pod(i int) string { return fmt.Sprintf("%s-%d", s.name, i) }

// create creates it and returns once it is ready.
func (s *set) create(ctx context.Context) error {
	sets := s.client.AppsV1().StatefulSets(metav1.NamespaceDefault)
	seen, err := sets.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", s.name).String()})
	if err != nil {
		return err
	}
	defer seen.Stop()
	labels := map[string]string{"set": s.name}
	spec := serverPod("", nil).Spec
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	_, err = sets.Create(ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: s.name, Replicas: new(int32(claimants)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for event := range seen.ResultChan() {
		if s, ok := event.Object.(*appsv1.StatefulSet); ok && s.Status.ReadyReplicas == claimants {
			return nil
		}
	}
	return errors.Join(errors.New("the watch ended before the StatefulSet was ready"), ctx.Err())
}

// replace deletes a pod and returns once the next one of its name is ready and has the data.
func (s *set) replace(ctx context.Context, pod string) error {
	pods := s.client.CoreV1().Pods(metav1.NamespaceDefault)
	before, err := pods.Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := pods.Delete(ctx, pod, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.has(ctx, pod, before.UID)
}

// hasAll waits until the data of all pods are there.
func (s *set) hasAll(ctx context.Context) error {
	for i := range claimants {
		if err := s.has(ctx, s.pod(i), ""); err != nil {
			return err
		}
	}
	return nil
}

// has waits until a pod that is not the one before answers with a line for each of its starts.
func (s *set) has(ctx context.Context, pod string, before types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	want := strings.Repeat(pod+"\n", s.starts)
	for {
		got, err := s.ask(ctx, pod, before)
		if err == nil && got == want {
			return nil
		}
		if err == nil {
			return fmt.Errorf("%w: %s has %q instead of %q", errData, pod, got, want)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("pod %s does not answer: %w", pod, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ask returns the lines that a ready pod answers with.
func (s *set) ask(ctx context.Context, name string, before types.UID) (string, error) {
	pod, err := s.client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if pod.UID == before || !ready(pod) || pod.DeletionTimestamp != nil {
		return "", errNotYet
	}
	text, err := s.client.CoreV1().RESTClient().Get().Namespace(pod.Namespace).Resource("pods").Name(name + ":8080").SubResource("proxy").DoRaw(ctx)
	return string(text), err
}

// remove deletes it with its pods and their claims.
func (s *set) remove(ctx context.Context) error {
	foreground := metav1.DeletePropagationForeground
	if err := s.client.AppsV1().StatefulSets(metav1.NamespaceDefault).Delete(ctx, s.name, metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	return s.client.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "set=" + s.name})
}
