package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate"
)

const locatable = `// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name=A,type=string,JSONPath=.a
// +kubebuilder:printcolumn:name=B,type=string,JSONPath=.b
// +kubebuilder:selectablefield:JSONPath=.spec.name
// +kubebuilder:resource:shortName=gd
type Gadget struct {
	metav1.TypeMeta   ''json:",inline"''
	metav1.ObjectMeta ''json:"metadata,omitempty"''
	Spec *Spec        ''json:"spec"''
}

// +kubebuilder:validation:XValidation:rule="self.name != ''"
// +kubebuilder:validation:ExactlyOneOf=name;alias
type Spec struct {
	Common ''json:",inline"''

	Alias string ''json:"alias,omitempty"''

	// +listType=map
	// +listMapKey=key
	Parts []Part ''json:"parts,omitempty"''

	// +kubebuilder:validation:items:Pattern="^(a"
	// +kubebuilder:validation:items:MaxLength=5
	Words []string ''json:"words,omitempty"''

	Names []Short ''json:"names,omitempty"''

	Index map[string]Part ''json:"index,omitempty"''
}

type Common struct {
	// +kubebuilder:validation:UniqueItems=true
	// +kubebuilder:default={b,a}
	Set []string ''json:"set,omitempty"''
	Name string ''json:"name,omitempty"''
}

type Part struct {
	Key string ''json:"key,omitempty"''
}

// +kubebuilder:validation:Pattern="^(b"
type Short string
`

// TestLocate goes back from places in a CRD to the code.
func TestLocate(t *testing.T) {
	dir := project(t)
	source := strings.ReplaceAll(locatable, "''json", "`json")
	source = strings.ReplaceAll(source, "\"''\n", "\"`\n")
	write(t, dir, "api/v1/gadget.go", source)
	result, err := generate.Run(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Log(f.Position, f.Message)
	}
	file := named(t, result.Files, "example.com_gadgets.yaml")
	const spec = "spec.versions[0].schema.openAPIV3Schema.properties[spec]"
	for path, want := range map[string]string{
		"spec.names.shortNames[0]":                              `+kubebuilder:resource`,
		"spec.versions[0].additionalPrinterColumns[1].jsonPath": `+kubebuilder:printcolumn:name=B`,
		"spec.versions[0].selectableFields[0].jsonPath":         `+kubebuilder:selectablefield`,
		"spec.group": `+groupName`,
		"metadata.annotations[api-approved.kubernetes.io]": `Gadget struct`,
		"":   `Gadget struct`,
		spec: "Spec *Spec",
		spec + ".x-kubernetes-validations[0].rule":                        `+kubebuilder:validation:XValidation`,
		spec + ".x-kubernetes-validations[1].rule":                        `+kubebuilder:validation:ExactlyOneOf`,
		spec + ".properties[set].uniqueItems":                             `+kubebuilder:validation:UniqueItems`,
		spec + ".properties[set].default":                                 `+kubebuilder:default`,
		spec + ".properties[set].default[0]":                              `+kubebuilder:default`,
		spec + ".properties[set].type":                                    `Set []string`,
		spec + ".properties[alias]":                                       `Alias string`,
		spec + ".properties[parts].x-kubernetes-list-type":                `+listType`,
		spec + ".properties[parts].x-kubernetes-list-map-keys":            `+listMapKey`,
		spec + ".properties[parts].items.properties[key].default":         `Key string`,
		spec + ".properties[words].items.pattern":                         `+kubebuilder:validation:items:Pattern`,
		spec + ".properties[words].maxLength":                             `Words []string`,
		spec + ".properties[names].items.pattern":                         `+kubebuilder:validation:Pattern="^(b"`,
		spec + ".properties[index].additionalProperties.properties[key]":  `Key string`,
		spec + ".properties[nowhere].type":                                "Spec *Spec",
		"spec.versions[0].schema.openAPIV3Schema.properties[spec].items[": "Spec *Spec",
	} {
		at, ok := file.Locate(path)
		if !ok {
			t.Fatal("a CRD has no source")
		}
		if got := textAt(t, filepath.Join(dir, at.File), at.Line, at.Column); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s: %q, want %q", path, at, got, want)
		}
	}
	if _, ok := named(t, result.Files, "role.yaml").Locate("spec"); ok {
		t.Error("a role has a source")
	}
}

func named(t *testing.T, files []generate.File, name string) generate.File {
	t.Helper()
	for _, f := range files {
		if filepath.Base(f.Path) == name {
			return f
		}
	}
	t.Fatalf("no file %s", name)
	return generate.File{}
}

// textAt is what follows a place on its line, after the signs of a comment.
func textAt(t *testing.T, path string, line, column int) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimLeft(lines[line-1][column-1:], "/ \t")
}
