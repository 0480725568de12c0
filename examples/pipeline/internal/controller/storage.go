// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// nominal is the size of volume and claim. Each must have one, and NFS heeds none.
const nominal = "1Gi"

// storageName is the name of both the volume and the claim.
func storageName(pipeline *distriinferv1beta1.Pipeline) string { return pipeline.Name + "-models" }

// newVolume is the PersistentVolume with the models. It is in no namespace, and so can only have an owner that is in
// none.
func newVolume(pipeline *distriinferv1beta1.Pipeline) *part {
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: storageName(pipeline)}}
	return &part{Object: volume, describe: func() { describeVolume(pipeline, volume) }, phase: func() distriinferv1beta1.Phase {
		return phaseOf(volume.Status.Phase)
	}}
}

// describeVolume reserves a new volume for the claim. The volume of a claim that was deleted is set free for its
// successor, which Kubernetes leaves to people, since the data may be another one's.
func describeVolume(pipeline *distriinferv1beta1.Pipeline, volume *corev1.PersistentVolume) {
	spec := &volume.Spec
	if volume.ResourceVersion == "" {
		share := pipeline.Spec.ModelStorage.CSIParameter
		spec.NFS = &corev1.NFSVolumeSource{Server: share.Server, Path: share.Share}
		spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(nominal)}
		spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	if volume.ResourceVersion == "" || volume.Status.Phase == corev1.VolumeReleased {
		spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: pipeline.Spec.Namespace, Name: storageName(pipeline)}
	}
}

// newClaim is the PersistentVolumeClaim through which the steps' pods reach the volume. It names its volume, and the
// empty class: without it, the cluster's default class would make another volume.
func newClaim(pipeline *distriinferv1beta1.Pipeline) *part {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pipeline.Spec.Namespace, Name: storageName(pipeline)}}
	describe := func() {
		if claim.ResourceVersion != "" {
			return // a claim's spec is fixed
		}
		claim.Spec.StorageClassName = new("")
		claim.Spec.VolumeName = storageName(pipeline)
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(nominal)}
	}
	return &part{Object: claim, describe: describe, phase: func() distriinferv1beta1.Phase { return phaseOf(claim.Status.Phase) }}
}

// phaseOf is the phase that Kubernetes has given an object; one that is new has none yet.
func phaseOf[P ~string](phase P) distriinferv1beta1.Phase {
	return cmp.Or(distriinferv1beta1.Phase(phase), distriinferv1beta1.PhaseCreating)
}
