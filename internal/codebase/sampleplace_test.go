package codebase

import (
	"maps"
	"os"
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/project"
)

func TestSamplePlace(t *testing.T) {
	const captain, sailor, ship = "apiVersion: crew.example.com/v1\nkind: Captain\n", "apiVersion: crew.example.com/v2\nkind: Sailor\n", "apiVersion: fleet.example.com/v1\nkind: Ship\n"
	const usual, name = "config/samples/crew_v1_cook.yaml", "crew_v1_cook.yaml"
	for what, test := range map[string]struct {
		files map[string]string
		want  SamplePlace
	}{
		"no samples":           {nil, SamplePlace{File: usual, List: "config/samples/kustomization.yaml", Item: name}},
		"in the usual folder":  {map[string]string{"config/samples/captain.yaml": captain, "config/samples/Kustomization": "resources: [captain.yaml]\n"}, SamplePlace{File: usual, List: "config/samples/Kustomization", Item: name}},
		"unlisted there":       {map[string]string{"config/samples/captain.yaml": captain}, SamplePlace{File: usual}},
		"of the version":       {map[string]string{"config/samples/a/captain.yaml": captain, "config/samples/b/sailor.yaml": sailor}, SamplePlace{File: "config/samples/a/" + name}},
		"of the group":         {map[string]string{"config/samples/crew/sailor.yaml": sailor, "config/samples/fleet/ship.yaml": ship}, SamplePlace{File: "config/samples/crew/" + name}},
		"for another version":  {map[string]string{"config/samples/crew/v2/sailor.yaml": sailor}, SamplePlace{File: usual, Apart: []string{"config/samples/crew/v2"}}},
		"in several folders":   {map[string]string{"config/samples/a/captain.yaml": captain, "config/samples/b/captain.yaml": captain}, SamplePlace{File: usual, Apart: []string{"config/samples/a", "config/samples/b"}}},
		"of other groups":      {map[string]string{"config/samples/fleet/ship.yaml": ship}, SamplePlace{File: usual, Apart: []string{"config/samples/fleet"}}},
		"of a foreign group":   {map[string]string{"config/samples/x/role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"}, SamplePlace{File: usual}},
		"no objects":           {map[string]string{"config/samples/x/a.yaml": "[", "config/samples/x/b.yaml": "a: b\n", "config/samples/x/README.md": captain}, SamplePlace{File: usual}},
		"there under its name": {map[string]string{"config/samples/x/" + name: captain, "config/samples/y/captain.yaml": captain}, SamplePlace{File: "config/samples/x/" + name}},
		"listed from above": {map[string]string{"config/samples/v1/captain.yaml": captain, "config/samples/kustomization.yaml": "resources: [v1/captain.yaml]\n"},
			SamplePlace{File: "config/samples/v1/" + name, List: "config/samples/kustomization.yaml", Item: "v1/" + name}},
		"beside a patch": {map[string]string{
			"config/samples/v1/captain.yaml": captain, "config/samples/v1/kustomization.yaml": "resources: [captain.yaml]\n",
			"config/samples/dev/captain.yaml": captain, "config/samples/dev/kustomization.yaml": "resources: [../v1]\npatches: [{path: captain.yaml}]\n",
		}, SamplePlace{File: "config/samples/v1/" + name, List: "config/samples/v1/kustomization.yaml", Item: name}},
	} {
		t.Run(what, func(t *testing.T) {
			all := map[string]string{"go.mod": "module example.com/op\n"}
			maps.Copy(all, test.files)
			cook := project.Resource{Group: "crew", Domain: "example.com", Version: "v1", Kind: "Cook"}
			file := &project.Project{Resources: []project.Resource{cook, {Group: "fleet", Domain: "example.com", Version: "v1", Kind: "Ship"}}}
			if got, err := Read(projectOf(t, all), os.Getenv).SamplePlace(file, cook); err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}
