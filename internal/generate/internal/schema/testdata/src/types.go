// Package src has types whose schemas are hard.
package src

// Ring is a type that contains itself by way of another.
type Ring struct {
	Name string `json:"name"`
	// Link is the way.
	Link *Link `json:"link,omitempty"`
}

// Link leads back.
type Link struct {
	Ring *Ring           `json:"ring,omitempty"`
	More map[string]Ring `json:"more,omitempty"`
}

// Twice is used in two fields with different documentation.
type Twice struct {
	// First says one thing.
	First Shared `json:"first"`
	// Second says another.
	// +kubebuilder:validation:MaxLength=3
	Second Shared `json:"second"`
	Third  Shared `json:"third"`
}

// Shared has a bound of its own.
// +kubebuilder:validation:MaxLength=5
type Shared string

// Diamond embeds two types that embed the same one.
type Diamond struct {
	Left  `json:",inline"`
	Right `json:",inline"`
}

// Left embeds Top.
type Left struct {
	Top `json:",inline"`
	// +kubebuilder:validation:Minimum=1
	Both int `json:"both"`
}

// Right embeds Top.
type Right struct {
	Top `json:",inline"`
	// +kubebuilder:validation:Minimum=2
	Both int `json:"both,omitempty"`
}

// Top is at the top.
type Top struct {
	// +listType=map
	// +listMapKey=name
	Keyed []Named `json:"keyed,omitempty"`
}

// Named has a name.
type Named struct {
	Name string `json:"name"`
}

// Aliases are names for other types.
type Aliases struct {
	Basic Number `json:"basic"`
	Named Other  `json:"named"`
}

// Number is an alias of a basic type, and its marker counts.
// +kubebuilder:validation:Maximum=9
type Number = int32

// Other is an alias of a declared type, and its marker does not count.
// +kubebuilder:validation:MaxLength=1
type Other = Shared
