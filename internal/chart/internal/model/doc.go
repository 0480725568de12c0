// Package model finds out what a kustomization deploys, what belongs to which of its features,
// and where the names are that follow from its prefix and namespace. It asks kustomize for that:
//
//	m, err := model.Load(ctx, "config/default", files)
//
// The kustomization is built with marks for prefix and namespace, so that everything that follows from them has a mark
// in it: names, references to them and what replacements put together. References that have the built name already,
// which kustomize leaves alone, get their marks afterwards. Then it is built again without each of its features, which
// are its components (in projects of kubebuilder: resources and patches of well-known names). Whatever is missing then
// belongs to the feature. Nothing is guessed from how an object looks, and what users add to the configuration takes
// part.
package model
