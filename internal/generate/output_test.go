package generate

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
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
	err := write(t.Context(), Options{}, []File{{Path: first, Action: report.Updated, Content: []byte("new")}, {Path: blocked, Action: report.Created}})
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

// TestHolds: a file is compared with its content however it comes, and up to its end.
func TestHolds(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 3<<10)
	for name, c := range map[string]struct {
		file, content string
		want          bool
	}{
		"empty":     {"", "", true},
		"same":      {long, long, true},
		"shorter":   {long[1:], long, false},
		"longer":    {long + "x", long, false},
		"other":     {long[:len(long)-1] + "x", long, false},
		"no file":   {"", "x", false},
		"no use":    {"x", "", false},
		"one piece": {"kind: CronJob\n", "kind: CronJob\n", true},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.file), "by bytes": iotest.OneByteReader(strings.NewReader(c.file)), "with its end": iotest.DataErrReader(strings.NewReader(c.file))} {
			if same, err := holds(r, []byte(c.content)); err != nil || same != c.want {
				t.Errorf("%s, read %s: %t, %v", name, how, same, err)
			}
		}
	}
	if _, err := holds(iotest.ErrReader(os.ErrPermission), nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// TestGeneratorsAreWellMade: a run takes for granted that names and markers of the generators are right.
func TestGeneratorsAreWellMade(t *testing.T) {
	if err := generator.Validate(allGenerators()); err != nil {
		t.Error(err)
	}
}
