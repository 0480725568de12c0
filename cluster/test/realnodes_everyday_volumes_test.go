package test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mounting is a pod with a volume at /data.
func (c *realCluster) mounting(name string, s corev1.VolumeSource, args ...string) *corev1.Pod {
	p := c.pod(name, args...)
	hasVolume(s)(&p.Spec)
	p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	return p
}

// testVolumesOfAllKinds tries those that no other test does: projected, image, ephemeral, and a claim that is only
// read.
func testVolumesOfAllKinds(t *testing.T, c *realCluster) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "projected"}, Data: map[string]string{"key": "value\n"}}
	must[*corev1.ConfigMap](t)(c.client.CoreV1().ConfigMaps(c.ns).Create(t.Context(), config, metav1.CreateOptions{}))
	makeClaim(t, c.client, c.ns, newClaim("read", nil))
	template := &corev1.PersistentVolumeClaimTemplate{Spec: newClaim("", nil).Spec}
	template.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1")} // which does not limit it
	c.create(c.mounting("projected", corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}},
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
	}}}))
	c.create(c.mounting("image", corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: c.image}}))
	c.create(c.mounting("ephemeral", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}}))
	reads := c.mounting("reads", volumeOf("read"))
	reads.Spec.Volumes[0].PersistentVolumeClaim.ReadOnly = true
	c.create(reads)
	for _, name := range []string{"projected", "image", "ephemeral", "reads"} {
		c.await(name, ready)
	}
	if got := c.exec("projected", "pod", "cat", "/data/key"); got != "value\n" {
		t.Errorf("the projected file has %q", got)
	}
	if got := c.exec("projected", "pod", "cat", "/data/token"); strings.Count(got, ".") != 2 {
		t.Errorf("the token is %q", got)
	}
	if got := c.exec("image", "pod", "cat", "/data/etc/group"); !strings.Contains(got, "extra:x:1234") {
		t.Errorf("the image's file has %q", got)
	}
	c.exec("ephemeral", "pod", "write", "/data/file", "text")
	if _, stderr, err := c.try("reads", nil, false, "pod", "write", "/data/file", "text"); err == nil || !strings.Contains(stderr, "read-only") {
		t.Errorf("a volume that is only read was written to: %s %v", stderr, err)
	}
	c.remove("ephemeral")
	eventually(t, "the claim goes with its pod", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().PersistentVolumeClaims(c.ns).Get(ctx, "ephemeral-data", metav1.GetOptions{})
		return gone(err)
	})
}

// testOnePodAClaim: pods on two nodes share a claim, unless it is for one pod.
func testOnePodAClaim(t *testing.T, c *realCluster) {
	alone := newClaim("alone", nil)
	alone.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	makeClaim(t, c.client, c.ns, alone)
	makeClaim(t, c.client, c.ns, newClaim("shared", nil))
	for name, node := range map[string]string{"shared-1": "node-1", "shared-2": "node-2"} {
		p := onDrained(c.mounting(name, volumeOf("shared"), "graceful"))
		p.Spec.Affinity, p.Spec.NodeSelector = nil, map[string]string{corev1.LabelHostname: node}
		c.create(p)
	}
	c.await("shared-1", ready)
	c.await("shared-2", ready)
	c.exec("shared-1", "pod", "write", "/data/file", "text")
	if got := c.exec("shared-2", "pod", "cat", "/data/file"); got != "text\n" {
		t.Errorf("the other pod reads %q", got)
	}
	c.create(c.mounting("alone-1", volumeOf("alone"), "graceful"))
	c.await("alone-1", ready)
	c.create(c.mounting("alone-2", volumeOf("alone"), "graceful"))
	c.awaitEvent("alone-2", "FailedScheduling", "ReadWriteOncePod")
	c.remove("alone-1")
	c.await("alone-2", ready)
}

// testRetained: the data of a retained volume are there for the claim that it is given to next, and go with the volume.
func testRetained(t *testing.T, c *realCluster) {
	makeClaim(t, c.client, c.ns, newClaim("first", nil))
	c.create(c.mounting("writes-first", volumeOf("first"), "write", "/data/file", "text"))
	volumes := c.client.CoreV1().PersistentVolumes()
	name := bound(t, c.client, c.ns, "first").Spec.VolumeName
	patch := func(text string) *corev1.PersistentVolume {
		t.Helper()
		return must[*corev1.PersistentVolume](t)(volumes.Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}))
	}
	volume := patch(`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	c.await("writes-first", func(p *corev1.Pod) bool {
		s := c.mainStatus(p)
		return s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
	})
	c.remove("writes-first")
	if err := c.client.CoreV1().PersistentVolumeClaims(c.ns).Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume is released", func(ctx context.Context) (bool, error) {
		v, err := volumes.Get(ctx, name, metav1.GetOptions{})
		return err == nil && v.Status.Phase == corev1.VolumeReleased, err
	})
	patch(`{"spec":{"claimRef":null}}`)
	second := newClaim("second", nil)
	second.Spec.VolumeName = name
	makeClaim(t, c.client, c.ns, second)
	bound(t, c.client, c.ns, "second")
	c.create(c.mounting("reads-second", volumeOf("second"), "graceful"))
	c.await("reads-second", ready)
	if got := c.exec("reads-second", "pod", "cat", "/data/file"); !strings.HasPrefix(got, "text\n") {
		t.Errorf("the next claim has %q", got)
	}
	c.remove("reads-second")
	folder := filepath.Join(c.config.Dir, "nodes", ".volumes", string(volume.UID))
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
	if err := c.client.CoreV1().PersistentVolumeClaims(c.ns).Delete(t.Context(), "second", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := volumes.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	allGone(t, []string{folder})
}

// testForeignVolumes: a claim whose class has another provisioner waits, and one that is bound to another driver's
// volume has its pod wait; Events report why.
func testForeignVolumes(t *testing.T, c *realCluster) {
	for name, mode := range map[string]storagev1.VolumeBindingMode{"foreign-at-once": storagev1.VolumeBindingImmediate, "foreign": storagev1.VolumeBindingWaitForFirstConsumer} {
		must[*storagev1.StorageClass](t)(c.client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "disk.example.com", VolumeBindingMode: &mode,
		}, metav1.CreateOptions{}))
		makeClaim(t, c.client, c.ns, newClaim(name, &name))
		c.create(c.mounting(name, volumeOf(name), "graceful"))
		c.awaitEvent(name, "ExternalProvisioning", "disk.example.com")
	}
	c.awaitEvent("foreign-at-once", "FailedScheduling", "unbound immediate PersistentVolumeClaims")
	c.awaitEvent("foreign", "WaitingForVolume", "its provisioner disk.example.com has created none yet")
	must[*corev1.PersistentVolume](t)(c.client.CoreV1().PersistentVolumes().Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}, Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: "1"}},
		},
	}, metav1.CreateOptions{}))
	claim := newClaim("by-hand", new(""))
	claim.Spec.VolumeName = "by-hand"
	makeClaim(t, c.client, c.ns, claim)
	c.create(c.mounting("by-hand", volumeOf("by-hand"), "graceful"))
	c.awaitEvent("by-hand", "FailedMount", "real nodes refuse the volume of claim by-hand, which is of the driver disk.example.com")
}
