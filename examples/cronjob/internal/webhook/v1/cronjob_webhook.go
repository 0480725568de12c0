// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the operator's webhooks: what the API server asks before it stores an object, and
// to convert one between versions.
package v1

import (
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// SetupCronJobWebhookWithManager lets the manager's webhook server answer for CronJob objects.
func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error {
	asV2 := admission.WithDefaulter(mgr.GetScheme(), &cronJobV2Defaulter{})
	asV2.Handler = schemaFirst{asV2.Handler}
	mgr.GetWebhookServer().Register("/mutate-batch-tutorial-kubebuilder-io-v2-cronjob", asV2)
	return ctrl.NewWebhookManagedBy(mgr, &batchv1.CronJob{}).
		WithDefaulter(&CronJobDefaulter{}).
		WithValidator(&CronJobValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,matchPolicy=Exact,name=mcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobDefaulter fills in what the author of a CronJob left out.
type CronJobDefaulter struct{}

// Default changes the object before it is validated and stored, on create and on update.
func (d *CronJobDefaulter) Default(_ context.Context, cronJob *batchv1.CronJob) error {
	log.Log.WithName("cronjob-webhook").V(1).Info("Defaulting", "name", cronJob.GetName())

	setDefaults(&cronJob.Spec)
	return nil
}

func setDefaults(spec *batchv1.CronJobSpec) {
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	if spec.Suspend == nil {
		spec.Suspend = new(false)
	}
	if spec.SuccessfulJobsHistoryLimit == nil {
		spec.SuccessfulJobsHistoryLimit = new(int32(3))
	}
	if spec.FailedJobsHistoryLimit == nil {
		spec.FailedJobsHistoryLimit = new(int32(1))
	}
}

// maxNameLength leaves room in the names of Jobs, 63 characters, for the time of their run: "-2524611600".
const maxNameLength = validation.DNS1123LabelMaxLength - 11

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobValidator refuses CronJob objects that cannot be right, for reasons that the schema of
// the API cannot say.
type CronJobValidator struct{}

// ValidateCreate is asked before a new object is stored.
func (v *CronJobValidator) ValidateCreate(_ context.Context, cronJob *batchv1.CronJob) (admission.Warnings, error) {
	return nil, v.refuse(cronJob, nil, v.validate(cronJob))
}

// ValidateUpdate is asked before a changed object is stored. A stricter rule must not hold objects that are stored
// already: an object that is being deleted passes, and so do mistakes that the old object has too.
func (v *CronJobValidator) ValidateUpdate(_ context.Context, old, cronJob *batchv1.CronJob) (admission.Warnings, error) {
	if cronJob.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return nil, v.refuse(cronJob, v.validate(old), v.validate(cronJob))
}

// ValidateDelete is asked before an object is deleted, once the marker above has delete among its verbs.
func (v *CronJobValidator) ValidateDelete(context.Context, *batchv1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

// validate collects all mistakes, so that the author of the object sees them at once. An object that is stored already
// may lack what the defaulting webhook fills in.
func (v *CronJobValidator) validate(cronJob *batchv1.CronJob) field.ErrorList {
	var mistakes field.ErrorList
	if len(cronJob.Name) > maxNameLength {
		mistakes = append(mistakes, field.TooLong(field.NewPath("metadata", "name"), cronJob.Name, maxNameLength))
	}
	if err := schedule.Check(cronJob.Spec.Schedule); err != nil {
		mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "schedule"), cronJob.Spec.Schedule, err.Error()))
	}
	return mistakes
}

// refuse returns an error that lists the mistakes which the object did not have before.
func (v *CronJobValidator) refuse(cronJob *batchv1.CronJob, before, now field.ErrorList) error {
	added := slices.DeleteFunc(now, func(mistake *field.Error) bool {
		return slices.ContainsFunc(before, func(old *field.Error) bool { return reflect.DeepEqual(old, mistake) })
	})
	if len(added) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "batch.tutorial.kubebuilder.io", Kind: "CronJob"}, cronJob.GetName(), added)
}
