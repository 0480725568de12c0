// Package kubernetes is the inside of the program slipway-codegen: it answers a
// [wire.Request] with what the generators of k8s.io/code-generator write.
//
// Upstream each generator is a program (k8s.io/code-generator/cmd/*-gen) that
// parses flags, loads packages and writes files. Here the flags come from the
// request, the packages are loaded once for all runs, and files are kept in
// memory. The process is theirs alone: they set its name and may end it.
package kubernetes
