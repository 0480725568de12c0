// Copyright 2026 The app authors
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the operator's webhooks: what the API server asks before it stores an object, and
// to convert one between versions.
package v1beta1

import (
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ingressv1beta1 "example.com/app/api/v1beta1"
)

// SetupAppWebhookWithManager lets the manager's webhook server answer for App objects.
func SetupAppWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &ingressv1beta1.App{}).
		WithDefaulter(&AppDefaulter{}).
		WithValidator(&AppValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-ingress-baiding-tech-v1beta1-app,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=ingress.baiding.tech,resources=apps,verbs=create;update,versions=v1beta1,name=mapp-v1beta1.kb.io,admissionReviewVersions=v1

// AppDefaulter fills in what the author of a App left out.
type AppDefaulter struct{}

// Default changes the object before it is validated and stored, on create and on update. Called again with its own
// result, which happens at each update, it changes nothing.
func (d *AppDefaulter) Default(_ context.Context, app *ingressv1beta1.App) error {
	if app.Spec.EnableIngress == nil {
		app.Spec.EnableIngress = new(app.Spec.EnableService)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-ingress-baiding-tech-v1beta1-app,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=ingress.baiding.tech,resources=apps,verbs=create;update,versions=v1beta1,name=vapp-v1beta1.kb.io,admissionReviewVersions=v1

// AppValidator refuses App objects that cannot be right, for reasons that the schema of
// the API cannot say.
type AppValidator struct{}

// ValidateCreate is asked before a new object is stored.
func (v *AppValidator) ValidateCreate(_ context.Context, app *ingressv1beta1.App) (admission.Warnings, error) {
	return nil, v.refuse(app, nil, v.validate(app))
}

// ValidateUpdate is asked before a changed object is stored. A stricter rule must not hold objects that are stored
// already: an object that is being deleted passes, and so do mistakes that the old object has too.
func (v *AppValidator) ValidateUpdate(_ context.Context, old, app *ingressv1beta1.App) (admission.Warnings, error) {
	if app.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return nil, v.refuse(app, v.validate(old), v.validate(app))
}

// ValidateDelete is asked before an object is deleted, once the marker above has delete among its verbs.
func (v *AppValidator) ValidateDelete(context.Context, *ingressv1beta1.App) (admission.Warnings, error) {
	return nil, nil
}

// validate collects all mistakes, so that the author of the object sees them at once. An object that is stored already
// may lack what the defaulting webhook fills in.
func (v *AppValidator) validate(app *ingressv1beta1.App) field.ErrorList {
	var mistakes field.ErrorList

	if ingress := app.Spec.EnableIngress; ingress != nil && *ingress && !app.Spec.EnableService {
		reason := "an Ingress needs the Service that it leads to: set enable_service, or enable_ingress to false"
		mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "enable_ingress"), true, reason))
	}
	return mistakes
}

// refuse returns an error that lists the mistakes which the object did not have before.
func (v *AppValidator) refuse(app *ingressv1beta1.App, before, now field.ErrorList) error {
	added := slices.DeleteFunc(now, func(mistake *field.Error) bool {
		return slices.ContainsFunc(before, func(old *field.Error) bool { return reflect.DeepEqual(old, mistake) })
	})
	if len(added) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "ingress.baiding.tech", Kind: "App"}, app.GetName(), added)
}
