// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/diff"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// FuzzCronJobConversion converts random objects from v1, the hub, to v2 and back: nothing
// may be lost. A test run tries a hundred; go test -fuzz=FuzzCronJobConversion goes on with others.
func FuzzCronJobConversion(f *testing.F) {
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) {
		// Merge functions of your own with those of metafuzzer, for types of which not every value occurs:
		// func(value *Type, c randfill.Continue).
		random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), codecs)
		for range 100 {
			before, spoke, after := &batchv1.CronJob{}, &CronJob{}, &batchv1.CronJob{}
			random.Fill(before)
			if err := spoke.ConvertFrom(before.DeepCopy()); err != nil {
				t.Fatalf("convert to v2: %v", err)
			}
			if err := spoke.ConvertTo(after); err != nil {
				t.Fatalf("convert back to v1: %v", err)
			}
			if !equality.Semantic.DeepEqual(before, after) {
				t.Fatalf("v1 → v2 → v1 changes the object:\n%s", diff.Diff(before, after))
			}
		}
	})
}
