// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	distriinferv1beta1 "example.com/pipeline/api/v1beta1"
)

// observation is what one pass finds.
type observation struct {
	parts       []*part
	noNamespace bool
	err         error // why parts are not up to date
}

// report writes the status, if it differs.
func (r *PipelineReconciler) report(ctx context.Context, pipeline *distriinferv1beta1.Pipeline, seen observation) error {
	before := pipeline.DeepCopy()
	status := &pipeline.Status
	status.DetailPhase = detail(pipeline, seen.parts)
	status.Ready = fmt.Sprintf("%d/%d", running(status.DetailPhase.StepsPhase), len(pipeline.Spec.Steps))
	c := available(pipeline, seen)
	meta.SetStatusCondition(&status.Conditions, c)
	status.Phase = sum(c)
	if equality.Semantic.DeepEqual(before.Status, pipeline.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, pipeline, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// detail is the phase of each part, in the order of newParts.
func detail(pipeline *distriinferv1beta1.Pipeline, parts []*part) distriinferv1beta1.DetailPhase {
	d := distriinferv1beta1.DetailPhase{PVPhase: partPhase(parts[0]), PVCPhase: partPhase(parts[1])}
	for i := range pipeline.Spec.Steps {
		d.StepsPhase = append(d.StepsPhase, distriinferv1beta1.StepPhase{
			Model:           pipeline.Spec.Steps[i].Model,
			DeploymentPhase: partPhase(parts[2+2*i]),
			ServicePhase:    partPhase(parts[3+2*i]),
		})
	}
	return d
}

func partPhase(p *part) distriinferv1beta1.Phase {
	if p.taken {
		return distriinferv1beta1.PhaseNameTaken
	}
	return p.phase()
}

// running counts the steps that run.
func running(steps []distriinferv1beta1.StepPhase) (n int) {
	for _, s := range steps {
		if s.DeploymentPhase == distriinferv1beta1.PhaseRunning && s.ServicePhase == distriinferv1beta1.PhaseRunning {
			n++
		}
	}
	return n
}

// available is the condition of that name.
func available(pipeline *distriinferv1beta1.Pipeline, seen observation) metav1.Condition {
	c := metav1.Condition{Type: distriinferv1beta1.ConditionAvailable, Status: metav1.ConditionFalse, ObservedGeneration: pipeline.Generation}
	taken, failed := find(seen.parts, distriinferv1beta1.PhaseNameTaken), find(seen.parts, distriinferv1beta1.PhaseFailed)
	status := pipeline.Status
	switch {
	case seen.noNamespace:
		c.Reason = distriinferv1beta1.ReasonNamespaceMissing
		c.Message = fmt.Sprintf("There is no namespace %s. Create it, or make a Pipeline with another one in spec.namespace.", pipeline.Spec.Namespace)
	case len(taken) > 0:
		c.Reason = distriinferv1beta1.ReasonNameTaken
		c.Message = fmt.Sprintf("Something else has the names of %s. Delete it, or use other names.", strings.Join(taken, ", "))
	case seen.err != nil:
		c.Reason, c.Message = distriinferv1beta1.ReasonFailed, short(seen.err)
	case len(failed) > 0:
		c.Reason, c.Message = distriinferv1beta1.ReasonFailed, fmt.Sprintf("These do not start: %s.", strings.Join(failed, ", "))
	case status.DetailPhase.PVCPhase != distriinferv1beta1.Phase(corev1.ClaimBound) || running(status.DetailPhase.StepsPhase) < len(pipeline.Spec.Steps):
		c.Reason, c.Message = distriinferv1beta1.ReasonCreating, fmt.Sprintf("%s steps run.", status.Ready)
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, distriinferv1beta1.ReasonReady, "All steps run."
	}
	return c
}

// find lists the parts in a phase.
func find(parts []*part, phase distriinferv1beta1.Phase) (names []string) {
	for _, p := range parts {
		if partPhase(p) == phase {
			names = append(names, kindOf(p.Object)+" "+p.GetName())
		}
	}
	return names
}

// kindOf is the kind of a part. Objects from a typed client do not say it themselves.
func kindOf(o client.Object) string {
	switch o.(type) {
	case *corev1.PersistentVolume:
		return "PersistentVolume"
	case *corev1.PersistentVolumeClaim:
		return "PersistentVolumeClaim"
	case *appsv1.Deployment:
		return "Deployment"
	}
	return "Service"
}

// sum is the condition in one word.
func sum(c metav1.Condition) distriinferv1beta1.Phase {
	switch c.Reason {
	case distriinferv1beta1.ReasonReady:
		return distriinferv1beta1.PhaseRunning
	case distriinferv1beta1.ReasonCreating:
		return distriinferv1beta1.PhaseCreating
	}
	return distriinferv1beta1.PhaseFailed
}

// maxMessage is how long a message may be. The API server quotes what users have written, however long it is, and
// refuses an event whose note has more than 1 KB.
const maxMessage = 1000

// short is the text of an error, cut where it would not be taken.
func short(err error) string {
	text := err.Error()
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
