package regenerate

import (
	"slices"
	"testing"
)

// TestCovered: folders are matched against the patterns of a run where the run is, which may be a folder of the
// project.
func TestCovered(t *testing.T) {
	for _, test := range []struct {
		dir      string
		patterns []string
		folder   string
		want     []string
	}{
		{"", []string{"./..."}, "api/v1", []string{"./api/v1"}},
		{"", []string{"..."}, "api/v1", []string{"./api/v1"}},
		{"", []string{"./api/..."}, "api/v1", []string{"./api/v1"}},
		{"", []string{"./api/..."}, "apis/v1", nil},
		{"", []string{"./api"}, "api/v1", nil},
		{"", []string{"./pkg", "./api/v1/"}, "api/v1", []string{"./api/v1"}},
		{"api", []string{"./..."}, "api/v1", []string{"./v1"}},
		{"api", []string{"./..."}, "internal", nil},
		{"", []string{"example.com/op/..."}, "api/v1", nil},
	} {
		got := planned{dir: test.dir, paths: test.patterns}.covered([]string{test.folder})
		if !slices.Equal(got, test.want) {
			t.Errorf("in %q %q covers %q as %q, not %q", test.dir, test.patterns, test.folder, got, test.want)
		}
	}
}
