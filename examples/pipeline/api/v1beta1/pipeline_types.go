// Copyright 2026 The pipeline authors
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PipelineSpec is what the user of a Pipeline wants.
type PipelineSpec struct {
	// namespace is where the steps run. A Pipeline itself is in none, so that it can own a PersistentVolume.
	// +kubebuilder:default=pipeline
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('kube-')",message="the namespaces of Kubernetes itself are not for steps"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="steps do not move: make another Pipeline"
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// modelStorage is where the models are that the steps read.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a volume's source is fixed: make another Pipeline"
	// +required
	ModelStorage ModelStorage `json:"modelStorage"`

	// steps are the programs that work on one another's results.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=model
	// +required
	Steps []Step `json:"steps"`
}

// ModelStorage is where models are.
type ModelStorage struct {
	// type is the kind of storage. There is only one.
	// +kubebuilder:default=nfs
	// +kubebuilder:validation:Enum=nfs
	// +optional
	Type string `json:"type,omitempty"`

	// csiParameter is what has to be known of the storage.
	// +required
	CSIParameter CSIParameter `json:"csiParameter"`
}

// CSIParameter is a share of an NFS server.
type CSIParameter struct {
	// server is the name or address of the NFS server.
	// +kubebuilder:validation:MinLength=1
	// +required
	Server string `json:"server"`

	// share is the path that the server exports.
	// +kubebuilder:validation:Pattern=`^/`
	// +required
	Share string `json:"share"`
}

// Step is a program that works with a model.
// +kubebuilder:validation:XValidation:rule="!has(self.args) || !('listenPort' in self.args) || (self.args['listenPort'].matches('^[1-9][0-9]{0,4}$') && int(self.args['listenPort']) <= 65535)",message="args.listenPort must be a port"
type Step struct {
	// model names the step: so are its Deployment and Service called.
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	// +required
	Model string `json:"model"`

	// image is what the step runs.
	// +kubebuilder:validation:MinLength=1
	// +required
	Image string `json:"image"`

	// location is the node on which the step runs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Location string `json:"location"`

	// args are passed to the program as --name=value. listenPort is where it listens, 8080 if it is left out.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Args map[string]Argument `json:"args,omitempty"`
}

// Argument is the value of an argument.
// +kubebuilder:validation:MaxLength=1024
type Argument string

// PipelineStatus is what the operator observed.
type PipelineStatus struct {
	// phase sums up the condition Available: Creating, Running or Failed.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// ready are the steps that run, of all: 1/2.
	// +optional
	Ready string `json:"ready,omitempty"`

	// detailPhase has the phase of each part.
	// +optional
	DetailPhase DetailPhase `json:"detailPhase,omitzero"`

	// conditions show whether the Pipeline is available, and if not, why.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DetailPhase has the phase of each part of a Pipeline.
type DetailPhase struct {
	// pvPhase is the phase of the PersistentVolume.
	// +optional
	PVPhase Phase `json:"pvPhase,omitempty"`

	// pvcPhase is the phase of the PersistentVolumeClaim.
	// +optional
	PVCPhase Phase `json:"pvcPhase,omitempty"`

	// stepsPhase has the phases of each step.
	// +listType=map
	// +listMapKey=model
	// +optional
	StepsPhase []StepPhase `json:"stepsPhase,omitempty"`
}

// StepPhase has the phases of a step.
type StepPhase struct {
	// model is the step's.
	// +required
	Model string `json:"model"`

	// deploymentPhase is the phase of the Deployment.
	// +optional
	DeploymentPhase Phase `json:"deploymentPhase,omitempty"`

	// servicePhase is the phase of the Service.
	// +optional
	ServicePhase Phase `json:"servicePhase,omitempty"`
}

// Phase is one word about a part, or about the Pipeline as a whole. Volumes and claims have those of Kubernetes
// besides: Available, Bound, …
type Phase string

// These are the phases that Kubernetes does not have.
const (
	// PhaseCreating: it is not there, or not ready yet.
	PhaseCreating Phase = "Creating"

	// PhaseRunning: it does what it is there for.
	PhaseRunning Phase = "Running"

	// PhaseFailed: it needs a change.
	PhaseFailed Phase = "Failed"

	// PhaseNameTaken: something else has its name.
	PhaseNameTaken Phase = "NameTaken"
)

// ConditionAvailable is the type of the condition that is true while all steps run.
const ConditionAvailable = "Available"

// These are the reasons of the condition Available.
const (
	// ReasonReady: all steps run.
	ReasonReady = "Ready"

	// ReasonCreating: parts are being made, or started.
	ReasonCreating = "Creating"

	// ReasonNamespaceMissing: there is no namespace of the name in spec.namespace, or it is being deleted.
	ReasonNamespaceMissing = "NamespaceMissing"

	// ReasonNameTaken: something else has the name of a part.
	ReasonNameTaken = "NameTaken"

	// ReasonFailed: a part cannot be made, or does not start in time. The message says why.
	ReasonFailed = "Failed"
)

// Pipeline is a number of programs, each on a node of its own choice, that read models from one share.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="labels have the name, so it may have 63 characters"
// +kubebuilder:printcolumn:name="Steps",type=string,JSONPath=`.spec.steps[*].model`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="DetailPhase",type=string,priority=1,JSONPath=`.status.detailPhase`
type Pipeline struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec PipelineSpec `json:"spec"`

	// +optional
	Status PipelineStatus `json:"status,omitzero"`
}

// PipelineList is a list of Pipeline objects.
// +kubebuilder:object:root=true
type PipelineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Pipeline `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Pipeline{}, &PipelineList{})
		return nil
	})
}
