// Package dependency finds the definitions of kinds of other modules that a project uses, such as cert-manager's
// Certificate, in the version that go.mod requires:
//
//	found, err := dependency.Find(ctx, dependency.Project{Code: code, Root: root, External: resources, Environ: os.Environ()})
//	for _, d := range found.Definitions { … d.Object, d.Origin … }
//
// A project uses a kind when a Go file of it names the kind's type (certmanagerv1.Certificate, or its list), or when
// PROJECT lists it as external. A type is a kind when it has metav1.TypeMeta and metav1.ObjectMeta. Kinds that the API
// server serves itself are left out, and so is a kind that only text names, as unstructured objects do.
//
// The definition of a kind is the YAML file of its module that defines this group, kind and version. If several do,
// those in config/crd/bases, config/crd, deploy/crds and other folders crds go first, in this order, and experimental
// variants last. If none does, or the module is vendored and not in the module cache, the definition is generated from
// the Go types.
//
// Modules may be hostile. No program of theirs is started, no link in them is followed, and sizes and numbers of files
// are limited. Only a definition's name, labels, annotations and specification count, and conversion webhooks are left
// out, since their server is not there.
//
// Package clustertest of the module operator searches in the same way for suites that run without slipway. The modules
// share no code, so the tests of both read the folder testdata/search there, which holds the two searches together.
package dependency
