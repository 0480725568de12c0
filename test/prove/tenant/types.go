package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "prove.example.com", Version: "v1"}

// A Tenant is a customer that gets a web server, shards for its data, and a line in the registry.
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TenantSpec   `json:"spec,omitempty"`
	Status            TenantStatus `json:"status,omitempty"`
}

// TenantSpec is what the user wants.
type TenantSpec struct {
	Title    string            `json:"title,omitempty"`
	Theme    string            `json:"theme,omitempty"`
	Replicas int32             `json:"replicas"`
	Shards   int               `json:"shards"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// TenantStatus is what the operator has done.
type TenantStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Shards             int                `json:"shards,omitempty"`
	Registered         bool               `json:"registered,omitempty"`
	Settings           string             `json:"settings,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// TenantList is what the API server answers to a list.
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Tenant `json:"items"`
}

// DeepCopyObject copies the tenant with all that it refers to.
func (t *Tenant) DeepCopyObject() runtime.Object { return t.deepCopy() }

func (t *Tenant) deepCopy() *Tenant {
	c := &Tenant{TypeMeta: t.TypeMeta, Spec: t.Spec, Status: t.Status}
	t.DeepCopyInto(&c.ObjectMeta)
	if t.Spec.Labels != nil {
		c.Spec.Labels = map[string]string{}
		for k, v := range t.Spec.Labels {
			c.Spec.Labels[k] = v
		}
	}
	c.Status.Conditions = append([]metav1.Condition(nil), t.Status.Conditions...)
	return c
}

// DeepCopyObject copies the list with its tenants.
func (l *TenantList) DeepCopyObject() runtime.Object {
	c := &TenantList{TypeMeta: l.TypeMeta}
	l.DeepCopyInto(&c.ListMeta)
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].deepCopy())
	}
	return c
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Tenant{}, &TenantList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
