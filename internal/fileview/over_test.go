package fileview_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestOver: files that are not written yet are there, those that will go are not, and so are folders.
func TestOver(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"Makefile", "api/v1/types.go", "api/v1/old.go"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("disk"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	view := fileview.Over(fileview.Disk(root), map[string][]byte{
		"Makefile": []byte("changed"), "api/v1/old.go": nil, "api/v2/deep/types.go": []byte("new"), "empty.go": {}, "gone": nil,
	})
	if err := fstest.TestFS(view, "Makefile", "api/v1/types.go", "api/v2/deep/types.go", "empty.go"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"Makefile": "changed", "api/v1/types.go": "disk", "api/v2/deep/types.go": "new", "empty.go": ""} {
		if got, err := view.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"api/v1/old.go", "gone", "api/v3"} {
		if there, err := fileview.Exists(view, name); there || err != nil {
			t.Errorf("%s: got %v, %v", name, there, err)
		}
	}
	if _, err := view.ReadDir("api/v3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
