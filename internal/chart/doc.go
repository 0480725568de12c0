// Package chart makes a Helm chart of what a project's kustomization deploys.
//
//	from := chart.Source{Folder: "config/default", Files: files}
//	made, err := chart.Generate(ctx, from, chart.Options{Name: "my-operator", Version: "0.1.0"})
//
// Chart and kustomize's output come from the same model. With default values, and in a release of the chart's name,
// Helm installs the objects that kustomize builds, apart from Helm's conventions:
//
//   - The label app.kubernetes.io/managed-by is Helm's. Further labels are helm.sh/chart, app.kubernetes.io/version and
//     app.kubernetes.io/instance. The last is also in pods and in what selects them, to separate two releases.
//   - Names begin with the release's name in place of the kustomization's prefix, if that ends in "-". Otherwise they
//     are the kustomization's in a release of the chart's name, and begin with the name of any other release.
//   - The operator's own Namespace is not part of the chart: it is the release's.
//   - CRDs have the annotation helm.sh/resource-policy, so that uninstalling the chart does not delete users' objects.
//
// # What becomes a value
//
// A value switches each feature, with everything that belongs to it in other objects: off gives the objects that
// kustomize builds without the feature's line. The manager's image, replicas, arguments, variables, resources, security
// contexts and scheduling are values. Everything else is as it was built: to change it, change config/.
//
// # How it is made
//
// Kustomize builds a [model], once with marks in place of prefix and namespace, and once more without each feature.
// That shows dependencies without assumptions about who wrote the configuration. Trees of the objects have the
// differences as conditions. [settings] are taken out of the trees. Package template writes the trees as templates, and
// escapes the user's text.
//
// Generate only makes files. Package scaffold plans how to write them so that the user's edits stay.
//
// [model]: https://pkg.go.dev/github.com/slipway-dev/slipway/internal/chart/internal/model
// [settings]: https://pkg.go.dev/github.com/slipway-dev/slipway/internal/chart/internal/settings
package chart
