package schema

import (
	"fmt"
	"strconv"
)

type (
	maxLength     int
	minLength     int
	pattern       string
	maxItems      int
	minItems      int
	uniqueItems   bool
	maxProperties int
	minProperties int
)

// UnmarshalMarker implements [marker.Unmarshaler].
func (m *maxItems) UnmarshalMarker(name, text string) error {
	text = argument(name, text)
	i, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("expected an integer, found %q", text)
	}
	*m = maxItems(i)
	return nil
}

// needsString checks that s is a string, or perhaps one.
func needsString(s *Schema, perhaps bool) error {
	if s.Type != "string" && !(s.IntOrString && perhaps) {
		return fmt.Errorf("needs a string, this is %s", typeName(s))
	}
	return nil
}

func needsList(s *Schema) error {
	if s.Type != "array" {
		return fmt.Errorf("needs a list, this is %s", typeName(s))
	}
	return nil
}

func needsObject(s *Schema) error {
	if s.Type != "object" {
		return fmt.Errorf("needs an object, this is %s", typeName(s))
	}
	return nil
}

func (m maxLength) modify(s *Schema, c context) error {
	s.MaxLength = new(int64(m))
	return needsString(s, c.edition().BoundedIntOrString)
}

func (m minLength) modify(s *Schema, c context) error {
	s.MinLength = new(int64(m))
	return needsString(s, c.edition().BoundedIntOrString)
}

func (m pattern) modify(s *Schema, _ context) error {
	s.Pattern = string(m)
	return needsString(s, true)
}

func (m maxItems) modify(s *Schema, _ context) error {
	s.MaxItems = new(int64(m))
	return needsList(s)
}

func (m minItems) modify(s *Schema, _ context) error {
	s.MinItems = new(int64(m))
	return needsList(s)
}

func (m uniqueItems) modify(s *Schema, _ context) error {
	s.UniqueItems = bool(m)
	return needsList(s)
}

func (m maxProperties) modify(s *Schema, _ context) error {
	s.MaxProperties = new(int64(m))
	return needsObject(s)
}

func (m minProperties) modify(s *Schema, _ context) error {
	s.MinProperties = new(int64(m))
	return needsObject(s)
}

// requiredSet also asks for something inside: a required field that may be
// empty is not worth much. Explicit bounds win.
type requiredSet struct{}

func (requiredSet) modify(s *Schema, c context) error {
	if !c.edition().FillRequired {
		return nil
	}
	field := (**int64)(nil)
	switch {
	case s.Type == "string":
		field = &s.MinLength
	case s.Type == "array":
		field = &s.MinItems
	case s.Type == "object", s.ref != nil: // whatever the type is that is referred to
		field = &s.MinProperties
	}
	if field != nil && *field == nil {
		*field = new(int64(1))
	}
	return nil
}
