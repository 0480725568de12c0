package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// TestKilledFetch: what a killed pull has left of a layer goes with the next change, and garbage is found all the same.
func TestKilledFetch(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	put(t, s, "one", build(t, "one"))
	kept := blobs(t, s)
	left := filepath.Join(s.Dir, "layout", "blobs", "sha256", strings.Repeat("a", 64)+"123")
	if err := os.WriteFile(left, []byte("half a layer"), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := s.Read(t.Context()) // as a pull has it
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "two", build(t, "two"))
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a layer that is being pulled: %v", err)
	}
	release()
	if err := s.Remove(t.Context(), tag(t, "two")); err != nil {
		t.Fatal(err)
	}
	if got := blobs(t, s); got != kept {
		t.Errorf("%d blobs are left, and there were %d", got, kept)
	}
}

// TestFetch: an image whose contents were fetched is put without more, and gone without its name.
func TestFetch(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	put(t, s, "one", build(t, "one"))
	kept := blobs(t, s)
	img := build(t, "two")
	img.About = nil
	if err := s.Fetch(img); err != nil {
		t.Fatal(err)
	}
	fetched := blobs(t, s)
	put(t, s, "two", img)
	if got := blobs(t, s); got != fetched || got <= kept {
		t.Errorf("%d blobs after the name, %d before, %d without the image", got, fetched, kept)
	}
	if err := s.Remove(t.Context(), tag(t, "two")); err != nil {
		t.Fatal(err)
	}
	if got := blobs(t, s); got != kept {
		t.Errorf("%d blobs are left, and there were %d", got, kept)
	}
}
