// Package clients has the generators whose code k8s.io/code-generator writes:
// "applyconfiguration", as controller-gen has it, and "clients", which writes
// typed clientsets, informers and listers, and apply configurations for them.
//
// They say what is to be generated and check that it will compile; the writing is
// done by the program slipway-codegen, see package codegen. They ask for it only when a
// marker does: a project without them pays nothing.
package clients
