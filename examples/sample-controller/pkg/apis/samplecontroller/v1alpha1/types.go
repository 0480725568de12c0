package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The condition of a Foo, and its reasons.
const (
	// ConditionReady is true when all replicas of the Deployment are available.
	ConditionReady = "Ready"

	ReasonAvailable   = "Available"   // all replicas are
	ReasonProgressing = "Progressing" // some replicas are not available yet
	ReasonNotOwned    = "NotOwned"    // the Deployment exists, and this Foo does not control it
)

// Foo stands for a Deployment of a name and size.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved: an example"
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="Deployment",type=string,JSONPath=`.spec.deploymentName`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FooSpec `json:"spec"`

	// +optional
	Status FooStatus `json:"status,omitempty"`
}

// FooSpec is what a Foo should be.
type FooSpec struct {
	// DeploymentName is the name of the Deployment, in the Foo's namespace. A new name is a new Deployment; the old one
	// is deleted.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	DeploymentName string `json:"deploymentName"`

	// Replicas is the number of pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is what is observed of a Foo.
type FooStatus struct {
	// ObservedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Replicas is the number of pods that the Deployment has.
	// +optional
	Replicas int32 `json:"replicas"`

	// AvailableReplicas is the number of pods that are available.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Conditions say how the Foo stands.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FooList is a list of Foos.
//
// +kubebuilder:object:root=true
type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}
