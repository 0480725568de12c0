// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
)

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v2-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v2,matchPolicy=Exact,name=mcronjob-v2.kb.io,admissionReviewVersions=v1

// cronJobV2Defaulter fills in the same as [CronJobCustomDefaulter] in objects that are written as v2. The API server
// asks mutating webhooks before it checks an object against its schema, and cannot convert one with a field of a wrong
// type: with a webhook for v1 alone its author would get an internal error.
type cronJobV2Defaulter struct{}

// Default changes the object before it is validated and stored.
func (*cronJobV2Defaulter) Default(_ context.Context, cronJob *batchv2.CronJob) error {
	var hub batchv1.CronJob
	if err := cronJob.ConvertTo(&hub); err != nil {
		return err
	}
	setDefaults(&hub.Spec)
	return cronJob.ConvertFrom(&hub)
}

// schemaFirst allows objects that have no place in the Go type: the API server refuses them next, with the field that
// has a wrong type.
type schemaFirst struct{ admission.Handler }

// Handle implements [admission.Handler].
func (s schemaFirst) Handle(ctx context.Context, request admission.Request) admission.Response {
	answer := s.Handler.Handle(ctx, request)
	if answer.Result != nil && answer.Result.Code == http.StatusBadRequest {
		return admission.Allowed("the schema refuses it")
	}
	return answer
}
