package repotest_test

import (
	"path"
	"strings"
	"testing"
)

// rooms are the packages in which alone something is looked up, since two that did it might disagree.
var rooms = map[string]string{
	"os.UserCacheDir(": "internal/userdirs",
	"project.Find(":    "internal/operation",
}

// TestRootsAreFoundInOnePlace: where the caches are, and which project is meant.
func TestRootsAreFoundInOnePlace(t *testing.T) {
	found := map[string]bool{}
	for name, text := range goFiles(t) {
		if !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "cmd/") {
			continue
		}
		for call, room := range rooms {
			if !strings.Contains(text, call) {
				continue
			}
			found[call] = true
			if path.Dir(name) != room {
				t.Errorf("%s calls %s…): ask %s", name, call, room)
			}
		}
	}
	for call := range rooms {
		if !found[call] {
			t.Errorf("no package calls %s…)", call)
		}
	}
}
