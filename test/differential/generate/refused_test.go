package generate

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
)

// refusedFields are fields of a struct that controller-gen makes no definition of, whose place it does not always name.
var refusedFields = map[string]string{
	"infinite":            "\t// +kubebuilder:validation:Maximum=Inf\n\tA float64 `json:\"a\"`",
	"no number":           "\t// +kubebuilder:validation:Minimum=NaN\n\tA float64 `json:\"a\"`",
	"no whole number":     "\t// +kubebuilder:validation:Maximum=Inf\n\tA int `json:\"a\"`",
	"delete":              "\t// A\u007f is.\n\tA string `json:\"a\"`",
	"no character":        "\t// A\ufffe is.\n\tA string `json:\"a\"`",
	"control character":   "\t// A\u0081 is.\n\tA string `json:\"a\"`",
	"in a default":        "\t// +kubebuilder:default=\"\\x7f\"\n\tA string `json:\"a\"`",
	"in a rule":           "\t// +kubebuilder:validation:XValidation:rule=\"self != '\\x7f'\"\n\tA string `json:\"a\"`",
	"in a name":           "\tA string `json:\"a\u007f\"`",
	"line break":          "\tA string `json:\"a\u0085b\"`",
	"alias of a list":     "\tA Names `json:\"a\"`",
	"type parameter":      "\tA Of[string] `json:\"a\"`",
	"parameter of alias":  "\tA OfText `json:\"a\"`",
	"bound of other type": "\t// +kubebuilder:validation:MinProperties=1\n\tA metav1.ObjectMeta `json:\"a\"`",
}

// refusedKind is a package with a kind that has one of the fields.
const refusedKind = "// +groupName=x.example.com\npackage v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n" +
	"type Names = []string\n\ntype Of[T any] struct {\n\tB T `json:\"b\"`\n}\n\ntype OfText = Of[string]\n\n" +
	"// +kubebuilder:object:root=true\ntype Kind struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\n"

// refusedMarkers are markers of a package that no manifest can hold.
var refusedMarkers = map[string]string{
	"in a role":    "// +kubebuilder:rbac:groups=\"a\\x7f\",resources=b,verbs=get",
	"in a webhook": "// +kubebuilder:webhook:path=\"/a\\x7f\",mutating=false,failurePolicy=fail,sideEffects=None,groups=a,resources=b,verbs=create,versions=v1,name=v.a.b,admissionReviewVersions=v1",
}

// TestRefusesTheSame: what controller-gen fails for, slipway fails for, at its place in the code.
func TestRefusesTheSame(t *testing.T) {
	programs := testPrograms(t)
	base := readArchive(t, filepath.Join("testdata", "base.txt"))
	sources := map[string]string{}
	for name, field := range refusedFields {
		sources[name] = refusedKind + field + "\n}\n"
	}
	for name, marker := range refusedMarkers {
		sources[name] = "package v1\n\n" + marker + "\n\ntype A string\n"
	}
	arguments := []string{"crd:allowDangerousTypes=true", "rbac:roleName=manager", "webhook", "paths=./...", "output:dir=out"}
	place := regexp.MustCompile(`(?m)^v1/types\.go:\d+:\d+: error: `)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, base, &txtar.Archive{Files: []txtar.File{{Name: "v1/types.go", Data: []byte(source)}}})
			own := execute(t.Context(), t, dir, programs.Slipway, slices.Insert(slices.Clone(arguments), 0, "controller-gen")...)
			if peer := execute(t.Context(), t, dir, programs.Peer, arguments...); peer.code == 0 {
				t.Fatal("controller-gen takes it")
			}
			if own.code != 1 || !place.MatchString(own.output) {
				t.Errorf("status %d, want 1 and a place in the code:\n%s", own.code, own.output)
			}
		})
	}
}
