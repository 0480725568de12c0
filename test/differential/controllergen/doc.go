// Package controllergen holds the tests that our controller-gen and the one whose
// place it takes are the same to those who call them: exit codes, streams, files,
// and the markers that they know.
package controllergen
