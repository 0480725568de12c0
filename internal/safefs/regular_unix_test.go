//go:build unix

package safefs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// TestReadFile: what has an end is read and copied, by whatever link, and nothing else.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink("file", at("link")), os.Symlink("/dev/zero", at("zero")), syscall.Mkfifo(at("pipe"), 0o600),
		os.WriteFile(at("long"), nil, 0o600), os.Truncate(at("long"), 1<<40), os.Mkdir(at("folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{"file": nil, "link": nil, "zero": safefs.ErrNoFile, "pipe": safefs.ErrNoFile, "long": safefs.ErrLarge, "folder": syscall.EISDIR, "none": fs.ErrNotExist} {
		text, err := safefs.ReadFile(at(name))
		if !errors.Is(err, want) || (err == nil) != (string(text) == "text") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		var copied strings.Builder
		if err := safefs.CopyTo(&copied, at(name)); !errors.Is(err, want) || (err == nil) != (copied.String() == "text") {
			t.Errorf("%s is copied: %q, %v", name, copied.String(), err)
		}
	}
}
