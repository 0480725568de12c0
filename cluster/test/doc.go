// Package test holds the tests of the whole program: they run the built
// `slipway-cluster` as its users do, over the process protocol and the Kubernetes
// API, and link nothing of the API server themselves.
//
// The program is built once per run; SLIPWAY_CLUSTER names one that is
// built already.
package test
