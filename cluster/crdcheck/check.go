package crdcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// File is a file with definitions, in YAML or JSON. Documents of other kinds are passed over.
type File struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// Finding is something wrong with a definition.
type Finding struct {
	// File is the name of the file.
	File string `json:"file"`
	// Definition is the name of the definition, like cronjobs.batch.example.com.
	Definition string `json:"definition"`
	// Path is the place in it, and Value what is there, when it is a short text.
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
	// Message says what is wrong, in the API server's words where they are its own.
	Message string `json:"message"`
	// Reason says the same to programs, where they do something about it.
	Reason Reason `json:"reason,omitempty"`
	// Refused says that no API server takes the definition, or the sample.
	Refused bool `json:"refused"`
	// Line is the line of the file, of findings about samples.
	Line int `json:"line,omitempty"`
}

// Check returns what is wrong with the definitions of a file, in the order of their paths. A file that cannot be
// decoded is a finding too.
func Check(ctx context.Context, f File) []Finding {
	definitions, err := decode(f)
	if wrong, ok := errors.AsType[*shapeError](err); ok {
		return []Finding{{File: f.Name, Definition: wrong.definition, Path: wrong.path, Message: wrong.message, Refused: true}}
	}
	if err != nil {
		return []Finding{{File: f.Name, Message: err.Error(), Refused: true}}
	}
	var findings []Finding
	for _, d := range definitions {
		findings = append(findings, check(ctx, f.Name, d)...)
	}
	return findings
}

// newScheme knows the internal form and v1.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensions.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}

func check(ctx context.Context, file string, d definition) []Finding {
	c := checker{ctx: ctx, file: file, definition: d}
	internal, err := d.prepared()
	if err != nil {
		c.refuse("", "", err.Error(), "")
		return c.findings
	}
	c.validate(internal)
	c.look()
	slices.SortStableFunc(c.findings, compareFindings)
	return slices.Compact(c.findings)
}

// compareFindings puts what is refused first, and orders by path: the API server goes through maps.
func compareFindings(a, b Finding) int {
	return cmp.Or(compareBool(b.Refused, a.Refused), strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
}

// prepared is the definition as the API server has it when it validates it on create.
func (d definition) prepared() (*apiextensions.CustomResourceDefinition, error) {
	scheme := newScheme()
	in := d.object.DeepCopy()
	scheme.Default(in)
	out := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(in, out, nil); err != nil {
		return nil, fmt.Errorf("cannot be converted: %w", err)
	}
	out.Status = apiextensions.CustomResourceDefinitionStatus{}
	for _, v := range out.Spec.Versions {
		if v.Storage {
			out.Status.StoredVersions = []string{v.Name}
			break
		}
	}
	return out, nil
}

// checker collects the findings on one definition.
type checker struct {
	definition
	ctx      context.Context
	file     string
	findings []Finding
}

// refuse and warn add a finding; most have no reason.
func (c *checker) refuse(path, value, message string, reason Reason) {
	c.add(Finding{Path: path, Value: value, Message: message, Reason: reason, Refused: true})
}

func (c *checker) warn(path, value, message string, reason Reason) {
	c.add(Finding{Path: path, Value: value, Message: message, Reason: reason})
}

func (c *checker) add(f Finding) {
	f.File, f.Definition = c.file, c.object.Name
	c.findings = append(c.findings, f)
}

// validate has the API server's libraries look. They panic at a few definitions that no API server takes either: there
// it answers the request with an internal error.
func (c *checker) validate(internal *apiextensions.CustomResourceDefinition) {
	defer func() {
		if p := recover(); p != nil {
			c.refuse("", "", fmt.Sprintf("the API server's own validation fails: %v", p), "")
		}
	}()
	for _, e := range validation.ValidateCustomResourceDefinition(c.ctx, internal) {
		message := strings.ReplaceAll(strings.TrimSpace(describe(e)), "spec.validation.", "spec.versions[0].schema.")
		c.refuse(written(e.Field), shortValue(e.BadValue), message, reasonOf(e))
	}
}

// describe is an error without its path and value.
func describe(e *field.Error) string {
	switch {
	case e.Type == field.ErrorTypeRequired && e.Detail == "":
		return "required value is missing"
	case e.Detail == "":
		return strings.ToLower(e.Type.String())
	case e.Type == field.ErrorTypeNotSupported || e.Type == field.ErrorTypeDuplicate:
		return strings.ToLower(e.Type.String()) + ": " + e.Detail
	}
	return e.Detail
}

// longest is the length of the longest value that is worth repeating.
const longest = 200

// shortValue is a value that tells its reader something: texts and numbers, no structures.
func shortValue(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) <= longest {
			return v
		}
	case *string:
		if v != nil {
			return shortValue(*v)
		}
	case bool, int, int32, int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// hoisted are the parts that the internal form has once when all versions agree on them.
var hoisted = map[string]string{
	"validation":               "schema",
	"version":                  "name",
	"subresources":             "subresources",
	"additionalPrinterColumns": "additionalPrinterColumns",
	"selectableFields":         "selectableFields",
}

// written is a path of the internal form as a path in the file.
func written(path string) string {
	rest, ok := strings.CutPrefix(path, "spec.")
	if !ok {
		return path
	}
	end := strings.IndexAny(rest, ".[")
	if end < 0 {
		end = len(rest)
	}
	if name, ok := hoisted[rest[:end]]; ok {
		return "spec.versions[0]." + name + rest[end:]
	}
	return path
}
