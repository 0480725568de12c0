package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/cluster/atomicfile"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"old and long", "new"} {
		if err := atomicfile.Write(path, []byte(text), text == "new"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := atomicfile.Write(filepath.Dir(path), nil, true); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
