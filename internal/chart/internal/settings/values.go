package settings

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Values are settings with their comments, in the order of values.yaml.
type Values struct{ keys []*setting }

// A setting is one value, or a group of settings.
type setting struct {
	key     string
	comment string
	literal any
	group   *Values // instead of literal
}

// Set sets a setting. Path is its keys, separated by dots.
func (v *Values) Set(path, comment string, literal any) {
	s := v.at(path)
	s.comment, s.literal = comment, literal
}

// Describe sets the comment of a group.
func (v *Values) Describe(path, comment string) {
	s := v.at(path)
	s.comment = comment
	if s.group == nil {
		s.group = &Values{}
	}
}

// Get returns the value of a setting; ok is false if there is none.
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

// Change changes the value of a setting.
func (v *Values) Change(path string, literal any) { v.at(path).literal = literal }

// Add adds a setting to a group, or to the top if group is "". The key may contain dots. If the key names a group, Add
// adds the fields of a mapping to that.
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

// at returns the setting of a path, and adds it if it is missing.
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

// YAML returns the text of values.yaml.
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
