package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claiming are the pods of a StatefulSet, each with a claim of its own.
type claiming struct {
	*realCluster
	name     string
	replicas int
}

// createClaiming makes a StatefulSet. Its pods run as some user, and have a part of the volume at another place
// besides.
func (c *realCluster) createClaiming(name string, replicas int) claiming {
	c.t.Helper()
	set := claiming{c, name, replicas}
	pod := c.pod(name, "graceful")
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000)), FSGroup: new(int64(1234))}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
		{Name: "data", MountPath: "/data"}, {Name: "data", MountPath: "/part", SubPath: "deep/part"},
	}
	_, err := c.client.AppsV1().StatefulSets(c.ns).Create(c.t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Replicas: new(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*newClaim("data", nil)},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return set
}

func (s claiming) pods() (names []string) {
	for i := range s.replicas {
		names = append(names, fmt.Sprintf("%s-%d", s.name, i))
	}
	return names
}

func (s claiming) awaitReady() {
	s.t.Helper()
	eventually(s.t, "StatefulSet "+s.name+" is ready", func(ctx context.Context) (bool, error) {
		set, err := s.client.AppsV1().StatefulSets(s.ns).Get(ctx, s.name, metav1.GetOptions{})
		return err == nil && set.Status.ReadyReplicas == int32(s.replicas), err
	})
}

// replace deletes a pod of a controller's, and returns the next one of that name once it is ready.
func (c *realCluster) replace(name string) *corev1.Pod {
	c.t.Helper()
	before := c.await(name, ready)
	if err := c.client.CoreV1().Pods(c.ns).Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
	return c.await(name, func(p *corev1.Pod) bool { return p.UID != before.UID && ready(p) })
}

// write leaves each pod's name in its volume.
func (s claiming) write() {
	s.t.Helper()
	for _, pod := range s.pods() {
		s.exec(pod, "pod", "write", "/part/file", pod)
	}
}

// has expects the volumes to be as write left them.
func (s claiming) has() {
	s.t.Helper()
	for _, pod := range s.pods() {
		eventually(s.t, "the data of "+pod+" are there", func(context.Context) (bool, error) {
			got, stderr, err := s.try(pod, nil, false, "pod", "cat", "/data/deep/part/file")
			if err == nil && got != pod+"\n" {
				return false, fmt.Errorf("its file has %q, %s", got, stderr)
			}
			return err == nil, nil // after a kill the pod is started anew
		})
	}
}

// folders are those of the volumes on this machine.
func (s claiming) folders() (all []string) {
	s.t.Helper()
	for _, pod := range s.pods() {
		claim := bound(s.t.(*testing.T), s.client, s.ns, "data-"+pod)
		volume, err := s.client.CoreV1().PersistentVolumes().Get(s.t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		folder := filepath.Join(s.config.Dir, "nodes", ".volumes", string(volume.UID))
		if _, err := os.Stat(folder); err != nil {
			s.t.Error(err)
		}
		all = append(all, folder)
	}
	return all
}

// remove deletes the StatefulSet with its pods and their claims.
func (s claiming) remove() {
	s.t.Helper()
	foreground := metav1.DeletePropagationForeground
	if err := s.client.AppsV1().StatefulSets(s.ns).Delete(s.t.Context(), s.name, metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		s.t.Fatal(err)
	}
	for _, pod := range s.pods() {
		if err := s.client.CoreV1().PersistentVolumeClaims(s.ns).Delete(s.t.Context(), "data-"+pod, metav1.DeleteOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func allGone(t *testing.T, folders []string) {
	t.Helper()
	for _, folder := range folders {
		eventually(t, folder+" is gone", func(context.Context) (bool, error) {
			_, err := os.Stat(folder)
			return errors.Is(err, fs.ErrNotExist), nil
		})
	}
}

// testClaims: what a pod writes to its claim is there for the next pod, for as long as the claim is.
func testClaims(t *testing.T, c *realCluster) {
	begin := time.Now()
	set := c.createClaiming("claiming", 3)
	set.awaitReady()
	t.Log("a StatefulSet of three with claims is ready after", time.Since(begin))
	set.write()
	for _, pod := range set.pods() {
		c.replace(pod)
	}
	set.has()
	folders := set.folders()

	set.remove()
	allGone(t, folders)
}
