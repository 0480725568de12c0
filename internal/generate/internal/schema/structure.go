package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

// ErrNoStructure is returned for a schema that has no form in which configurations are merged.
var ErrNoStructure = errors.New("no structure to merge by")

// The types that every structure has, for values of which nothing is known.
const (
	untypedAtomic  = "__untyped_atomic_"
	untypedDeduced = "__untyped_deduced_"
)

// rawExtension is a type whose values are taken as a whole.
const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

// Structure describes roots and all that they refer to as sigs.k8s.io/structured-merge-diff needs it to merge what is
// applied: the YAML that its typed.NewParser reads. The types are named by [DefinitionName]. What is known is what
// the known declarations refer to; a root that is not among that may be anything.
//
// The bytes are those that k8s.io/kube-openapi's schemaconv makes of the part of [Builder.OpenAPI] that roots need.
func (b *Builder) Structure(known, roots []*load.TypeDecl) ([]byte, error) {
	definitions := needed(b.definitions(known), roots)
	w := structure{Writer: yaml.NewWriter()}
	w.BeginMap()
	w.Key("types")
	w.BeginSeq()
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		if s := definitions[name]; s.ref == nil {
			if err := w.definition(name, s); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	w.common(untypedAtomic, func() { w.untyped(untypedAtomic, "atomic") })
	w.common(untypedDeduced, w.deduced)
	w.EndSeq()
	w.EndMap()
	return w.Bytes(), nil
}

// needed are the definitions of roots and of all that they refer to.
func needed(definitions map[string]*Schema, roots []*load.TypeDecl) map[string]*Schema {
	some := make(map[string]*Schema)
	todo := slices.Clone(roots)
	for len(todo) > 0 {
		name := DefinitionName(todo[0])
		todo = todo[1:]
		if some[name] != nil {
			continue
		}
		s := definitions[name]
		if s == nil {
			s = &Schema{}
		}
		some[name] = s
		todo = append(todo, s.references()...)
	}
	return some
}

// structure writes atoms: the keys scalar, list and map of the map begun last, of which a type has one if it is known.
type structure struct{ *yaml.Writer }

func (w structure) definition(name string, s *Schema) error {
	w.BeginMap()
	w.entry("name", name)
	err := w.atom(s, false)
	w.EndMap()
	return err
}

func (w structure) common(name string, atom func()) {
	w.BeginMap()
	w.entry("name", name)
	atom()
	w.EndMap()
}

func (w structure) entry(key, value string) {
	w.Key(key)
	w.String(value)
}

// nested is a key with a map.
func (w structure) nested(key string, inside func()) {
	w.Key(key)
	w.BeginMap()
	inside()
	w.EndMap()
}

// untyped may be anything: an unknown value is a whole, and the entries of maps are of a type and in a relationship.
func (w structure) untyped(entries, relationship string) {
	w.entry("scalar", "untyped")
	w.nested("list", func() {
		w.nested("elementType", func() { w.entry("namedType", untypedAtomic) })
		w.entry("elementRelationship", "atomic")
	})
	w.nested("map", func() {
		w.nested("elementType", func() { w.entry("namedType", entries) })
		w.entry("elementRelationship", relationship)
	})
}

func (w structure) deduced() { w.untyped(untypedDeduced, "separable") }

// atom writes what s is. Preserve says that objects keep the fields that they are not declared with.
func (w structure) atom(s *Schema, preserve bool) error {
	switch s.Type {
	case "":
		if len(s.Properties) > 0 {
			return w.object(s, preserve)
		}
		w.deduced()
	case "object":
		if len(s.Properties) > 0 {
			return w.object(s, preserve)
		}
		return w.mapping(s, preserve)
	case "array":
		return w.list(s, preserve)
	case "integer", "number":
		w.entry("scalar", "numeric")
	case "boolean":
		w.entry("scalar", "boolean")
	case "string":
		if s.Format != "" && s.Format != "byte" {
			w.entry("scalar", "untyped")
			return nil
		}
		w.entry("scalar", "string")
	default:
		return fmt.Errorf("%w: the type %q", ErrNoStructure, s.Type)
	}
	return nil
}

func (w structure) object(s *Schema, preserve bool) error {
	preserve = preserve || s.PreserveUnknownFields
	relationship, err := mapRelationship(s)
	if err != nil {
		return err
	}
	w.Key("map")
	w.BeginMap()
	defer w.EndMap()
	w.Key("fields")
	w.BeginSeq()
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := w.field(name, s.Properties[name], preserve); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	w.EndSeq()
	if preserve {
		w.nested("elementType", func() { w.entry("namedType", untypedDeduced) })
	}
	if relationship != "" {
		w.entry("elementRelationship", relationship)
	}
	return nil
}

func (w structure) field(name string, s *Schema, preserve bool) error {
	w.BeginMap()
	defer w.EndMap()
	if name != "" {
		w.entry("name", name)
	}
	if err := w.typ("type", s, preserve); err != nil || s.Default == nil {
		return err
	}
	return w.value(s.Default)
}

// value is a default. Its numbers are those of a float64, as JSON has them.
func (w structure) value(text json.RawMessage) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	if value == nil {
		return nil
	}
	value, err := oldBooleans(value)
	if err != nil {
		return fmt.Errorf("default: %w", err)
	}
	if text, err = json.Marshal(value); err != nil {
		return fmt.Errorf("default: %w", err)
	}
	w.Key("default")
	return w.JSON(text)
}

