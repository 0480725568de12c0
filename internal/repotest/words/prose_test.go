package words_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/prose"
)

// TestProseIsNarrow: lines of prose, in Go comments and Markdown, have at most 120 columns. Package prose says what is
// no prose.
func TestProseIsNarrow(t *testing.T) {
	files, err := prose.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 1000 {
		t.Errorf("found only %d files", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		long, err := prose.Long(file, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range long {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s:%d: a line of prose has more than %d columns: make reflow breaks it anew", name, line, prose.Width)
		}
	}
}
