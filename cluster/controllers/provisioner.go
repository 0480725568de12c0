package controllers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	storagevolume "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

const (
	// Provisioner is the provisioner of storage classes whose volumes are the cluster's own,
	// and the CSI driver that those volumes name.
	Provisioner = preflight.VolumeDriver
	// DefaultStorageClass is the class of claims that name none.
	DefaultStorageClass = "standard"

	defaultClassAnnotation  = "storageclass.kubernetes.io/is-default-class"
	provisionerAnnotation   = "volume.kubernetes.io/storage-provisioner"
	provisionedByAnnotation = "pv.kubernetes.io/provisioned-by"
	selectedNodeAnnotation  = "volume.kubernetes.io/selected-node"
)

// VolumeData is what pods on real nodes have written to volumes, each of which has a folder named by the UID of its
// PersistentVolume.
type VolumeData interface {
	// List names the volumes that have a folder, and what is left of interrupted removals.
	List() ([]string, error)
	// Remove removes a volume's folder, if there is one. A volume with that UID may come back meanwhile: what its pods
	// write stays.
	Remove(uid string) error
}

// provisioner makes the volumes of storage classes with [Provisioner], grows them with their claims, and removes them
// after their claims. It stands where a real cluster has a CSI driver with its sidecars. Its volumes are as large as
// wanted, offer all access modes, and are reached from every node, as network volumes are.
type provisioner struct {
	client  kubernetes.Interface
	events  record.EventRecorder
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
}

func newProvisioner(ctx context.Context, d *Deps) (Loop, error) {
	const name = "simulated-volume-provisioner"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	if err := makeDefaultClass(ctx, client); err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	p := &provisioner{
		client: client, events: recorder(ctx, client, name),
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(),
		classes: d.Informers.Storage().V1().StorageClasses().Lister(),
	}
	claims, volumes := newQueue(name, p.serveClaim), newQueue(name, p.reclaim)
	if err := claims.watch(core.PersistentVolumeClaims().Informer(), func(any) bool { return true }); err != nil {
		return nil, err
	}
	if err := volumes.watch(core.PersistentVolumes().Informer(), reclaimable); err != nil {
		return nil, err
	}
	return together(claims.loop(workers), volumes.loop(workers)), nil
}

// volumeCleaner removes the data that pods on real nodes have written to volumes. They go with the PersistentVolume, by
// whichever way that goes: a UID never comes back but by a reset, after which the volume is empty.
type volumeCleaner struct {
	volumes corelisters.PersistentVolumeLister
	data    VolumeData
}

func newVolumeCleaner(d *Deps) (Loop, error) {
	volumes := d.Informers.Core().V1().PersistentVolumes()
	c := &volumeCleaner{volumes: volumes.Lister(), data: d.Volumes}
	return c.follow(volumes.Informer())
}

// follow removes the data of volumes that go, and of those that an earlier run has left. The latter are listed here,
// before any node can make new ones.
func (c *volumeCleaner) follow(volumes cache.SharedIndexInformer) (Loop, error) {
	left, err := c.data.List()
	if err != nil {
		return nil, err
	}
	q := newQueue("volume-cleaner", c.clean)
	err = q.handleWith(volumes, cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		if volume, ok := obj.(*corev1.PersistentVolume); ok && hasData(volume) {
			q.keys.Add(string(volume.UID))
		}
	}})
	for _, uid := range left {
		q.keys.Add(uid)
	}
	return q.loop(workers), err
}

// hasData says whether real nodes keep data of a volume.
func hasData(volume *corev1.PersistentVolume) bool {
	return volume.Spec.CSI != nil && volume.Spec.CSI.Driver == Provisioner
}

// clean removes the data of a volume that is not there.
func (c *volumeCleaner) clean(_ context.Context, uid string) error {
	all, err := c.volumes.List(labels.Everything())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(v *corev1.PersistentVolume) bool { return string(v.UID) == uid }) {
		return nil
	}
	return c.data.Remove(uid)
}

// makeDefaultClass makes the class that kind's users know, unless there is one of its
// name: volumes are made for the first pod that uses a claim, and go with the claim.
func makeDefaultClass(ctx context.Context, client kubernetes.Interface) error {
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: DefaultStorageClass, Annotations: map[string]string{defaultClassAnnotation: "true"}},
		Provisioner:          Provisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the storage class %s: %w", DefaultStorageClass, err)
	}
	return nil
}

