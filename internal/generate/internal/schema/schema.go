package schema

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// Schema is a JSON schema with Kubernetes' extensions. The zero value allows
// everything; zero fields are absent.
type Schema struct {
	Type        string
	Format      string
	Title       string
	Description string
	Pattern     string

	Default json.RawMessage
	Example json.RawMessage
	Enum    []json.RawMessage

	Maximum          *float64
	Minimum          *float64
	MultipleOf       *float64
	ExclusiveMaximum bool
	ExclusiveMinimum bool

	MaxLength     *int64
	MinLength     *int64
	MaxItems      *int64
	MinItems      *int64
	MaxProperties *int64
	MinProperties *int64
	UniqueItems   bool
	Nullable      bool

	Required             []string
	Properties           map[string]*Schema
	AdditionalProperties *Additional
	Items                *Schema
	AllOf                []*Schema
	AnyOf                []*Schema

	ExternalDocs *ExternalDocs

	PreserveUnknownFields bool
	EmbeddedResource      bool
	IntOrString           bool
	ListType              string
	ListMapKeys           []string
	MapType               string
	Validations           []Validation

	ref   *load.TypeDecl // in the first stage, what the schema is besides
	order []string       // the names of Properties, sorted, in the last stage
}

// Additional says what properties besides the named ones may be: anything when
// Schema is nil.
type Additional struct{ Schema *Schema }

// ExternalDocs points to documentation elsewhere.
type ExternalDocs struct {
	URL         string
	Description string
}

// Validation is a rule in CEL.
type Validation struct {
	Rule              string
	Message           string
	MessageExpression string
	Reason            string
	FieldPath         string
	OptionalOldSelf   *bool
}
