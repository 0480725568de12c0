package settings

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Values are settings with what they are for, in the order in which they are shown.
type Values struct{ keys []*setting }

// A setting is one value, or a group of settings.
type setting struct {
	key     string
	comment string
	literal any
	group   *Values // instead of literal
}

// Set adds a setting; path is its keys with dots between them.
func (v *Values) Set(path, comment string, literal any) {
	s := v.at(path)
	s.comment, s.literal = comment, literal
}

// Describe says what a group of settings is for.
func (v *Values) Describe(path, comment string) {
	s := v.at(path)
	s.comment = comment
	if s.group == nil {
		s.group = &Values{}
	}
}

// Get is the literal of a setting; ok is false if there is no such one.
func (v *Values) Get(path string) (literal any, ok bool) {
	key, rest, deeper := strings.Cut(path, ".")
	i := slices.IndexFunc(v.keys, func(s *setting) bool { return s.key == key })
	switch {
	case i < 0:
		return nil, false
	case deeper && v.keys[i].group != nil:
		return v.keys[i].group.Get(rest)
	}
	return v.keys[i].literal, !deeper && v.keys[i].group == nil
}

// Change gives a setting another literal.
func (v *Values) Change(path string, literal any) { v.at(path).literal = literal }

// Add adds a setting to a group, or to the top if group is empty; its key may have dots. To a group of the same name it
// adds what a mapping has.
func (v *Values) Add(group, key, comment string, literal any) {
	in := v
	if group != "" {
		s := v.at(group)
		if s.group == nil {
			s.group = &Values{}
		}
		in = s.group
	}
	i := slices.IndexFunc(in.keys, func(s *setting) bool { return s.key == key })
	if i < 0 {
		in.keys = append(in.keys, &setting{key: key, comment: comment, literal: literal})
		return
	}
	more, ok := literal.(map[string]any)
	if in.keys[i].group == nil || !ok {
		in.keys[i].literal = literal
		return
	}
	for _, inner := range slices.Sorted(maps.Keys(more)) {
		in.keys[i].group.Add("", inner, "", more[inner])
	}
}

// at is the setting of a path, which is added if it is not there.
func (v *Values) at(path string) *setting {
	key, rest, deeper := strings.Cut(path, ".")
	i := slices.IndexFunc(v.keys, func(s *setting) bool { return s.key == key })
	if i < 0 {
		i = len(v.keys)
		v.keys = append(v.keys, &setting{key: key})
	}
	s := v.keys[i]
	if !deeper {
		return s
	}
	if s.group == nil {
		s.group = &Values{}
	}
	return s.group.at(rest)
}

// YAML is the text of values.yaml: each setting below its comment.
func (v *Values) YAML() (string, error) {
	var out strings.Builder
	err := v.write(&out, "")
	return out.String(), err
}

func (v *Values) write(out *strings.Builder, indent string) error {
	for i, s := range v.keys {
		if i > 0 && indent == "" {
			out.WriteByte('\n')
		}
		if s.comment != "" {
			for line := range strings.SplitSeq(s.comment, "\n") {
				fmt.Fprintf(out, "%s# %s\n", indent, line)
			}
		}
		if s.group != nil {
			fmt.Fprintf(out, "%s%s:\n", indent, s.key)
			if err := s.group.write(out, indent+"  "); err != nil {
				return err
			}
			continue
		}
		if err := s.write(out, indent); err != nil {
			return err
		}
	}
	return nil
}

// write writes a setting.
func (s *setting) write(out *strings.Builder, indent string) error {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{s.key: s.literal}); err != nil {
		return fmt.Errorf("write the value of %s: %w", s.key, err)
	}
	for line := range strings.Lines(text.String()) {
		if line != "\n" {
			line = indent + line
		}
		out.WriteString(line)
	}
	return nil
}
