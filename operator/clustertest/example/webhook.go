package example

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// DefaultImage is the image of a Task that names none.
const DefaultImage = "busybox:1.37"

// +kubebuilder:webhook:path=/mutate-example-slipway-dev-v1-task,mutating=true,failurePolicy=fail,sideEffects=None,groups=example.slipway.dev,resources=tasks,verbs=create;update,versions=v1,name=mtask.example.slipway.dev,admissionReviewVersions=v1

type defaulter struct{}

// Default chooses the image.
func (defaulter) Default(_ context.Context, t *Task) error {
	if t.Spec.Image == "" {
		t.Spec.Image = DefaultImage
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-example-slipway-dev-v1-task,mutating=false,failurePolicy=fail,sideEffects=None,groups=example.slipway.dev,resources=tasks,verbs=create;update,versions=v1,name=vtask.example.slipway.dev,admissionReviewVersions=v1

type validator struct{}

// ValidateCreate wants a version.
func (validator) ValidateCreate(_ context.Context, t *Task) (admission.Warnings, error) {
	return nil, validate(t)
}

// ValidateUpdate wants a version.
func (validator) ValidateUpdate(_ context.Context, _, t *Task) (admission.Warnings, error) {
	return nil, validate(t)
}

// ValidateDelete allows it.
func (validator) ValidateDelete(context.Context, *Task) (admission.Warnings, error) { return nil, nil }

func validate(t *Task) error {
	name := t.Spec.Image[strings.LastIndex(t.Spec.Image, "/")+1:]
	if _, version, _ := strings.Cut(name, ":"); version == "" || version == "latest" {
		return fmt.Errorf("spec.image: %q has no version", t.Spec.Image)
	}
	return nil
}
