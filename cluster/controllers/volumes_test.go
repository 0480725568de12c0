package controllers_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/controllers"
)

// TestVolumesAreMadeGrownAndRemoved: a claim's volume is made when it is wanted, is as large as the claim asks for by
// now, and goes after it.
func TestVolumesAreMadeGrownAndRemoved(t *testing.T) {
	client := run(t, "persistentvolume-binder-controller", "simulated-volume-provisioner",
		"persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller")
	ns := namespace(t, client, "volumes")
	claims := client.CoreV1().PersistentVolumeClaims(ns)
	class, err := client.StorageV1().StorageClasses().Get(t.Context(), controllers.DefaultStorageClass, metav1.GetOptions{})
	if err != nil || class.Provisioner != controllers.Provisioner {
		t.Fatalf("the default class: %v, %v", class, err)
	}
	atOnce := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "at-once"}, Provisioner: controllers.Provisioner, AllowVolumeExpansion: ptr.To(true), MountOptions: []string{"ro"},
	}
	if _, err := client.StorageV1().StorageClasses().Create(t.Context(), atOnce, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	picky := claim("picky", "at-once", "1Gi")
	picky.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	annotated := claim("annotated", "", "1Gi") // as manifests of before there was a field have it
	annotated.Spec.StorageClassName, annotated.Annotations = nil, map[string]string{corev1.BetaStorageClassAnnotation: "at-once"}
	refused := []*corev1.PersistentVolumeClaim{picky, claim("restored", "at-once", "1Gi"), claim("cloned", "at-once", "1Gi"), claim("populated", "at-once", "1Gi"), claim("fast", "at-once", "1Gi")}
	refused[1].Spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ptr.To("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: "s"}
	refused[2].Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "data"}
	refused[3].Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: ptr.To("example.com"), Kind: "Backup", Name: "b"}
	refused[4].Spec.VolumeAttributesClassName = ptr.To("fast")
	for _, c := range append(refused, annotated, claim("data", "at-once", "1Gi"), claim("later", class.Name, "1Gi")) {
		if _, err := claims.Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bound := func(name string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			c, err := claims.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			size := c.Status.Capacity[corev1.ResourceStorage]
			return string(c.Status.Phase) + " " + size.String(), nil
		}
	}
	eventually(t, "a claim of a class that binds at once", "Bound 1Gi", bound("data"))
	eventually(t, "a claim that names its class in an annotation", "Bound 1Gi", bound("annotated"))
	for name, why := range map[string]string{
		"picky":     "ProvisioningFailed: a claim with a selector uses only existing volumes; the provisioner creates none",
		"restored":  "ProvisioningFailed: failed to provision volume with StorageClass \"at-once\": CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported",
		"cloned":    "ProvisioningFailed: failed to provision volume with StorageClass \"at-once\": CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported",
		"populated": "Provisioning: Assuming an external populator will provision the volume",
		"fast":      "ProvisioningFailed: failed to provision volume with StorageClass \"at-once\": CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported",
	} {
		eventually(t, "why a claim gets no volume: "+name, why, func(ctx context.Context) (string, error) {
			events, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
			if err != nil {
				return "", err
			}
			for _, e := range events.Items {
				if e.Source.Component == "simulated-volume-provisioner" {
					return e.Reason + ": " + e.Message, nil
				}
			}
			return "", nil
		})
	}
	for _, name := range []string{"later", "picky", "restored", "cloned", "populated", "fast"} {
		if got, err := bound(name)(t.Context()); got != "Pending 0" || err != nil {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	data, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volume, err := client.CoreV1().PersistentVolumes().Get(t.Context(), data.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if volume.Name != "pvc-"+string(data.UID) || volume.Spec.CSI.Driver != controllers.Provisioner || volume.Spec.MountOptions[0] != "ro" ||
		volume.Spec.AccessModes[0] != corev1.ReadWriteMany || volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("the volume: %+v", volume)
	}

	// The scheduler says which node the first pod gets: it does not run here.
	patch := []byte(`{"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"node-1"}}}`)
	if _, err := claims.Patch(t.Context(), "later", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a claim whose pod has a node", "Bound 1Gi", bound("later"))
	patch = []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	if _, err := claims.Patch(t.Context(), "data", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a claim that asks for more", "Bound 3Gi", bound("data"))
	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume of a claim that has gone is gone", true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, volume.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil // others pass
	})
}
