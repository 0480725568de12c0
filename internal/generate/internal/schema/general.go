package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

type (
	enum             []any
	format           string
	jsonType         string
	nullable         struct{}
	preserveUnknown  struct{}
	embeddedResource struct{}
	intOrString      struct{}

	defaultValue struct {
		Value any `marker:"."`
	}
	example struct {
		Value any `marker:"."`
	}
	title struct {
		Value any `marker:"."`
	}
	jsonDefault struct{ Value any }
)

func (m enum) modify(s *Schema, _ context) error {
	values := make([]json.RawMessage, len(m))
	for i, v := range m {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		values[i] = text
	}
	s.Enum = values
	return nil
}

func (m format) modify(s *Schema, _ context) error {
	s.Format = string(m)
	return nil
}

func (m jsonType) modify(s *Schema, _ context) error {
	s.Type = string(m)
	return nil
}

func (jsonType) rank() rank { return early }

func (nullable) modify(s *Schema, _ context) error {
	s.Nullable = true
	return nil
}

func (preserveUnknown) modify(s *Schema, _ context) error {
	s.PreserveUnknownFields = true
	return nil
}

func (embeddedResource) modify(s *Schema, _ context) error {
	s.EmbeddedResource = true
	return nil
}

func (intOrString) modify(s *Schema, _ context) error {
	s.IntOrString = true
	return nil
}

func (intOrString) rank() rank { return early }

func (m defaultValue) modify(s *Schema, _ context) error {
	text, err := json.Marshal(m.Value)
	if s.Type == "array" && string(text) == "{}" { // empty braces say either
		text = []byte("[]")
	}
	s.Default = text
	return err
}

// UnmarshalMarker implements [marker.Unmarshaler]. References to constants are
// left to the API server's own generators.
func (m *jsonDefault) UnmarshalMarker(_, text string) error {
	if strings.HasPrefix(strings.TrimSpace(text), "ref(") {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &m.Value); err != nil {
		return fmt.Errorf("%q is not JSON: %w", text, err)
	}
	return nil
}

func (m jsonDefault) modify(s *Schema, _ context) error {
	if m.Value == nil {
		return nil
	}
	text, err := json.Marshal(m.Value)
	s.Default = text
	return err
}

func (jsonDefault) rank() rank { return early } // kubebuilder's own wins

func (m example) modify(s *Schema, _ context) error {
	text, err := json.Marshal(m.Value)
	s.Example = text
	return err
}

func (m title) modify(s *Schema, _ context) error {
	text, ok := m.Value.(string)
	if !ok && m.Value != nil {
		return fmt.Errorf("expected a string, found %v", m.Value)
	}
	s.Title = text
	return nil
}

type externalDocs struct {
	URL         string `marker:"url" doc:"is where they are"`
	Description string `marker:",optional" doc:"says what they are"`
}

func (m externalDocs) modify(s *Schema, _ context) error {
	if _, err := url.ParseRequestURI(m.URL); err != nil {
		return fmt.Errorf("expected a URL, found %q", m.URL)
	}
	s.ExternalDocs = &ExternalDocs{URL: m.URL, Description: m.Description}
	return nil
}

// constantsEnum allows the values of the constants that are declared with the
// type.
type constantsEnum struct{}

func (constantsEnum) modify(s *Schema, c context) error {
	if !c.decl.Type().Underlying().IsBasic("string") {
		return errors.New("needs a type whose underlying type is string")
	}
	constants := c.decl.StringConstants()
	if len(constants) == 0 {
		return fmt.Errorf("the type %s has no constants", c.decl.Name())
	}
	s.Type = "string"
	s.Enum = nil
	for _, c := range constants {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		s.Enum = append(s.Enum, text)
	}
	slices.SortFunc(s.Enum, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
	return nil
}

// misplacedEnum is constantsEnum on a field.
type misplacedEnum struct{}

func (misplacedEnum) modify(*Schema, context) error {
	return errors.New("belongs on a type, not on a field")
}
