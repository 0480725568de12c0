// Package example is a small operator, and shows how its tests use clustertest.
//
// A Task becomes a Job of the same name, which it owns, and its status says when the Job is done. Webhooks choose an
// image where there is none, and refuse images without a version. The tests show what does not happen with an API
// server alone: the Job completes, and goes with its Task.
//
// +kubebuilder:object:generate=true
// +groupName=example.slipway.dev
// +versionName=v1
package example
