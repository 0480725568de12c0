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
	// want has no name in its json tag
	R Other `json:",omitempty"`
}

type Other struct {
	// +kubebuilder:validation:Enum=1;2
	S int `json:"s"`
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=5
	T int `json:"t"`
}
