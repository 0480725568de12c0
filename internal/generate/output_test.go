package generate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestWriteAllOrNothing: when one file cannot be written, none is.
func TestWriteAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	first, blocked := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "file", "b.yaml")
	for path, text := range map[string]string{first: "old", filepath.Join(dir, "file"): "in the way"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := write(t.Context(), nil, []File{{Path: first, Action: report.Updated, Content: []byte("new")}, {Path: blocked, Action: report.Created}})
	if err == nil {
		t.Fatal("no error")
	}
	if text, err := os.ReadFile(first); err != nil || string(text) != "old" {
		t.Errorf("%q, %v: the first file was replaced", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: something was left behind", entries, err)
	}
}
