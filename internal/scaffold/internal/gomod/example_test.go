package gomod

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestExampleModules: the example requires the modules of a new project in their versions,
// and those of its author's besides.
func TestExampleModules(t *testing.T) {
	mod, err := Read(fileview.Disk("../../../../examples/cronjob"))
	if err != nil {
		t.Fatal(err)
	}
	_, pinned, err := pinnedModules("go.mod", mod.Path())
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range mod.file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range pinned.Require {
		if got := versions[r.Mod.Path]; got != r.Mod.Version {
			t.Errorf("the example requires %s %q, a new project %s", r.Mod.Path, got, r.Mod.Version)
		}
	}
}
