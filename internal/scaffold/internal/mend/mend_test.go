package mend

import (
	"testing"

	"github.com/slipway-dev/slipway/project"
)

// TestSuggestionIsQuoted: the names in a PROJECT file may be a stranger's, and the command is made to be copied.
func TestSuggestionIsQuoted(t *testing.T) {
	for _, c := range []struct {
		resource project.Resource
		want     string
	}{
		{project.Resource{Group: "ship", Version: "v1", Kind: "Frigate", Controller: true, API: &project.API{}},
			"slipway create api --group ship --version v1 --kind Frigate --resource --controller"},
		{project.Resource{Version: "v1", Kind: "Frigate", API: &project.API{}},
			"slipway create api --group '' --version v1 --kind Frigate --resource --controller=false"},
		{project.Resource{Group: "x; rm -rf ~", Version: "$(id)", Kind: "it's", API: &project.API{}},
			`slipway create api --group 'x; rm -rf ~' --version '$(id)' --kind 'it'\''s' --resource --controller=false`},
		{project.Resource{Group: "x; rm -rf ~"}, "slipway create api"},
	} {
		if got := suggestion(&project.Project{Resources: []project.Resource{c.resource}}); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
