package schema

import (
	"errors"
	"fmt"
	"slices"
)

type (
	listType   string
	listMapKey string
	mapType    string
	structType string
)

func (m listType) modify(s *Schema, _ context) error {
	if err := needsList(s); err != nil {
		return err
	}
	if m != "map" && m != "set" && m != "atomic" {
		return fmt.Errorf("expected map, set or atomic, found %q", string(m))
	}
	s.ListType = string(m)
	return nil
}

func (listType) rank() rank { return early } // keys look at it

func (m listMapKey) modify(s *Schema, c context) error {
	if err := needsList(s); err != nil {
		return err
	}
	if s.ListType != "map" {
		return errors.New("needs +listType=map, too")
	}
	if !c.edition().KeysOnce || !slices.Contains(s.ListMapKeys, string(m)) { // k8s:listMapKey may say it again
		s.ListMapKeys = append(s.ListMapKeys, string(m))
	}
	return nil
}

func (m mapType) modify(s *Schema, _ context) error {
	if err := needsObject(s); err != nil {
		return err
	}
	return setMapType(s, string(m))
}

func (m structType) modify(s *Schema, _ context) error {
	if s.Type != "" { // of a reference it is not known yet
		if err := needsObject(s); err != nil {
			return err
		}
	}
	return setMapType(s, string(m))
}

func setMapType(s *Schema, value string) error {
	if value != "atomic" && value != "granular" {
		return fmt.Errorf("expected granular or atomic, found %q", value)
	}
	s.MapType = value
	return nil
}
