// Package mistakes has one of each.
// +groupName=mistakes.example.com
package mistakes

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Kind struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// want expected an integer, found "many"
	// +kubebuilder:validation:MaxLength=many
	A string `json:"a"`
	// want needs a string, this is of type integer
	// +kubebuilder:validation:MaxLength=1
	B int `json:"b"`
	// want needs +listType=map
	// +listMapKey=x
	C []string `json:"c"`
	// want floating-point
	D float64 `json:"d"`
	// want no json tag
	E string
	// want unknown type Nothing
	F Nothing `json:"f"`
	// want unknown type metav1.Missing
	G metav1.Missing `json:"g"`
	// want is an interface and has no schema
	H any `json:"h"`
	// want keys of a map
	I map[int]string `json:"i"`
	// want a struct inside a type
	J struct{} `json:"j"`
	// want a type with type arguments has no schema
	K Generic[int] `json:"k"`
	// want found "sometimes"
	// +mapType=sometimes
	L map[string]string `json:"l"`
	// want needs a list, this is of type string
	// +kubebuilder:validation:items:MaxLength=1
	M string `json:"m"`
	// want 1.5 is not an integer
	// +kubebuilder:validation:Maximum=1.5
	N int `json:"n"`
	// want expected a URL
	// +kubebuilder:externalDocs:url=nowhere
	O string `json:"o"`
	// want unknown reason "Bad": use
	// +kubebuilder:validation:XValidation:rule="true",reason=Bad
	P string `json:"p"`
	// want belongs on a type
	// +k8s:enum
	Q string `json:"q"`
	// want is not JSON
	// +default={
	R string `json:"r"`
	S Stage  `json:"s"`
	T Choice `json:"t"`
	// want is inlined, but only structs can be inlined
	V string `json:",omitempty"`
	// want is inlined, but only structs can be inlined
	DD []*Inlined `json:",omitempty"`
	// want a function has no schema
	U func() `json:"u"`
	// want no schema of a list through one
	W List `json:"w"`
	// want no schema of an array through one
	X Array `json:"x"`
	// want an alias of a type that is unknown
	Y Absent `json:"y"`
	// want put the marker on that type
	// +kubebuilder:validation:MinProperties=1
	BB Choice `json:"bb"`
	// want use a type of your own
	// +kubebuilder:validation:MinProperties=1
	CC metav1.LabelSelector `json:"cc"`
	// want Generic has type parameters
	Z  Generic  `json:"z"`
	AA Numbered `json:"aa"`
}

type Inlined struct {
	// want needs a list, this is of type string
	// +kubebuilder:validation:items:MinItems=1
	A string `json:"a"`
}

type List = []string

type Array = [3]int

type Absent = Missing

type Numbered = Generic[int]

type Generic[T any] struct {
	// want T is a type parameter and has no schema
	Value T `json:"value"`
}

// want the type Stage has no constants
// +k8s:enum
type Stage string

// +kubebuilder:validation:ExactlyOneOf=a
type Choice struct {
	// want cannot be required
	A string `json:"a"`
}
