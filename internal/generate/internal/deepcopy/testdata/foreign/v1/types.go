// Package v1 has types of several packages that are called v1 too.
// +kubebuilder:object:generate=true
package v1

import (
	"time"

	core "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Spec has what the specs of operators have.
type Spec struct {
	Template     core.PodTemplateSpec
	TemplatePtr  *core.PodTemplateSpec
	Env          []core.EnvVar
	Pull         core.PullPolicy
	PullPtr      *core.PullPolicy
	Limits       core.ResourceList
	LimitsPtr    *core.ResourceList
	ByName       map[string]core.ResourceList
	Requirements core.ResourceRequirements
	Refs         []core.ObjectReference
	RefPtrs      []*core.ObjectReference
	Key          *core.SecretKeySelector
	Budget       *policyv1.PodDisruptionBudgetSpec
	Quantity     resource.Quantity
	QuantityPtr  *resource.Quantity
	Quantities   map[core.ResourceName]resource.Quantity
	Port         intstr.IntOrString
	PortPtr      *intstr.IntOrString
	UID          types.UID
	NameRef      types.NamespacedName
	NameRefs     []types.NamespacedName
	Extra        runtime.RawExtension
	ExtraPtr     *runtime.RawExtension
	Any          apiextensionsv1.JSON
	AnyPtr       *apiextensionsv1.JSON
	Anys         map[string]apiextensionsv1.JSON
}

// Status has what their statuses have.
type Status struct {
	Conditions []metav1.Condition
	Since      metav1.Time
	Until      *metav1.Time
	Times      []metav1.Time
	Micro      *metav1.MicroTime
	For        metav1.Duration
	ForPtr     *metav1.Duration
	Std        time.Duration
	Selector   *metav1.LabelSelector
	Verbs      metav1.Verbs
	Fields     *metav1.FieldsV1
	Extra      map[string]metav1.Time
	Owners     []metav1.OwnerReference
	GVK        metav1.GroupVersionKind
}

// Borrowed are names for types of other packages.
type (
	Borrowed     core.ResourceList
	BorrowedSpec core.PodSpec
	BorrowedVerb metav1.Verbs
)

// Thing is an object.
// +kubebuilder:object:root=true
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}
