package safefs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/safefs"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"old and long", "new"} {
		if err := safefs.Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := safefs.Write(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestWriteFailsCleanly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := safefs.Write(path, nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestLinksStay(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	for _, text := range []string{"made", "replaced"} { // the link leads to nothing at first
		if err := safefs.Write(link, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(target); err != nil || string(got) != text {
			t.Errorf("target holds %q, %v", got, err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != "target" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if err := safefs.Write(loop, nil, 0o600); err == nil {
		t.Error("a link to itself is replaced")
	}
}

// TestSecretFollowsNoLink: a stranger's link leads a secret nowhere else, and an open file becomes a private one.
func TestSecretFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{link, target} {
		if err := safefs.WriteSecret(path, []byte("secret")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
		if got, err := os.ReadFile(target); err != nil || path == link && string(got) != "mine" {
			t.Errorf("the target holds %q, %v", got, err)
		}
	}
}
