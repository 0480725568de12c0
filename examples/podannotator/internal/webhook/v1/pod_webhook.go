// Copyright 2026 The podannotator authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the operator's webhook: what the API server asks before it stores a Pod.
package v1

import (
	"context"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// CreatedBy is the annotation with the name of the user who created a Pod.
const CreatedBy = "podannotator.tutorial.kubebuilder.io/created-by"

// Path is where the webhook server answers. The marker below has the same.
const Path = "/mutate-v1-pod"

// SetupPodWebhookWithManager lets the manager's webhook server answer for Pod objects.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).
		WithDefaulter(&PodDefaulter{}).
		WithDefaulterCustomPath(Path).
		Complete()
}

// While the operator is down, failurePolicy=fail refuses what it would have been asked about: an annotation that may be
// forged is worth nothing. So that this blocks as little as possible, the namespace selector leaves out the control
// plane and the operator's own namespace, without which it could not come back, and the condition all updates that
// leave the annotation as it is: those of controllers and kubelets. The subresource status is listed since annotations
// can be changed through it.

// +kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups="",resources=pods;pods/status,verbs=create;update,versions=v1,name=mpod-v1.kb.io,admissionReviewVersions=v1,reinvocationPolicy=IfNeeded,patch=`{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","podannotator-system"]}]},"matchConditions":[{"name":"sets-or-changes-it","expression":"request.operation == 'CREATE' || object.metadata.?annotations[?'podannotator.tutorial.kubebuilder.io/created-by'] != oldObject.metadata.?annotations[?'podannotator.tutorial.kubebuilder.io/created-by']"}]}`

// PodDefaulter notes on each Pod who created it. No controller could: only admission knows the user.
type PodDefaulter struct{}

// Default sets the annotation of a new Pod, whatever its author has written there, and keeps that of a stored one.
// Called again with its own result, which the API server may do, it changes nothing.
func (d *PodDefaulter) Default(ctx context.Context, pod *corev1.Pod) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return fmt.Errorf("find the request: %w", err)
	}
	user, err := creator(req)
	if err != nil {
		return err
	}
	if user == "" {
		delete(pod.Annotations, CreatedBy)
		return nil
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, CreatedBy, user)
	return nil
}

// creator is the user who created the Pod of a request; empty for one that was created without the webhook.
func creator(req admission.Request) (string, error) {
	if req.Operation == admissionv1.Create {
		return req.UserInfo.Username, nil
	}
	var stored metav1.PartialObjectMetadata
	if err := json.Unmarshal(req.OldObject.Raw, &stored); err != nil {
		return "", fmt.Errorf("read the stored Pod: %w", err)
	}
	return stored.Annotations[CreatedBy], nil
}
