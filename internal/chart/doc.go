// Package chart makes a Helm chart of what a project's kustomization deploys.
//
//	made, err := chart.Generate("config/default", chart.Options{Name: "my-operator", Version: "0.1.0"})
//
// Both come from the same model. With the values that the chart has by itself, under a release called
// as the chart, Helm installs the same objects as kustomize builds, but for what Helm's conventions ask:
//
//   - The label app.kubernetes.io/managed-by is Helm's, and helm.sh/chart, app.kubernetes.io/version
//     and app.kubernetes.io/instance come with it. The last one is in pods and in what selects them too, so that
//     two releases keep out of each other's way.
//   - Names begin with the release's name instead of the kustomization's prefix, if that ends in "-". Otherwise they
//     are the kustomization's in a release of the chart's name, and begin with the name of any other release.
//   - The operator's own Namespace is not part of the chart: it is the release's.
//   - CRDs have the annotation helm.sh/resource-policy, so that uninstalling the chart does not delete
//     the users' objects.
//
// # What becomes a value
//
// Each feature of the kustomization is switched by a value, with everything that belongs to it in other objects:
// switching one off gives the objects that kustomize builds without the feature's line. The manager's image, replicas,
// arguments, variables, resources, security contexts and scheduling are values. Everything else is as it was built: the
// place to change that is config/, and the chart follows.
//
// # How it is made
//
// A [model] is built by kustomize itself, once with marks in place of the prefix and the namespace, and
// once more without each of its features: so it is known what follows from what, independent of who wrote
// it. Trees of the objects hold the differences as conditions; [settings] are taken out of the trees;
// templates are written from them (package template), escaped where the text is the user's.
//
// Generate only makes files. Writing them so that a user's edits stay is the work of a plan, see
// package scaffold.
//
// [model]: https://pkg.go.dev/github.com/slipway-dev/slipway/internal/chart/internal/model
// [settings]: https://pkg.go.dev/github.com/slipway-dev/slipway/internal/chart/internal/settings
package chart
