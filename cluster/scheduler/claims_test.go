package scheduler

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// TestForeignProvisioner: a claim that waits for another provisioner is named, with what may help; no other one is.
func TestForeignProvisioner(t *testing.T) {
	classes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, provisioner := range map[string]string{"ours": preflight.VolumeDriver, "disk": "disk.example.com"} {
		if err := classes.Add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner}); err != nil {
			t.Fatal(err)
		}
	}
	pod := &corev1.Pod{}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
	}
	for _, c := range []struct {
		class *string
		phase corev1.PersistentVolumeClaimPhase
		want  string
		older string // the class in the annotation of before there was a field
	}{
		{nil, corev1.ClaimPending, "claim data waits for a volume of the class disk: its provisioner disk.example.com", "disk"},
		{new("disk"), corev1.ClaimPending, "claim data waits for a volume of the class disk: its provisioner disk.example.com", ""},
		{new("disk"), corev1.ClaimBound, "", ""},
		{new("ours"), corev1.ClaimPending, "", ""},
		{new("gone"), corev1.ClaimPending, "", ""},
		{nil, corev1.ClaimPending, "", ""},
	} {
		b := binder{classes: storagelisters.NewStorageClassLister(classes), claims: func(_, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
			if name == "" {
				return nil, nil
			}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if c.older != "" {
				claim.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: c.older}
			}
			claim.Spec.StorageClassName, claim.Status.Phase = c.class, c.phase
			return claim, nil
		}}
		if got := b.foreign(pod); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
