package crdcheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
		return nil, fmt.Errorf("not a %s: %w", kind, err)
	}
	return &definition{object: object, json: data}, nil
}
