// Package kustomization makes objects of a folder with a kustomization:
//
//	objects, err := kustomization.Kustomization{Folder: "config/crd"}.Build(ctx)
//
// It is kustomize's own build, within the limits of package kustomizefs, and fetches nothing unless its context is one
// of [kustomizefs.Online]. It touches no cluster and writes nothing: package ship takes the objects to one. A refusal
// is a [report.Error] with the file and the innermost reason, which kustomize has at the end of a long account;
// [Unbuilt] and [TooMuch] make it for those who run kustomize themselves.
//
// # What kustomize does not know
//
// Roles that are generated from markers stay in the namespaces that the markers name, and are bound. Names of Services
// and Certificates that a base put together follow an overlay. [Kustomization.Tell] is told of both; the verb kustomize
// does neither.
//
// # As if files were others
//
// What a deployment chooses, and what a command is about to write, is built without writing it. Files are
// read through one view of the project:
//
//	k := kustomization.Kustomization{Folder: dir, Image: "example.com/op:v1", Changed: texts}
//	objects, err := k.Build(ctx)
//
// [BuildEdited] has every file edited when it is read: that is how charts find what their values replace.
package kustomization
