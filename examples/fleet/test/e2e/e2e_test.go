//go:build e2e

package e2e // slipway edit --enable e2e adds the tests; without this file kubebuilder create webhook stops half-way
