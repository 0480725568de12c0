package projectfile_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestPropose: the domain is what the groups of the code's objects have in common, and leaves each of them a name.
func TestPropose(t *testing.T) {
	for _, test := range []struct {
		name, repo, groups string
		project, domain    string
		several, known     bool
	}{
		{"no code", "example.com/op", "", "op", "", false, false},
		{"one group", "example.com/Big_op/v2", "crew.x-k8s.io", "big-op", "x-k8s.io", false, true},
		{"a group below another", "example.com/op.d", "crew.x-k8s.io visibility.crew.x-k8s.io", "op-d", "x-k8s.io", true, true},
		{"two groups", "example.com/op", "crew.ship.example.com harbour.ship.example.com", "op", "ship.example.com", true, true},
		{"groups of two domains", "example.com/op", "crew.ship.com harbour.sea.com", "op", "ship.com", true, true},
		{"a group without a domain", "example.com/op", "crew", "op", "", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			files := "-- config/v1/types.go --\n// +groupName=config.other.org\npackage v1\n\ntype Configuration struct {\n\tmetav1.TypeMeta\n}\n"
			for group := range strings.FieldsSeq(test.groups) {
				files += "-- apis/" + group + "/v1/types.go --\n// +groupName=" + group + "\npackage v1\n\ntype Job struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"
			}
			projecttest.Unpack(t, root, files)
			file, known, err := projectfile.Propose(root, test.repo)
			if err != nil || file.Name != test.project || file.Domain != test.domain || file.MultiGroup != test.several || known != test.known {
				t.Errorf("got %+v, %v, %v", file, known, err)
			}
		})
	}
}
