package stock

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhole: a kubectl that was cut off is told by the note beside it, and nothing is said without a note or of another
// program.
func TestWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, sibling)
	if err := os.WriteFile(path, []byte("12345"), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"":                               true,
		"garbage":                        true,
		`{"files":{"other":{"size":6}}}`: true,
		`{"files":{"slipway-kubectl":{"size":5}}}`: true,
		`{"files":{"slipway-kubectl":{"size":6}}}`: false,
	} {
		if err := os.WriteFile(filepath.Join(dir, noteName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := whole(path); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
