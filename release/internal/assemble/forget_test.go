package assemble

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/release/internal/commit"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// TestForget: a whole release removes the work for other commits, but none that is in use; a part of one removes none.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	m := &maker{commit: commit.Commit{Hash: "0123456789abcdef"}, place: filepath.Join(dir, "v0.1.0-0123456789ab")}
	for _, name := range []string{"v0.1.0-0123456789ab", "v0.1.0-rc.1-0123456789ab", "v0.1.0-ffffffffffff", "v0.0.9-eeeeeeeeeeee", "v0.2.0-dddddddddddd"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "programs"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	busy, err := record.Open(filepath.Join(dir, "v0.2.0-dddddddddddd"))
	if err != nil {
		t.Fatal(err)
	}
	m.Programs = []string{"slipway-check"}
	forgotten(t, m, "v0.0.9-eeeeeeeeeeee", "v0.1.0-0123456789ab", "v0.1.0-ffffffffffff", "v0.1.0-rc.1-0123456789ab", "v0.2.0-dddddddddddd")
	m.Programs = nil
	forgotten(t, m, "v0.1.0-0123456789ab", "v0.1.0-rc.1-0123456789ab", "v0.2.0-dddddddddddd")
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	forgotten(t, m, "v0.1.0-0123456789ab", "v0.1.0-rc.1-0123456789ab")
}

// forgotten removes what is of no use, and wants the rest.
func forgotten(t *testing.T, m *maker, want ...string) {
	t.Helper()
	if err := m.forget(); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadDir(filepath.Dir(m.place))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("it leaves %v, want %v", got, want)
	}
}
