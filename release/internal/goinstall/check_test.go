package goinstall

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/program"
	names "github.com/slipway-dev/slipway/internal/release"
)

// settings are those of a released program.
func settings() []debug.BuildSetting {
	return []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"}, {Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "darwin"}}
}

// TestIsFor: each setting counts.
func TestIsFor(t *testing.T) {
	if err := isFor(&debug.BuildInfo{Settings: settings()}, "darwin", "arm64"); err != nil {
		t.Error(err)
	}
	for i, s := range settings() {
		other := settings()
		other[i].Value = "other"
		if err := isFor(&debug.BuildInfo{Settings: other}, "darwin", "arm64"); !errors.Is(err, ErrWrong) {
			t.Errorf("another %s: %v", s.Key, err)
		}
	}
}

// TestIsReleased: another version, module or program is refused.
func TestIsReleased(t *testing.T) {
	c, unit := Compiler{Version: "v0.1.0"}, Units("linux")[0]
	own := debug.BuildInfo{Path: names.Module + "/cmd/slipway", Main: debug.Module{Path: names.Module, Version: "v0.1.0"}}
	if err := c.isReleased(&own, unit); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*debug.BuildInfo){
		func(i *debug.BuildInfo) { i.Main.Version = "(devel)" },
		func(i *debug.BuildInfo) { i.Main.Path += "/cluster" },
		func(i *debug.BuildInfo) { i.Path += "-image" },
	} {
		other := own
		change(&other)
		if err := c.isReleased(&other, unit); !errors.Is(err, ErrWrong) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

// TestSums: a module that the commit's go.sum does not have, and one that was replaced, are refused.
func TestSums(t *testing.T) {
	m := debug.Module{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a="}
	for _, m := range []debug.Module{m, {Path: m.Path, Version: m.Version, Replace: &m}} {
		if err := (Compiler{}).sums(&debug.BuildInfo{Deps: []*debug.Module{&m}}, Units("linux")[0]); !errors.Is(err, ErrWrong) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if err := (Compiler{}).sums(&debug.BuildInfo{}, Units("linux")[0]); err != nil {
		t.Error(err)
	}
}

// TestCheck: a program that was built in a working copy is not one of a release.
func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../bill/testdata/program").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := (Compiler{Version: "v0.1.0"}).check(path, Units("linux")[0], runtime.GOOS, runtime.GOARCH); !errors.Is(err, ErrWrong) {
		t.Error(err)
	}
}

// TestUnits: all programs of an archive are compiled, each once, and slipway alone is stamped.
func TestUnits(t *testing.T) {
	c := Compiler{Version: "v0.1.0", Stamp: names.Stamp{Commit: "abc"}}
	for _, goos := range []string{"linux", "windows"} {
		var all []string
		for _, unit := range Units(goos) {
			all = append(all, unit.Programs...)
			stamped := !slices.Equal(c.Arguments(unit), program.Install("v0.1.0", nil, unit.Packages...))
			if stamped != slices.Equal(unit.Programs, []string{"slipway"}) {
				t.Errorf("%v stamped: %v", unit.Programs, stamped)
			}
		}
		want := names.Programs(goos)
		slices.Sort(all)
		slices.Sort(want)
		if !slices.Equal(all, want) {
			t.Errorf("%s: %v, and archives have %v", goos, all, want)
		}
	}
}
