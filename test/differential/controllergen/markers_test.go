package controllergen

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

// programs are the paths of both programs, each called controller-gen.
type programs struct{ ours, peer string }

func buildBoth(t *testing.T) programs {
	t.Helper()
	dir := t.TempDir()
	slipway, err := build.Slipway(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(t.TempDir(), "controller-gen")
	if err := os.Symlink(slipway, ours); err != nil {
		t.Fatal(err)
	}
	peer, err := build.ControllerGen(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return programs{ours, peer}
}

// generators are all of controller-gen, with the options that they need.
var generators = []string{"crd", "object", "rbac:roleName=r", "webhook", "schemapatch:manifests=.", "applyconfiguration"}

// group, markerDoc, field and shape are the JSON form of -wwww and -hhhh, without the words.
type (
	group struct {
		Category string      `json:"category"`
		Markers  []markerDoc `json:"markers"`
	}
	markerDoc struct {
		Name                string  `json:"name"`
		Target              string  `json:"target"`
		Category            string  `json:"category"`
		DeprecatedInFavorOf *string `json:"deprecatedInFavorOf"`
		Fields              []field `json:"fields"`
	}
	field struct {
		Name string `json:"name"`
		shape
	}
	shape struct {
		Type     string `json:"type"`
		Optional bool   `json:"optional"`
		ItemType *shape `json:"itemType"`
	}
)

// TestSameMarkers: each generator reads the same markers, at the same targets, with the same arguments.
func TestSameMarkers(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	both := buildBoth(t)
	for _, g := range generators {
		t.Run(g, func(t *testing.T) { compareDocs(t, both, g, "-wwww") })
	}
	t.Run("all", func(t *testing.T) { compareDocs(t, both, append(generators, "-wwww")...) })
}

// compareDocs compares what both programs tell in JSON: the set, as the peer's order changes from run to run.
func compareDocs(t *testing.T, both programs, args ...string) {
	t.Helper()
	ours, peers := docs(t, both.ours, args), docs(t, both.peer, args)
	if len(peers) == 0 {
		t.Fatalf("controller-gen %v tells nothing", args)
	}
	for name, want := range peers {
		if got := ours[name]; got != want {
			t.Errorf("%s:\n     ours: %s\n  peer's: %s", name, got, want)
		}
	}
	for name := range ours {
		if _, found := peers[name]; !found {
			t.Errorf("%s is ours only", name)
		}
	}
}

// docs are what a program tells, without the words, by heading, name and target.
func docs(t *testing.T, program string, args []string) map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(out, &groups); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, g := range groups {
		for _, m := range g.Markers {
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			found[g.Category+"/"+m.Name+"/"+m.Target] = string(text)
		}
	}
	return found
}
