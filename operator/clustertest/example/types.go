package example

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Version is the version of the package's types.
var Version = schema.GroupVersion{Group: "example.slipway.dev", Version: "v1"}

// AddToScheme makes the package's types known.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(Version, &Task{}, &TaskList{})
	metav1.AddToGroupVersion(s, Version)
	return nil
}

// TaskSpec says what a task runs.
type TaskSpec struct {
	// image of the container; there is a default.
	// +optional
	Image string `json:"image,omitempty"`
	// command of the container; without one, the image's own.
	// +optional
	Command []string `json:"command,omitempty"`
}

// TaskStatus says how far a task has come.
type TaskStatus struct {
	// done is whether the task's Job has completed.
	// +optional
	Done bool `json:"done,omitempty"`
}

// Task runs a container to its end.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Task struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +optional
	Spec TaskSpec `json:"spec,omitempty"`
	// +optional
	Status TaskStatus `json:"status,omitempty"`
}

// TaskList is a list of tasks.
// +kubebuilder:object:root=true
type TaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Task `json:"items"`
}
