// Package model finds what a kustomization deploys, which feature each part belongs to, and which names follow from the
// prefix and the namespace. It asks kustomize:
//
//	m, err := model.Load(ctx, "config/default", files)
//
// Load builds the kustomization with marks for prefix and namespace. So everything that follows from them contains a
// mark: names, references to them, and results of replacements. References that are written with the built name, which
// kustomize leaves alone, get their marks afterwards. Then Load builds it again without each feature: its components
// or, in projects of kubebuilder, resources and patches with well-known names. The parts missing then belong to the
// feature. So nothing is guessed from how an object looks, and what users add to the configuration is included.
package model
