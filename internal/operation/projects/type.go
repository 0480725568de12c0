package projects

import (
	"cmp"
	"strings"

	"github.com/slipway-dev/slipway/internal/inflection"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Type describes a kind whose Go types to print.
type Type struct {
	Kind       string
	Resource   string // "" means the kind's plural in lower case
	Namespaced bool   // false for cluster-scoped objects
}

// Types are the Go types of a kind; the JSON form is stable.
type Types struct {
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	Source   string `json:"source"` // the declarations
}

// PrintTypes reports the Go declarations for a new kind.
func PrintTypes(s *operation.Session, t Type) (Types, error) {
	text, err := t.types()
	if err != nil {
		return Types{}, err
	}
	types := Types{Kind: t.Kind, Resource: t.plural(), Source: text}
	s.Handler.Handle(report.Result{Text: strings.TrimSuffix(text, "\n"), Value: types})
	return types, nil
}

func (t Type) plural() string {
	return cmp.Or(t.Resource, project.Plural(t.Kind))
}

func (t Type) types() (string, error) {
	switch camel := inflection.CamelCase(t.Kind); {
	case t.Kind == "":
		return "", &report.Error{What: "the kind has no name", Where: "--kind", Hint: "use a name in CamelCase", Next: "slipway type --kind CronJob"}
	case camel != t.Kind:
		return "", &report.Error{What: "the kind must be in CamelCase", Where: "--kind " + t.Kind, Hint: "expected " + camel, Next: "slipway type --kind " + camel}
	}
	scope := "live in namespaces"
	if !t.Namespaced {
		scope = "belong to the cluster as a whole"
	}
	return strings.NewReplacer("KIND", t.Kind, "RESOURCE", t.plural(), "SCOPE", scope, "'", "`").Replace(typesText), nil
}

// typesText is the template of the types for a kind.
const typesText = `// KINDSpec is what is wanted of a KIND.
type KINDSpec struct {
	// Fields that users set come here.
}

// KINDStatus is what was last observed of a KIND. It can always be found out
// again from the cluster and from what is outside of it.
type KINDStatus struct {
	// Fields that the controller sets come here.
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// KIND is the type of the resource RESOURCE, whose objects SCOPE.
// +k8s:openapi-gen=true
type KIND struct {
	metav1.TypeMeta   'json:",inline"'
	metav1.ObjectMeta 'json:"metadata,omitempty"'

	Spec   KINDSpec   'json:"spec,omitempty"'
	Status KINDStatus 'json:"status,omitempty"'
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// KINDList is a list of KIND objects.
type KINDList struct {
	metav1.TypeMeta 'json:",inline"'
	metav1.ListMeta 'json:"metadata,omitempty"'
	Items           []KIND 'json:"items"'
}
`
