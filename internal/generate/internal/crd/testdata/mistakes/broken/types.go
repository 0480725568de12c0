// Package broken has a mistake of its own, which does not hide those of its types.
package broken

// want unexpected text "true"
// +kubebuilder:validation:Required=true

type Unused struct {
	// want expected an integer, found "many"
	// +kubebuilder:validation:MaxLength=many
	A string `json:"a"`
}
