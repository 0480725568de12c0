// Package none asks for nothing.
package none
