package program

import (
	"runtime"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
)

// TestUnitsAreTheArchives: what is made for a release is what its archives are said to hold.
func TestUnitsAreTheArchives(t *testing.T) {
	for _, platform := range release.Platforms() {
		programs := []string{"slipway"}
		for _, unit := range ReleaseUnits(platform[0]) {
			programs = append(programs, unit.Programs...)
		}
		want := release.Programs(platform[0])
		slices.Sort(programs)
		slices.Sort(want)
		if !slices.Equal(programs, want) {
			t.Errorf("%v: made are %v, an archive holds %v", platform, programs, want)
		}
	}
}

// TestRecipeIsTheReleases: a released version is compiled here as the release compiles it.
func TestRecipeIsTheReleases(t *testing.T) {
	p := checkProduct()
	r, err := p.recipe(source{version: "v0.1.0"}, t.TempDir(), "/out")
	if err != nil {
		t.Fatal(err)
	}
	if want := Install("v0.1.0", nil, p.packages()...); !slices.Equal(r.args, want) {
		t.Errorf("compiled here: %q, for a release: %q", r.args, want)
	}
	env, err := InstallEnvironment(t.Context(), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range r.env {
		if variable != "GOBIN=/out" && variable != "GOTMPDIR=/out" && !slices.Contains(env, variable) {
			t.Errorf("only here: %s", variable)
		}
	}
}

// TestTemporaryFilesGoWithTheFolder that the programs are made in: a killed go command leaves half a program in them.
func TestTemporaryFilesGoWithTheFolder(t *testing.T) {
	for _, src := range []source{{version: "v0.1.0"}, {dir: t.TempDir()}} {
		r, err := checkProduct().recipe(src, t.TempDir(), "/out")
		if err != nil || !slices.Contains(r.env, "GOTMPDIR=/out") {
			t.Errorf("%+v: %q, %v", src, r.env, err)
		}
	}
}