// oldBooleans is a value with the words that YAML 1.1 has for true and false in the place of texts: a default comes
// through a library that writes them without quotes.
func oldBooleans(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case string:
		if truth, old := oldBoolean(v); old {
			return truth, nil
		}
	case []any:
		for i := range v {
			if v[i], err = oldBooleans(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if _, old := oldBoolean(key); old {
				return nil, fmt.Errorf("%w: the key %s, which is a boolean to some", ErrNoStructure, key)
			}
			if v[key], err = oldBooleans(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func oldBoolean(word string) (truth, old bool) {
	switch word {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// typ is a key with a type: the name of one, or what it is.
func (w structure) typ(key string, s *Schema, preserve bool) error {
	w.Key(key)
	w.BeginMap()
	defer w.EndMap()
	if s.ref == nil {
		return w.atom(s, preserve)
	}
	name := DefinitionName(s.ref)
	if name == rawExtension {
		w.entry("namedType", untypedAtomic)
		return nil
	}
	relationship, err := mapRelationship(s)
	w.entry("namedType", name)
	if relationship != "" {
		w.entry("elementRelationship", relationship)
	}
	return err
}

func (w structure) mapping(s *Schema, preserve bool) error {
	relationship, err := mapRelationship(s)
	if err != nil {
		return err
	}
	element := &Schema{}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		element = a.Schema
	}
	w.Key("map")
	w.BeginMap()
	defer w.EndMap()
	if err := w.typ("elementType", element, preserve); err != nil {
		return err
	}
	if relationship != "" {
		w.entry("elementRelationship", relationship)
	}
	return nil
}

func (w structure) list(s *Schema, preserve bool) error {
	relationship, keys, err := listRelationship(s)
	switch {
	case err != nil:
		return err
	case s.Items == nil:
		return fmt.Errorf("%w: a list of nothing", ErrNoStructure)
	}
	w.Key("list")
	w.BeginMap()
	defer w.EndMap()
	if err := w.typ("elementType", s.Items, preserve); err != nil {
		return err
	}
	w.entry("elementRelationship", relationship)
	if len(keys) > 0 {
		w.Key("keys")
		w.BeginSeq()
		for _, key := range keys {
			w.String(key)
		}
		w.EndSeq()
	}
	return nil
}

func mapRelationship(s *Schema) (string, error) {
	switch s.MapType {
	case "":
		return "", nil
	case "atomic":
		return "atomic", nil
	case "granular":
		return "separable", nil
	}
	return "", fmt.Errorf("%w: maps of the type %q", ErrNoStructure, s.MapType)
}

func listRelationship(s *Schema) (relationship string, keys []string, err error) {
	switch {
	case s.ListType == "" || s.ListType == "atomic":
		return "atomic", nil, nil
	case s.ListType == "set":
		return "associative", nil, nil
	case s.ListType == "map" && len(s.ListMapKeys) > 0:
		for _, key := range s.ListMapKeys {
			if _, old := oldBoolean(key); old {
				return "", nil, fmt.Errorf("%w: the key %s, which is a boolean to some", ErrNoStructure, key)
			}
		}
		return "associative", s.ListMapKeys, nil
	}
	return "", nil, fmt.Errorf("%w: lists of the type %q without keys", ErrNoStructure, s.ListType)
}
