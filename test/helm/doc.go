// Package helm holds tests of the charts that `slipway helm` makes, with Helm itself.
//
// They are in a module of their own, because Helm brings more than two hundred others. For each
// choice of a project's features, a chart's default output must be what kustomize builds, but for the differences
// that normalized (normal_test.go) takes away; charts must be free of findings, hold whatever a user writes into
// config/, and be installed, upgraded and uninstalled on a real API server.
//
//	go test -C test/helm ./...
//
// The tests build slipway from this repository, or use the program that SLIPWAY names.
package helm
