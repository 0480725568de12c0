// Package v1 uses every marker that says something about schemas.
// +groupName=features.example.com
package v1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Feature is a kind with everything.
//
// It has a second paragraph, which says that this text is long enough to be folded: "quotes", colons: and # signs.
// TODO: this line is left out
// ---
// So is this one.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=featureset,shortName=ft;fts,categories={all,features},scope=Cluster,singular=feature
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`,description="how many: there are",priority=1,format=int32
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://example.com/a=b",labels={"x=y","a10=1","a9=2"}
// +kubebuilder:selectablefield:JSONPath=.spec.name
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() < 10",message="short, please",reason=FieldValueInvalid,fieldPath=".metadata.name"
type Feature struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FeatureSpec   `json:"spec"`
	Status FeatureStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// FeatureList is a list.
type FeatureList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Feature `json:"items"`
}

// Base is inlined.
// +kubebuilder:validation:MinProperties=1
type Base struct {
	// Name is shared with the type that embeds it.
	// +kubebuilder:validation:MaxLength=10
	Name string `json:"name"`
	// InBase is here only.
	InBase string `json:"inBase,omitempty"`
}

// FeatureSpec has fields of all kinds.
type FeatureSpec struct {
	Base  `json:",inline"`
	Other `json:",inline"`
	Named `json:"named"`

	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=1e3
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:MultipleOf=2
	// +kubebuilder:default=3
	Replicas *int32 `json:"replicas,omitempty"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z: #"']+$`
	// +kubebuilder:validation:Format=hostname
	// +kubebuilder:example="exam: ple"
	// +kubebuilder:title="A title"
	// +kubebuilder:externalDocs:url="https://example.com",description="more"
	// +nullable
	Text *string `json:"text,omitempty"`

	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:UniqueItems=true
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:Enum=a;b
	// +listType=set
	Set []string `json:"set,omitempty"`

	// +listType=map
	// +listMapKey=name
	// +listMapKey=key
	// +k8s:listMapKey=name
	Keyed []Item `json:"keyed,omitempty"`

	// +mapType=atomic
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=2
	Table map[string]Item `json:"table,omitempty"`

	// +structType=atomic
	Atomic Item `json:"atomic,omitempty"`

	Tables map[string]map[Text][]string `json:"tables,omitempty"`
	Bytes  []byte                       `json:"bytes,omitempty"`
	Octets []uint8                      `json:"octets,omitempty"`
	Int8   int8                         `json:"int8"`
	Uint32 uint32                       `json:"uint32"`
	Int64  int64                        `json:"int64"`
	Bool   bool                         `json:"bool"`

	// +kubebuilder:validation:Enum="yes";"1";2;true
	Mixed apiextensionsv1.JSON `json:"mixed,omitempty"`

	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=^x$
	Retyped apiextensionsv1.JSON `json:"retyped,omitempty"`

	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Schemaless Item `json:"schemaless,omitempty"`

	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:EmbeddedResource
	Embedded runtime.RawExtension `json:"embedded,omitempty"`

	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=^[0-9]+$
	Loose apiextensionsv1.JSON `json:"loose,omitempty"`

	Level   Level   `json:"level"`
	Levels  []Level `json:"levels,omitempty"`
	Stage   Stage   `json:"stage,omitempty"`
	Choice  Choice  `json:"choice,omitempty"`
	Tree    *Tree   `json:"tree,omitempty"`
	Aliased Aliased `json:"aliased,omitempty"`

	// +kubebuilder:default={a: {b: "c"}, list: {1,2}, yes: true}
	Defaults apiextensionsv1.JSON `json:"defaults,omitempty"`
	// +default={"json": [1, 2.5, null], "text": "on"}
	JSONDefault apiextensionsv1.JSON `json:"jsonDefault,omitempty"`
	// +kubebuilder:default={}
	EmptyDefault []string `json:"emptyDefault,omitempty"`
	// +default=ref(Something)
	RefDefault string `json:"refDefault,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self > 0",messageExpression="'bad: ' + string(self)",optionalOldSelf=true
	// +kubebuilder:validation:XValidation:rule="oldSelf.orValue(1) <= self"
	// +k8s:immutable
	Ruled int64 `json:"ruled,omitempty"`

	// +k8s:required
	K8sRequired string `json:"k8sRequired"`
	// +k8s:required
	K8sRequiredRef Item `json:"k8sRequiredRef,omitempty"`
	// +k8s:optional
	K8sOptional string `json:"k8sOptional"`
	// +k8s:maxItems=4 # four
	K8sItems []string `json:"k8sItems,omitempty"`
	// +k8s:minimum=1
	// +k8s:maximum=2
	K8sBounds int `json:"k8sBounds,omitempty"`
	// +required
	Required string `json:"required,omitempty"`
	// +kubebuilder:validation:Optional
	Optional string `json:"optional"`
	Omitzero Item   `json:"omitzero,omitzero"`
	Dash     string `json:"-"`

	Quantity  resource.Quantity               `json:"quantity,omitempty"`
	Port      intstr.IntOrString              `json:"port,omitempty"`
	PortToo   *intstr.IntOrString             `json:"portToo,omitempty"`
	Timeout   metav1.Duration                 `json:"timeout,omitempty"`
	When      metav1.MicroTime                `json:"when,omitempty"`
	Selector  *metav1.LabelSelector           `json:"selector,omitempty"`
	Resources corev1.ResourceRequirements     `json:"resources,omitempty"`
	Env       []corev1.EnvVar                 `json:"env,omitempty"`
	Secret    corev1.LocalObjectReference     `json:"secret,omitempty"`
	Protocol  corev1.Protocol                 `json:"protocol,omitempty"`
	Meta      EmbeddedMeta                    `json:"meta,omitempty"`
	Marshaled Marshaled                       `json:"marshaled,omitempty"`
	TextKeyed map[TextKey]corev1.PullPolicy   `json:"textKeyed,omitempty"`
	Raw       map[string]runtime.RawExtension `json:"raw,omitempty"`

	/* A block comment,
	   indented, with `code`. */
	Block string `json:"block,omitempty"`
	// Code:
	// ```
	// TODO stays
	// ---
	// ```
	Code string `json:"code,omitempty"`
	// Ends with a colon:
	Colon string `json:"colon,omitempty"`
	Yes   string `json:"yes,omitempty"`
	A10   string `json:"a10,omitempty"`
	A9    string `json:"a9,omitempty"`
	Snake string `json:"a_b,omitempty"`
}

