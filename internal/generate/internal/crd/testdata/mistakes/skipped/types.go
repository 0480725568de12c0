// Package skipped is passed over, with a mistake that is one all the same.
// +kubebuilder:skip
package skipped

type Unused struct {
	// want expected an integer, found "many"
	// +kubebuilder:validation:MaxLength=many
	A string `json:"a"`
}