// serveClaim brings the claim with that key what it lacks: a volume, or a larger one.
func (p *provisioner) serveClaim(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	claim, err := p.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil || claim.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	if claim.Spec.VolumeName != "" {
		return p.grow(ctx, claim)
	}
	// The volume binder sets the annotation once it wants a volume.
	if claim.Annotations[provisionerAnnotation] != Provisioner {
		return nil
	}
	class, err := p.classes.Get(storagevolume.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return ignoreNotFound(err)
	}
	return p.provision(ctx, claim, class)
}

func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	if class.Provisioner != Provisioner || waitsForNode(claim, class) {
		return nil
	}
	if kind, reason, message := withoutVolume(claim); reason != "" {
		p.events.Event(claim, kind, reason, message)
		return nil
	}
	volume := volumeFor(claim, class)
	if _, err := p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	p.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s", volume.Name)
	return nil
}

// withoutVolume is the Event of a claim that gets no volume, with an empty reason for others. It is that of Kubernetes'
// provisioner beside a CSI driver that neither restores snapshots nor clones volumes nor knows volume attributes
// (kubernetes-csi/external-provisioner).
func withoutVolume(claim *corev1.PersistentVolumeClaim) (kind, reason, message string) {
	lacks := ""
	source, class := sourceOf(claim), ptr.Deref(claim.Spec.VolumeAttributesClassName, "")
	switch {
	case source == "VolumeSnapshot":
		lacks = "snapshot restore: controller CREATE_DELETE_SNAPSHOT"
	case source == "PersistentVolumeClaim":
		lacks = "clone operations: controller CLONE_VOLUME"
	case source != "":
		return corev1.EventTypeNormal, "Provisioning", "Assuming an external populator will provision the volume"
	case class != "":
		lacks = "VolumeAttributesClass: controller MODIFY_VOLUME"
	case claim.Spec.Selector != nil:
		return corev1.EventTypeWarning, "ProvisioningFailed", "a claim with a selector uses only existing volumes; the provisioner creates none"
	default:
		return "", "", ""
	}
	return corev1.EventTypeWarning, "ProvisioningFailed", fmt.Sprintf("failed to provision volume with StorageClass %q: CSI driver does not support %s capability is not reported",
		storagevolume.GetPersistentVolumeClaimClass(claim), lacks)
}

// sourceOf is the kind of what a claim's volume is to be filled with; empty for an empty volume. The API server makes a
// dataSource a dataSourceRef as well.
func sourceOf(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim.Spec.DataSourceRef != nil:
		return claim.Spec.DataSourceRef.Kind
	case claim.Spec.DataSource != nil:
		return claim.Spec.DataSource.Kind
	}
	return ""
}

// waitsForNode says that the scheduler has not yet chosen a node for the claim's first pod.
func waitsForNode(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	return ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer &&
		claim.Annotations[selectedNodeAnnotation] == ""
}

// volumeFor is the volume that a CSI provisioner would make.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedByAnnotation: Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: slices.Clone(claim.Spec.AccessModes),
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  slices.Clone(class.MountOptions),
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Provisioner, VolumeHandle: name},
			},
		},
	}
}

// grow gives a bound claim the size that it asks for by now. The API server has
// checked that the class allows it.
func (p *provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if err != nil || claim.Status.Phase != corev1.ClaimBound || volume.Annotations[provisionedByAnnotation] != Provisioner {
		return ignoreNotFound(err)
	}
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if wanted.Cmp(volume.Spec.Capacity[corev1.ResourceStorage]) > 0 {
		larger := volume.DeepCopy()
		larger.Spec.Capacity[corev1.ResourceStorage] = wanted
		if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, larger, metav1.UpdateOptions{}); err != nil {
			return ignoreNotFound(err)
		}
	}
	if wanted.Cmp(claim.Status.Capacity[corev1.ResourceStorage]) <= 0 {
		return nil
	}
	larger := claim.DeepCopy()
	if larger.Status.Capacity == nil {
		larger.Status.Capacity = corev1.ResourceList{}
	}
	larger.Status.Capacity[corev1.ResourceStorage] = wanted
	if _, err := p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, larger, metav1.UpdateOptions{}); err != nil {
		return ignoreNotFound(err)
	}
	p.events.Event(claim, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}

// reclaimable says whether a volume of ours is left over from a claim.
func reclaimable(obj any) bool {
	volume, ok := obj.(*corev1.PersistentVolume)
	return ok && volume.DeletionTimestamp == nil && volume.Status.Phase == corev1.VolumeReleased &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete &&
		volume.Annotations[provisionedByAnnotation] == Provisioner
}

func (p *provisioner) reclaim(ctx context.Context, name string) error {
	volume, err := p.volumes.Get(name)
	if err != nil || !reclaimable(volume) {
		return ignoreNotFound(err)
	}
	// Its policy may have become another one since.
	same := metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion}
	return ignoreNotFound(p.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: &same}))
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
