// Package envtest holds the differential tests of the control plane that envtest starts: the same suite runs on
// upstream's programs and on slipway-cluster under their names, and both must behave alike.
package envtest
