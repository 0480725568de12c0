// Package doubts has one of each that controller-gen accepts, and that its author can hardly mean.
// +groupName=doubts.example.com
package doubts

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Kind struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	A string `json:"a"`
	// want fields A and B of Kind are both named "a" in JSON
	B string `json:"a"`
	// want field c is not exported
	c string `json:"c"`
	// want labels, annotations and name in d:
	D metav1.ObjectMeta `json:"d"`
	// want labels, annotations and name in e.metadata:
	E corev1.PodTemplateSpec `json:"e"`
	// want labels, annotations and name in f[].metadata:
	F []corev1.PersistentVolumeClaim `json:"f"`
	// +kubebuilder:validation:EmbeddedResource
	Whole corev1.ConfigMap `json:"whole"`
	// want no effect on a field of type string
	// +kubebuilder:validation:XIntOrString
	G string `json:"g"`
	// want lists no value of type string
	// +kubebuilder:validation:Enum=1;2
	H string `json:"h"`
	// want lists no value of type integer
	// +kubebuilder:validation:items:Enum="1"
	I []int `json:"i"`
	// +kubebuilder:validation:Minimum=5
	// want no value meets both bounds, 5 and 3
	// +kubebuilder:validation:Maximum=3
	J int `json:"j"`
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:ExclusiveMinimum=true
	// want no value meets both bounds, 5 and 5
	// +kubebuilder:validation:Maximum=5
	K int `json:"k"`
	// +kubebuilder:validation:MinLength=5
	// want no value meets both bounds, 5 and 3
	// +kubebuilder:validation:MaxLength=3
	L string `json:"l"`
	// +optional
	// want the field is optional
	// +required
	M string `json:"m"`
	// +kubebuilder:validation:Required
	// want the field is required
	// +optional
	N string `json:"n"`
	// want its tag lacks a comma
	Q string `json:"omitempty"`
	// want its tag has a space where a comma belongs
	QQ string `json:"routes omitempty"`
	// want has no name in its json tag
	R Other `json:",omitempty"`

	// want no value meets both bounds, 5 and 3: the bounds of the type Name hold, too
	// +kubebuilder:validation:MaxLength=3
	ShortName Name `json:"shortName"`
	// want no value meets both bounds, 8 and 7
	// +kubebuilder:validation:MinLength=8
	LongName *Short `json:"longName"`
	// +kubebuilder:validation:MaxLength=5
	ExactName Name `json:"exactName"`
	// want no value meets both bounds, 5 and 4
	// +kubebuilder:validation:items:MaxLength=4
	Names []Name `json:"names"`
	// want no value meets both bounds, 11 and 10
	// +kubebuilder:validation:Minimum=11
	Count Small `json:"count"`
	// want no value meets both bounds, 10 and 10
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:ExclusiveMinimum=true
	Last Smaller `json:"last"`
	// The last one is allowed: the definition has both minima apart from the marker that excludes one.
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:ExclusiveMinimum=true
	Lasting Small `json:"lasting"`
	// want no value meets both bounds, 3 and 2
	// +kubebuilder:validation:MaxItems=2
	Triple Triple `json:"triple"`
	// want no value meets both bounds, 2 and 1
	// +kubebuilder:validation:MinProperties=2
	Single Single `json:"single"`

	Promoting Promoting `json:"promoting"`
	Shadowing Shadowing `json:"shadowing"`

	// +kubebuilder:validation:EmbeddedResource
	Kept Template `json:"kept"`
	// +kubebuilder:validation:EmbeddedResource
	KeptInlined Templates `json:"keptInlined"`
	Dropped     []Dropped `json:"dropped"`
	Inlined     Inlined   `json:"inlined"`
}

// +kubebuilder:validation:MinLength=5
type Name string

// +kubebuilder:validation:Minimum=1
type Small Smaller

// +kubebuilder:validation:Maximum=10
type Smaller int32

// +kubebuilder:validation:MaxLength=7
type Short string

// +kubebuilder:validation:MinItems=3
type Triple []string

// +kubebuilder:validation:MaxProperties=1
type Single map[string]string

type Left struct {
	Name string `json:"name"`
	Left string `json:"left"`
}

type Right struct {
	Other string `json:"name"`
	Right string `json:"right"`
}

type Promoting struct {
	Left `json:",inline"`
	// want fields Left.Name and Right.Other of Promoting are both named "name" in JSON
	*Right `json:",inline"`
}

// Shadowing has a name of its own, and one that is less deep on one side: Go programs take these.
type Shadowing struct {
	Left      `json:",inline"`
	Right     `json:",inline"`
	Promoting `json:",inline"`
	Own       string `json:"name"`
}

type Template struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	APIVersion        string `json:"apiVersion"`
	Kind              string `json:"kind"`
}

type Templates struct {
	Template `json:",inline"`
}

type Dropped struct {
	// want labels, annotations and name in metadata:
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

type Inlined struct {
	// want labels, annotations and name in Inlined:
	metav1.ObjectMeta `json:",inline"`
}

type Other struct {
	// +kubebuilder:validation:Enum=1;2
	S int `json:"s"`
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=5
	T int `json:"t"`
}
