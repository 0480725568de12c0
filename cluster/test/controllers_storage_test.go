package test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func newClaim(name string, class *string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			StorageClassName: class,
		},
	}
}

func makeClaim(t *testing.T, c clients, ns string, claim *corev1.PersistentVolumeClaim) {
	t.Helper()
	must[*corev1.PersistentVolumeClaim](t)(c.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), claim, metav1.CreateOptions{}))
}

// bound waits until a claim is bound and returns it.
func bound(t *testing.T, c clients, ns, name string) *corev1.PersistentVolumeClaim {
	t.Helper()
	var claim *corev1.PersistentVolumeClaim
	eventually(t, "claim "+name+" is bound", func(ctx context.Context) (bool, error) {
		var err error
		claim, err = c.CoreV1().PersistentVolumeClaims(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimBound, ignoreNotFound(err)
	})
	return claim
}

// makePodWith makes the pod "user" with a volume.
func makePodWith(t *testing.T, c clients, ns string, source corev1.VolumeSource) {
	t.Helper()
	spec := podTemplate(corev1.RestartPolicyAlways).Spec
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
	must[*corev1.Pod](t)(c.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "user"}, Spec: spec}, metav1.CreateOptions{}))
}

func volumeOf(claim string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
}

func makeImmediateClass(t *testing.T, c clients, name string) {
	t.Helper()
	must[*storagev1.StorageClass](t)(c.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name},
		Provisioner: "volume.slipway.dev", AllowVolumeExpansion: ptr.To(true),
	}, metav1.CreateOptions{}))
}

// claimWaitsForPod shows the default class, which is as kind's.
func claimWaitsForPod(t *testing.T, c clients, ns string) {
	makeClaim(t, c, ns, newClaim("data", nil))
	eventually(t, "the claim says what it waits for", func(ctx context.Context) (bool, error) {
		events, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=WaitForFirstConsumer"})
		return err == nil && len(events.Items) > 0, err
	})
	makePodWith(t, c, ns, volumeOf("data"))
	runs(t, c, ns, "user")
	claim := bound(t, c, ns, "data")
	volume := must[*corev1.PersistentVolume](t)(c.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{}))
	if volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete || volume.Spec.StorageClassName != "standard" {
		t.Errorf("volume %+v", volume.Spec)
	}
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "user", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume goes with its claim", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return gone(err)
	})
}

func claimBoundAtOnce(t *testing.T, c clients, ns string) {
	makeImmediateClass(t, c, ns)
	makeClaim(t, c, ns, newClaim("data", &ns))
	bound(t, c, ns, "data")
}

func claimGrows(t *testing.T, c clients, ns string) {
	makeImmediateClass(t, c, ns)
	makeClaim(t, c, ns, newClaim("data", &ns))
	name := bound(t, c, ns, "data").Spec.VolumeName
	claims, wanted := c.CoreV1().PersistentVolumeClaims(ns), resource.MustParse("3Gi")
	patch := []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	must[*corev1.PersistentVolumeClaim](t)(claims.Patch(t.Context(), "data", types.MergePatchType, patch, metav1.PatchOptions{}))
	eventually(t, "the claim has its new size", func(ctx context.Context) (bool, error) {
		claim, err := claims.Get(ctx, "data", metav1.GetOptions{})
		return err == nil && claim.Status.Capacity.Storage().Equal(wanted), err
	})
	volume := must[*corev1.PersistentVolume](t)(c.CoreV1().PersistentVolumes().Get(t.Context(), name, metav1.GetOptions{}))
	if !volume.Spec.Capacity.Storage().Equal(wanted) {
		t.Errorf("the volume has %v", volume.Spec.Capacity)
	}
}

func claimTakesExistingVolume(t *testing.T, c clients, ns string) {
	must[*corev1.PersistentVolume](t)(c.CoreV1().PersistentVolumes().Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:              ns,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/data"}},
		},
	}, metav1.CreateOptions{}))
	makeClaim(t, c, ns, newClaim("data", &ns))
	if claim := bound(t, c, ns, "data"); claim.Spec.VolumeName != ns {
		t.Errorf("bound to %s", claim.Spec.VolumeName)
	}
	if err := c.CoreV1().PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume is kept and released", func(ctx context.Context) (bool, error) {
		volume, err := c.CoreV1().PersistentVolumes().Get(ctx, ns, metav1.GetOptions{})
		return err == nil && volume.Status.Phase == corev1.VolumeReleased, err
	})
}

func claimInUseStays(t *testing.T, c clients, ns string) {
	claims := c.CoreV1().PersistentVolumeClaims(ns)
	makeClaim(t, c, ns, newClaim("data", nil))
	makePodWith(t, c, ns, volumeOf("data"))
	runs(t, c, ns, "user")
	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if claim := must[*corev1.PersistentVolumeClaim](t)(claims.Get(t.Context(), "data", metav1.GetOptions{})); claim.DeletionTimestamp == nil {
		t.Error("the claim is not being deleted")
	}
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "user", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim is gone", func(ctx context.Context) (bool, error) {
		_, err := claims.Get(ctx, "data", metav1.GetOptions{})
		return gone(err)
	})
}

func ephemeralVolume(t *testing.T, c clients, ns string) {
	template := &corev1.PersistentVolumeClaimTemplate{Spec: newClaim("", nil).Spec}
	makePodWith(t, c, ns, corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}})
	runs(t, c, ns, "user")
	bound(t, c, ns, "user-data")
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "user", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim goes with the pod", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().PersistentVolumeClaims(ns).Get(ctx, "user-data", metav1.GetOptions{})
		return gone(err)
	})
}
