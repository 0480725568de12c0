package crd

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/generate/source"
)

// modifier is the value of a marker that changes the definition, in the version
// whose type it stands at.
type modifier interface {
	modify(d *definition, v *version) error
}

// modifierOf is the modifier that a marker's value is.
func modifierOf(data any) (m modifier, is bool) {
	switch d := data.(type) {
	case source.Resource:
		return resource(d), true
	case source.StorageVersion:
		return storageVersion(d), true
	case source.StatusSubresource:
		return statusSubresource(d), true
	}
	m, is = data.(modifier)
	return m, is
}

// markers are made once: several generators read them, and reflection makes them.
var markers = sync.OnceValue(func() []marker.Definition {
	const on = marker.Type
	return slices.Clip(append(schema.Definitions(), marker.In("CRD", append(source.TypeDefinitions(),
		marker.Define[scale]("kubebuilder:subresource:scale", on, "lets the resource be scaled"),
		marker.Define[printColumn]("kubebuilder:printcolumn", on, "adds a column to the output of kubectl get"),
		marker.Define[skipVersion]("kubebuilder:skipversion", on, "leaves out this version"),
		marker.Define[unservedVersion]("kubebuilder:unservedversion", on, "does not serve this version"),
		marker.Define[deprecatedVersion]("kubebuilder:deprecatedversion", on, "makes the API server warn clients that use this version"),
		marker.Define[metadata]("kubebuilder:metadata", on, "adds annotations and labels to the definition"),
		marker.Define[selectableField]("kubebuilder:selectablefield", on, "allows field selectors with this field"),
	)...)...))
})

type (
	statusSubresource source.StatusSubresource
	storageVersion    source.StorageVersion
	skipVersion       struct{}
	unservedVersion   struct{}
)

func (statusSubresource) modify(_ *definition, v *version) error {
	v.HasSubresources, v.Status = true, true
	return nil
}

func (storageVersion) modify(_ *definition, v *version) error {
	v.Storage = true
	return nil
}

func (skipVersion) modify(_ *definition, v *version) error {
	v.skipped = true
	return nil
}

func (unservedVersion) modify(_ *definition, v *version) error {
	v.Served = false
	return nil
}

type scale struct {
	SpecPath     string  `marker:"specpath" doc:"is the JSON path of the number of replicas that is asked for"`
	StatusPath   string  `marker:"statuspath" doc:"is the JSON path of the number of replicas that there are"`
	SelectorPath *string `marker:"selectorpath" doc:"is the JSON path of the selector of pods, as a string"`
}

func (m scale) modify(_ *definition, v *version) error {
	v.HasSubresources, v.Scale = true, &m
	return nil
}

type printColumn struct {
	Name        string `doc:"is the column's heading"`
	Type        string `doc:"is the OpenAPI type of what it shows"`
	JSONPath    string `marker:"JSONPath" doc:"leads to what it shows"`
	Description string `marker:",optional" doc:"says what it shows"`
	Format      string `marker:",optional" doc:"refines the type, like int64 or date-time"`
	Priority    int32  `marker:",optional" doc:"is greater than 0 for columns that only kubectl get -o wide shows"`
}

func (m printColumn) modify(_ *definition, v *version) error {
	v.HasSubresources = true
	v.Columns = append(v.Columns, m)
	return nil
}

type resource source.Resource

func (m resource) modify(d *definition, _ *version) error {
	if m.Path != "" {
		d.Plural = m.Path
	}
	if m.Singular != "" {
		d.Singular = m.Singular
	}
	d.ShortNames, d.Categories, d.Scope = m.ShortName, m.Categories, m.Scope
	if m.Scope == "" {
		d.Scope = namespaced
	}
	return nil
}

type deprecatedVersion struct {
	Warning *string `marker:",optional" doc:"is the text of the warning"`
}

func (m deprecatedVersion) modify(_ *definition, v *version) error {
	v.Deprecated, v.Warning = true, m.Warning
	return nil
}

type metadata struct {
	Annotations []string `marker:",optional" doc:"are annotations, as key=value"`
	Labels      []string `marker:",optional" doc:"are labels, as key=value"`
}

func (m metadata) modify(d *definition, _ *version) error {
	if err := addPairs(&d.Annotations, "annotation", m.Annotations); err != nil {
		return err
	}
	return addPairs(&d.Labels, "label", m.Labels)
}

func addPairs(to *map[string]string, what string, pairs []string) error {
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("expected the %s as key=value, found %q", what, pair)
		}
		if *to == nil {
			*to = make(map[string]string)
		}
		(*to)[key] = value
	}
	return nil
}

type selectableField struct {
	JSONPath string `marker:"JSONPath" doc:"leads to the field"`
}

func (m selectableField) modify(_ *definition, v *version) error {
	v.Selectable = append(v.Selectable, m.JSONPath)
	return nil
}
