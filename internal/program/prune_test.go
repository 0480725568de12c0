//go:build unix

package program

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

func TestUnused(t *testing.T) {
	const day, room = 24 * time.Hour, 100
	type ages map[string]time.Duration
	many := ages{}
	for i := range 2 * kept {
		many[fmt.Sprint(i)] = time.Duration(i) * time.Hour
	}
	busy := maps.Clone(many)
	busy["idle"], busy["idler"] = 2*day, 3*day
	idle := ages{}
	for i := range kept + 1 {
		idle[fmt.Sprint(i)] = time.Duration(i+2) * day
	}
	for name, tc := range map[string]struct {
		ages ages
		size int64 // of each
		want []string
	}{
		"nothing":                         {nil, 1, nil},
		"few":                             {ages{"a": time.Hour, "b": 29 * day}, 1, nil},
		"few, and one forgotten":          {ages{"a": time.Hour, "b": 31 * day}, 1, []string{"b"}},
		"many, all used today":            {many, 1, nil},
		"many used today, and idle ones":  {busy, 1, []string{"idler", "idle"}},
		"more than are kept: the idlest":  {idle, 1, []string{"8", "7"}},
		"as large as may be":              {ages{"a": 5 * time.Hour, "b": 6 * time.Hour}, 50, nil},
		"too large: the oldest of today":  {ages{"a": 5 * time.Hour, "b": 6 * time.Hour, "c": 7 * time.Hour}, 50, []string{"c"}},
		"too large, and used a while ago": {ages{"a": time.Hour, "b": 2 * time.Hour, "c": 3 * time.Hour}, 50, nil},
		"enormous, one used a while ago":  {ages{"a": time.Hour, "b": 6 * time.Hour, "c": 7 * time.Hour}, 200, []string{"c", "b"}},
	} {
		all := map[string]use{}
		for k, age := range tc.ages {
			all[k] = use{age, tc.size}
		}
		if got := unused(all, room); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v goes, want %v", name, got, tc.want)
		}
	}
}

// waits is the variable that has TestWaits wait for the end of its input.
const waits = "PROGRAM_TEST_WAITS"

// TestWaits is the program that runs while another test looks at it.
func TestWaits(t *testing.T) {
	if os.Getenv(waits) == "" {
		t.Skip("it is for TestPruneLeavesWhatIsUsed")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestPruneLeavesWhatIsUsed: what runs stays however old it is, and so does what another command builds. A folder that
// a killed build has left goes. Folders of the user's stay: one that happens to have such a program, a copy, one that
// was renamed, and a project with nothing but a folder called build.
func TestPruneLeavesWhatIsUsed(t *testing.T) {
	root := t.TempDir()
	at := func(name string) slot { return slot{clusterProduct(), filepath.Join(root, name)} }
	old := time.Now().Add(-2 * forgotten)
	age := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"new": "new", "runs": "runs", "built": "built", "idle": "idle", "copy": "idle", "theirs": ""} {
		if err := os.MkdirAll(at(name).dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name).program(), program, 0o755); err != nil {
			t.Fatal(err)
		}
		age(at(name).program())
		if key != "" {
			if err := (note{Key: key}).write(at(name).dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	running := exec.Command(at("runs").program(), "-test.run=^TestWaits$")
	running.Env = append(os.Environ(), waits+"=yes")
	input, err := running.StdinPipe()
	if err == nil {
		err = running.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = input.Close()
		_ = running.Wait()
	}()
	release, err := at("built").hold(t.Context(), report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, name := range []string{"killed", "begun"} {
		if err := os.Mkdir(at(name).dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := at(name).workshop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(at("project").workshopDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	age(at("killed").workshopDir())
	age(at("project").workshopDir())
	if err := at("new").prune(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"new": true, "runs": runtime.GOOS == "linux", "built": true, "idle": false, "killed": false, "begun": true,
		"copy": true, "theirs": true, "project": true,
	} {
		if _, err := os.Stat(at(name).dir); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// TestPrune builds three programs; uses, of whichever way, keep two of them.
func TestPrune(t *testing.T) {
	y := newYard(t)
	build := func(i int) string {
		y.write("cluster/cmd/slipway-cluster/extra.go", fmt.Sprintf("package main\n\nconst extra = %d\n", i))
		return y.ensure().Path
	}
	found, named, forgot := build(1), build(2), build(3)
	old := time.Now().Add(-2 * forgotten)
	for _, path := range []string{found, named, forgot} {
		_ = os.Chtimes(filepath.Join(filepath.Dir(path), usedFile), old, old)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if p := build(1); p != found {
		t.Fatalf("%s, want %s", p, found)
	}
	y.env["SLIPWAY_CLUSTER"] = named
	y.ensure()
	delete(y.env, "SLIPWAY_CLUSTER")
	build(4)
	for path, want := range map[string]bool{found: true, named: true, forgot: false} {
		if isFile(path) != want {
			t.Errorf("%s is there: %v", path, isFile(path))
		}
	}
	if n, ok := readNote(filepath.Dir(found)); !ok || !later(time.Time{}, found).Equal(n.Files[name].Modified) {
		t.Errorf("a use changed the program, which was built at %v", n.Files[name].Modified)
	}
}
