package projectfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// described is a project with entries of kinds, and files.
const described = `-- PROJECT --
domain: example.com
layout:
- go.kubebuilder.io/v4
projectName: op
repo: example.com/op
resources:
- api:
    crdVersion: v1
  domain: example.com
  group: ship
  kind: Frigate
  path: example.com/op/api/v1
  version: v1
- api:
    crdVersion: v1
  domain: example.com
  group: config
  kind: Configuration
  path: example.com/op/api/config/v1
  version: v1
- api:
    crdVersion: v1
  domain: example.com
  group: gone
  kind: Gone
  version: v2
- api:
    crdVersion: v1
  domain: example.com
  group: other
  kind: Other
  path: example.org/other/api/v1
  version: v1
- controller: true
  core: true
  group: apps
  kind: Deployment
  path: k8s.io/api/apps/v1
  version: v1
version: "3"
-- api/config/v1/types.go --
package v1

type Configuration struct {
	metav1.TypeMeta
}
`

const frigate = "package v1\n\ntype Frigate struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"

// TestFollowsCode: types that were moved are found, and the API group is the one that their package says.
func TestFollowsCode(t *testing.T) {
	for _, test := range []struct{ name, files, path, group string }{
		{"in place", "-- api/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"in a file of another name", "-- api/v1/all.go --\n" + frigate + "-- old/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"moved", "-- api/ship/v1/frigate_types.go --\n// +groupName=ships.io\n" + frigate, "example.com/op/api/ship/v1", "ships.io"},
		{"a group in quotes", "-- api/v1/all.go --\n// +groupName:=\"ships.io\"\n" + frigate, "example.com/op/api/v1", "ships.io"},
		{"a group beside the types", "-- api/v1/all.go --\n" + frigate + "\n// +groupName=`ships.io`\n", "example.com/op/api/v1", "ships.io"},
		{"into the module cache", "-- go/pkg/mod/example.org/x@v1.0.0/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"to another name", "-- apis/ship/v1/frigate_types.go --\n" + frigate, "example.com/op/apis/ship/v1", "ship.example.com"},
		{"to two places", "-- a/v1/frigate_types.go --\n" + frigate + "-- b/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"to where go looks for no packages", "-- _old/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"to where tools may be, too", "-- bin/v1/frigate_types.go --\n" + frigate, "example.com/op/bin/v1", "ship.example.com"},
		{"into another module", "-- vendor/v1/frigate_types.go --\n" + frigate, "example.com/op/api/v1", "ship.example.com"},
		{"to another version", "-- api/ship/v2/frigate_types.go --\n" + strings.Replace(frigate, "v1", "v2", 1), "example.com/op/api/v1", "ship.example.com"},
		{"nowhere", "", "example.com/op/api/v1", "ship.example.com"},
	} {
		root := t.TempDir()
		projecttest.Unpack(t, root, described+test.files)
		_, file, err := projectfile.Open(fileview.Disk(root))
		if err != nil {
			t.Fatal(err)
		}
		if r := file.Resources[0]; r.Path != test.path || r.QualifiedGroup() != test.group {
			t.Errorf("%s: the kind is in %s, of the group %s", test.name, r.Path, r.QualifiedGroup())
		}
	}
}

// TestGroups: kinds that are no objects, whose types are gone, or which are of another module have no group here.
func TestGroups(t *testing.T) {
	root := t.TempDir()
	projecttest.Unpack(t, root, described+"-- api/v1/frigate_types.go --\n"+frigate)
	p, file, err := projectfile.Open(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	if got := projectfile.Groups(p, file); !slices.Equal(got, []string{"ship"}) {
		t.Errorf("the groups are %v", got)
	}
}
