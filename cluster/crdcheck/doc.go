// Package crdcheck says what an API server would say to CustomResourceDefinitions, without one, and which of two states
// of a CustomResourceDefinition breaks what the other allowed.
//
//	findings := crdcheck.Check(ctx, crdcheck.File{Name: "batch_cronjobs.yaml", Content: content})
//	changes := crdcheck.Compare(ctx, before, after)
//
// [Check] decodes, defaults, converts and validates with the API server's own libraries: structural schemas, CEL rules
// with their cost, defaults, list maps, names, columns and paths. It adds what an API server does not look at when the
// definition is created, but its users meet soon after: columns that show nothing, and definitions that are too large
// for etcd or for kubectl apply. It does not look at what only a running server knows: names that other definitions
// have taken, and which objects are stored.
//
// [Compare] uses sigs.k8s.io/crdify with its usual strictness; a change is breaking when an object or a client that was
// right before may be wrong after it.
//
// A path names a place in the definition as it is written, also where the API server's internal form has it elsewhere:
// spec.versions[0].schema.openAPIV3Schema.properties[spec].
//
// Upstream counterpart of Check: k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition.
package crdcheck
