package piece_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
)

// TestCovered: kubebuilder's commands find no covered section, and a list that begins among such sections goes on
// where its head waited. All of it comes out again.
func TestCovered(t *testing.T) {
	pieces := []interface {
		Insert(string, []byte) ([]byte, error)
		Remove([]byte) ([]byte, int)
	}{
		piece.Entry{List: "replacements", Text: "path: names.yaml"},
		piece.Covered{Section: entry("resources", "../webhook")},
		piece.Covered{Section: entry("patches", "off.yaml")},
		piece.Covered{Section: piece.Section{Of: features.Entry{List: "replacements", Item: "Service/*"}}},
		piece.Covered{Section: entry("patches", "on.yaml")},
	}
	src := []byte(sections)
	for _, p := range pieces {
		for range 2 { // a second time changes nothing
			var err error
			if src, err = p.Insert("kustomization.yaml", src); err != nil {
				t.Fatal(err)
			}
		}
	}
	const want = "## - ../webhook\n" + "## - path: off.yaml\n##   target:\n##     kind: Deployment\n" +
		"replacements:\n- path: names.yaml\n" +
		"##  - source: # Uncomment this for certificates\n##      kind: Service\n##      name: one\n##    targets:\n##      - select:\n##          kind: Certificate\n" +
		"##  - source:\n##      kind: Service\n##      name: two\n##    targets: # Keep the marker.\n# +kubebuilder:scaffold:marker\n"
	if diff := cmp.Diff(want, changed(sections, string(src))); diff != "" {
		t.Error(diff)
	}
	for _, p := range pieces {
		at := 0
		if src, at = p.Remove(src); at > 0 {
			t.Errorf("line %d is in the way", at)
		}
	}
	if diff := cmp.Diff(sections, string(src)); diff != "" {
		t.Errorf("afterwards: %s", diff)
	}
}
