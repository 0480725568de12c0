package release_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
)

func TestNames(t *testing.T) {
	if got := release.Archive("v0.1.0", "linux", "amd64"); got != "slipway_v0.1.0_linux_amd64.tar.gz" {
		t.Error(got)
	}
	if got := release.Archive("v0.1.0", "windows", "arm64"); got != "slipway_v0.1.0_windows_arm64.zip" {
		t.Error(got)
	}
	if got := release.File("slipway-check", "windows"); got != "slipway-check.exe" {
		t.Error(got)
	}
	if slices.Contains(release.Programs("darwin"), "slipway-node") || !slices.Contains(release.Programs("linux"), "slipway-node") {
		t.Error("real nodes are those of Linux")
	}
	if !release.Has("darwin", "arm64") || release.Has("linux", "s390x") {
		t.Error("the platforms are others")
	}
}

// TestKey: a program without a stamp has none, and one that cannot be a key is no missing key.
func TestKey(t *testing.T) {
	public, _ := pair(t)
	if _, err := release.Stamped().Key(); !errors.Is(err, release.ErrNoKey) {
		t.Error("this test has a key:", err)
	}
	got, err := release.Stamp{PublicKey: base64.StdEncoding.EncodeToString(public)}.Key()
	if err != nil || !got.Equal(public) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, damaged := range []string{"x", "eHg="} {
		if _, err := (release.Stamp{PublicKey: damaged}).Key(); err == nil || errors.Is(err, release.ErrNoKey) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

func TestLinkerFlags(t *testing.T) {
	flags := release.Stamp{Commit: "abc", PublicKey: "KEY="}.LinkerFlags()
	if got := strings.Join(flags, " "); got != "-X "+release.Module+"/internal/release.commit=abc -X "+release.Module+"/internal/release.publicKey=KEY=" {
		t.Error(got)
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{"v0.1.0": true, "v1.0.0-rc.1": true, "v0.0.0-20260101000000-abcdefabcdef": false, "v0.1.0+dirty": false, "(devel)": false, "": false} {
		if got := release.IsVersion(version); got != want {
			t.Errorf("%q is a release: %v", version, got)
		}
	}
	for name, want := range map[string]string{"slipway_v0.2.0_windows_arm64.zip": "v0.2.0", "slipway_v0.2.0_plan9_arm64.zip": "", "slipway_x_linux_amd64.tar.gz": "", "slipway": ""} {
		got, err := release.Sums{name: {}, "other.deb": {}}.Version()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is of %q, %v", name, got, err)
		}
	}
}
