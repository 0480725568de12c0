// Package setupenvtest holds the differential tests of `slipway setup-envtest` against the tool whose place it takes:
// the same command lines must leave the same folders and give the same output and exit codes, as far as that tool works
// without a network.
package setupenvtest
