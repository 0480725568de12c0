// Package certmanager proves what slipway scaffolds and deploys with cert-manager itself, and Prometheus itself, in a
// cluster whose pods run. cert-manager comes by `slipway cluster add`, from an installed slipway without a checkout;
// its manifests and sources are held here against the chart and the go command.
//
// cert-manager publishes its packages and its chart, not the modules of its commands. So the add-on's folders
// controller, cainjector and webhook put these together as its commands do. Some packages of cert-manager are for
// itself alone, which the go command decides by a module's name: that is why the add-on's module has a name below
// cert-manager's.
package certmanager
