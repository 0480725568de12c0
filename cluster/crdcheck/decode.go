package crdcheck

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// definition is a definition as its file has it.
type definition struct {
	object *apiextensionsv1.CustomResourceDefinition
	json   []byte // what a client would send
}

const kind = "CustomResourceDefinition"

// decode reads the definitions of a file.
func decode(f File) ([]definition, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(f.Content)))
	var definitions []definition
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return definitions, nil
		}
		if err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		d, err := decodeOne(document)
		if err != nil {
			return nil, err
		}
		if d != nil {
			definitions = append(definitions, *d)
		}
	}
}

// decodeOne returns nil for what is no definition.
func decodeOne(document []byte) (*definition, error) {
	if err := staysSmall(document); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	data, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(data, &meta); err != nil || meta.Kind != kind {
		return nil, nil // a list or a text is not what is looked for either
	}
	if want := apiextensionsv1.SchemeGroupVersion.String(); meta.APIVersion != want {
		return nil, fmt.Errorf("current API servers do not serve apiVersion %q: use %s", meta.APIVersion, want)
	}
	object := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, object); err != nil {
		return nil, misshapen(data, err)
	}
	return &definition{object: object, json: data}, nil
}

// A shapeError is a definition that has something else than the type has in a place.
type shapeError struct{ definition, path, message string }

func (e *shapeError) Error() string {
	return strings.TrimPrefix(e.definition+": "+e.path+": "+e.message, ": ")
}

// misshapen says where JSON is no definition, and what is expected there.
func misshapen(data []byte, err error) error {
	var named metav1.PartialObjectMetadata
	_ = yaml.Unmarshal(data, &named) // without a name if the metadata is misshapen
	wrong, is := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(data, &apiextensionsv1.CustomResourceDefinition{}))
	if !is {
		return &shapeError{named.Name, "", "not a " + kind + ": " + err.Error()}
	}
	has := map[string]string{"object": "a map", "array": "a list", "string": "a text", "bool": "true or false"}[wrong.Value]
	message := "a " + kind + " has " + shapeOf(wrong.Type) + " here, and not " + cmp.Or(has, wrong.Value)
	return &shapeError{named.Name, wrong.Field, message}
}

// shapeOf is what YAML has for a type.
func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "a map"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}
