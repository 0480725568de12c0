package model

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// schemaMark begins the text that replaces a schema.
const schemaMark = "slipway-mark-of-a-schema-q7x-"

// schemas hides the schemas of CRDs from kustomize: they are most of its input and irrelevant to it. With them, a chart
// of a hundred kinds takes seconds. A mark replaces each schema, which show restores in the built object.
type schemas struct {
	off    bool // a patch changes a schema: kustomize must see them
	byMark map[string]any
	files  map[string][]byte // with marks, by path
}

func newSchemas(off bool) *schemas {
	return &schemas{off: off, byMark: map[string]any{}, files: map[string][]byte{}}
}

// hide returns a file with marks in place of schemas.
func (s *schemas) hide(path string, text []byte) []byte {
	if s.off || !bytes.Contains(text, []byte("\nkind: CustomResourceDefinition\n")) || !bytes.Contains(text, []byte("openAPIV3Schema:")) {
		return text
	}
	if hidden, ok := s.files[path]; ok {
		return hidden
	}
	s.files[path] = s.marked(text)
	return s.files[path]
}

// marked replaces the schemas in a CRD. A file with several documents stays as it is.
func (s *schemas) marked(text []byte) []byte {
	if bytes.Contains(bytes.TrimPrefix(text, []byte("---\n")), []byte("\n---")) {
		return text
	}
	crd := map[string]any{}
	data, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = json.Unmarshal(data, &crd) // keeps whole numbers
	}
	if err != nil {
		return text // kustomize reports the mistake
	}
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		if hidden, ok := schema["openAPIV3Schema"]; ok {
			mark := fmt.Sprintf("%s%d-", schemaMark, len(s.byMark))
			s.byMark[mark] = hidden
			schema["openAPIV3Schema"] = map[string]any{"description": mark}
		}
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return text
	}
	return out
}

// show restores the schemas in a built object. It returns false if a patch changed a mark.
func (s *schemas) show(object *tree.Map) bool {
	for _, version := range object.At("spec").List("versions").Maps() {
		schema := version.At("schema")
		hidden := schema.At("openAPIV3Schema")
		if hidden == nil || len(hidden.Fields) != 1 || !hidden.Fields[0].When.Always() {
			continue
		}
		if full, ok := s.byMark[hidden.Text("description")]; ok {
			schema.Find("openAPIV3Schema").Value = tree.Literal(full)
		}
	}
	return !has(object, schemaMark)
}

func has(n tree.Node, text string) bool {
	switch n := n.(type) {
	case tree.Scalar:
		s, _ := n.Value.(string)
		return strings.Contains(s, text)
	case *tree.Map:
		for _, f := range n.Fields {
			if has(f.Value, text) {
				return true
			}
		}
	case *tree.List:
		for _, i := range n.Items {
			if has(i.Value, text) {
				return true
			}
		}
	}
	return false
}
