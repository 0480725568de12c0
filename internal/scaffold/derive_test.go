package scaffold

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// TestDeriveWithWindowsLineEnds: line ends that version control has changed are no changes of the user's; they stay.
func TestDeriveWithWindowsLineEnds(t *testing.T) {
	root := newProject(t, Project{})
	derive := func(files map[string]string) {
		t.Helper()
		made := Derived{Folder: "dist/chart", Mark: "Chart.yaml", Files: map[string][]byte{}}
		for name, text := range files {
			made.Files[name] = []byte(text)
		}
		apply(t)(Derive(fileview.Disk(root), made))
	}
	derive(map[string]string{"Chart.yaml": "a\nb\nc\n", "gone.yaml": "x\ny\n"})
	for _, name := range []string{"Chart.yaml", "gone.yaml"} {
		path := filepath.Join(root, "dist/chart", name)
		must(t, os.WriteFile(path, bytes.ReplaceAll([]byte(read(t, root, "dist/chart/"+name)), []byte("\n"), []byte("\r\n")), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(root, "dist/chart/Chart.yaml"), []byte("a\r\nb\r\nmine\r\n"), 0o644))

	derive(map[string]string{"Chart.yaml": "new\nb\nc\n"})
	if got := read(t, root, "dist/chart/Chart.yaml"); got != "new\r\nb\r\nmine\r\n" {
		t.Errorf("the chart is %q", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(root, "dist/chart")); len(entries) != 1 {
		t.Errorf("what is made no more is still there: %v", entries)
	}
	before := read(t, root, ".slipway/base")
	derive(map[string]string{"Chart.yaml": "new\nb\nc\n"})
	if read(t, root, ".slipway/base") != before {
		t.Error("a second time changes the base")
	}
}
