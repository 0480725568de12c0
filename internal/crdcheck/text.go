package crdcheck

import (
	"fmt"
	"strings"
)

// Off reports whether the user wants no checks: SLIPWAY_CHECK=off.
func Off(getenv func(string) string) bool { return getenv("SLIPWAY_CHECK") == "off" }

// String says what is wrong, and where in the definition.
func (f Finding) String() string {
	text := f.Definition
	if place := Place(f.Path); place != "" {
		text += ": " + place
	}
	if f.Value != "" && !strings.Contains(f.Message, f.Value) {
		text += fmt.Sprintf(" %q", f.Value)
	}
	if text == "" {
		return f.Message
	}
	return text + ": " + f.Message
}

// String says what changed, and where in the definition.
func (c Change) String() string {
	text := c.Definition
	if c.Version != "" {
		text += " " + c.Version
	}
	if c.Field != "" {
		text += " " + c.Field
	}
	return text + ": " + c.Message
}

// schemaRoot is where the schema of a version begins.
const schemaRoot = ".schema.openAPIV3Schema"

// Place is a path as users see their objects, what the schema says about the place behind it:
// spec.parts[].name maxLength. Paths outside of schemas stay as they are.
func Place(path string) string {
	_, rest, ok := strings.Cut(path, schemaRoot)
	if !ok {
		return path
	}
	var place strings.Builder
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, ".properties["):
			name, after, _ := strings.Cut(strings.TrimPrefix(rest, ".properties["), "]")
			place.WriteString("." + name)
			rest = after
		case strings.HasPrefix(rest, ".items"):
			place.WriteString("[]")
			rest = strings.TrimPrefix(rest, ".items")
		case strings.HasPrefix(rest, ".additionalProperties"):
			place.WriteString("{}")
			rest = strings.TrimPrefix(rest, ".additionalProperties")
		default:
			return strings.TrimSpace(strings.TrimPrefix(place.String(), ".") + " " + strings.TrimPrefix(rest, "."))
		}
	}
	return strings.TrimPrefix(place.String(), ".")
}
