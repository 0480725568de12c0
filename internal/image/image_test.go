package image_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestProgramConsistsOfItsFolders: a change anywhere else must not have made another program, for nobody would compile
// that. The list is the one of package program.
func TestProgramConsistsOfItsFolders(t *testing.T) {
	const module = "github.com/slipway-dev/slipway/"
	out, err := exec.Command("go", "list", "-deps", module+"cmd/slipway-image").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		dir, ours := strings.CutPrefix(strings.TrimSpace(path), module)
		if !ours || strings.HasPrefix(dir+"/", "internal/image/") {
			continue
		}
		switch dir {
		case "cmd/slipway-image", "internal/report", "internal/atomicfile", "internal/diskspace", "internal/git", "internal/gocommand", "internal/lazy", "internal/sourcedate":
		default:
			t.Errorf("slipway-image consists of %s, too", dir)
		}
	}
}
