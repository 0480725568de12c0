// Package certmanager proves what slipway scaffolds and deploys with cert-manager itself, and Prometheus itself, in a
// cluster whose pods run.
//
// cert-manager publishes its packages and its chart, not the modules of its commands. So the folders controller,
// cainjector and webhook put these together as its commands do, for images that its own chart deploys. Some packages of
// cert-manager are for itself alone, which the go command decides by a module's name: that is why this module has a
// name below cert-manager's.
//
// The controller leaves out issuers that need others (ACME, Vault, …), ingresses and gateways; the injector and the
// webhook leave out nothing.
package certmanager
