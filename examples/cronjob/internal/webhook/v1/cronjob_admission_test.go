// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// newCronJob reads the sample of a CronJob, which the tests create under another name.
func newCronJob(t *testing.T) *batchv1.CronJob {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "samples", "batch_v1_cronjob.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cronJob := &batchv1.CronJob{}
	if err := yaml.Unmarshal(data, cronJob); err != nil {
		t.Fatalf("read the sample: %v", err)
	}
	cronJob.Name, cronJob.GenerateName = "", "test-"
	cronJob.Namespace = "default"
	return cronJob
}

func TestCronJobDefaulting(t *testing.T) {
	k8sClient := controlPlane(t)
	cronJob := newCronJob(t)
	if err := k8sClient.Create(t.Context(), cronJob); err != nil { // the API server calls the webhook
		t.Fatalf("create a CronJob: %v", err)
	}

	// What it has now is checked in cronjob_rules_test.go.

	if err := k8sClient.Delete(t.Context(), cronJob); err != nil {
		t.Fatalf("delete the CronJob: %v", err)
	}
}

func TestCronJobValidation(t *testing.T) {
	k8sClient := controlPlane(t)
	cronJob := newCronJob(t)
	if err := k8sClient.Create(t.Context(), cronJob); err != nil {
		t.Fatalf("a good CronJob is refused on create: %v", err)
	}
	cronJob.Annotations = map[string]string{"example.com/changed": "true"}
	if err := k8sClient.Update(t.Context(), cronJob); err != nil {
		t.Errorf("a good CronJob is refused on update: %v", err)
	}

	// That a bad one is refused is checked in cronjob_rules_test.go.

	if err := k8sClient.Delete(t.Context(), cronJob); err != nil {
		t.Fatalf("delete the CronJob: %v", err)
	}
}

// An update is refused because of the mistakes that it adds, not because of those that are stored already.
func TestCronJobValidationOfUpdates(t *testing.T) {
	cronJob, validator := newCronJob(t), &CronJobValidator{}
	stored, added := field.Required(field.NewPath("spec", "stored"), ""), field.Required(field.NewPath("spec", "added"), "")
	if err := validator.refuse(cronJob, field.ErrorList{stored}, field.ErrorList{stored}); err != nil {
		t.Errorf("a mistake that is stored already is refused: %v", err)
	}
	err := validator.refuse(cronJob, field.ErrorList{stored}, field.ErrorList{stored, added})
	if err == nil || !strings.Contains(err.Error(), "spec.added") || strings.Contains(err.Error(), "spec.stored") {
		t.Errorf("got %v, want a refusal because of spec.added", err)
	}
}

func TestCronJobConversionToV2(t *testing.T) {
	k8sClient := controlPlane(t)
	cronJob := newCronJob(t)
	if err := k8sClient.Create(t.Context(), cronJob); err != nil {
		t.Fatalf("create a CronJob as v1: %v", err)
	}
	converted := &unstructured.Unstructured{}
	converted.SetGroupVersionKind(schema.GroupVersionKind{Group: "batch.tutorial.kubebuilder.io", Version: "v2", Kind: "CronJob"})
	if err := k8sClient.Get(t.Context(), client.ObjectKeyFromObject(cronJob), converted); err != nil {
		t.Errorf("read the CronJob as v2: %v", err)
	}

	// What converted has is checked in cronjob_versions_test.go.

	if err := k8sClient.Delete(t.Context(), cronJob); err != nil {
		t.Fatalf("delete the CronJob: %v", err)
	}
}
