package cli

import (
	"cmp"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// typeFlags are the flags of `slipway type`.
type typeFlags struct {
	kind, resource string
	namespaced     bool
}

// typeCommand is `slipway type`, with the flags of the tool type-scaffold.
func (inv *invocation) typeCommand() *cobra.Command {
	var f typeFlags
	cmd := &cobra.Command{
		Use:   "type",
		Short: "Print the Go types of a kind, to begin with",
		Long: `Type prints the Go declarations that a kind begins with: the kind with its metadata, types of its spec and
its status, and a list type, with the markers that have code generated for them. It writes no file and needs
no project; slipway create api makes a kind part of one.

Called under the name type-scaffold the program is this command.`,
		Example: `  slipway type --kind Foo
  slipway type --kind Bar --resource foobars >> api/v1/bar_types.go`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := f.types()
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: strings.TrimSuffix(text, "\n"), Value: struct {
				Kind     string `json:"kind"`
				Resource string `json:"resource"`
				Source   string `json:"source"`
			}{f.kind, f.plural(), text}})
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "", "`kind` in CamelCase, such as CronJob")
	flags.StringVar(&f.resource, "resource", "", "`name` of the resource; the kind's plural in lower case if it is not given")
	flags.BoolVar(&f.namespaced, "namespaced", true, "objects live in namespaces, not in the cluster as a whole")
	return cmd
}

// plural is the name of the resource.
func (f typeFlags) plural() string {
	return cmp.Or(f.resource, project.Plural(f.kind))
}

// types are the declarations.
func (f typeFlags) types() (string, error) {
	switch camel := flect.Pascalize(f.kind); {
	case f.kind == "":
		return "", &report.Error{What: "the kind has no name", Where: "--kind", Hint: "a name in CamelCase", Next: "slipway type --kind CronJob"}
	case camel != f.kind:
		return "", &report.Error{What: "the kind must be in CamelCase", Where: "--kind " + f.kind, Hint: "expected " + camel, Next: "slipway type --kind " + camel}
	}
	scope := "live in namespaces"
	if !f.namespaced {
		scope = "belong to the cluster as a whole"
	}
	return strings.NewReplacer("KIND", f.kind, "RESOURCE", f.plural(), "SCOPE", scope, "'", "`").Replace(typesText), nil
}

// typesText are the types of a kind called KIND.
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