// Other is inlined too, and agrees with Base in part.
type Other struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=12
	Name    string `json:"name"`
	InOther bool   `json:"inOther"`
}

// Named is embedded with a name.
type Named struct {
	X string `json:"x"`
}

// Item is an item.
type Item struct {
	Name string `json:"name"`
	// +optional
	Key string `json:"key"`
}

// Text is a string.
type Text string

// Level is a string with a bound.
// +kubebuilder:validation:MaxLength=8
// +kubebuilder:validation:MinLength=1
type Level string

// Aliased is an alias.
type Aliased = Level

// Stage is an enum of its constants.
// +k8s:enum
type Stage string

// The stages.
const (
	Second Stage = "second"
	First  Stage = "first"
	other        = "other"
)

// Choice has fields to choose from.
// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=c;d
// +kubebuilder:validation:AtLeastOneOf=a;c
type Choice struct {
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
	C *string `json:"c,omitempty"`
	D *string `json:"d,omitempty"`
}

// Tree contains itself.
type Tree struct {
	Value    string  `json:"value"`
	Children []*Tree `json:"children,omitempty"`
}

// EmbeddedMeta has metadata inside.
type EmbeddedMeta struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Marshaled writes itself.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=marshaled
type Marshaled struct {
	hidden int
}

// MarshalJSON implements json.Marshaler.
func (m Marshaled) MarshalJSON() ([]byte, error) { return []byte(`""`), nil }

// TextKey writes itself as text.
type TextKey struct{ hidden int }

// MarshalText implements encoding.TextMarshaler.
func (TextKey) MarshalText() ([]byte, error) { return nil, nil }

// FeatureStatus is a status.
type FeatureStatus struct {
	Replicas int32  `json:"replicas,omitempty"`
	Selector string `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
