package distro_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sassoftware/go-rpmutils"

	"github.com/slipway-dev/slipway/release/internal/distro"
)

var date = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// pack writes a package of two programs, which are scripts, and the texts.
func pack(t *testing.T, format string) []byte {
	t.Helper()
	dir := t.TempDir()
	p := distro.Package{Format: format, Arch: "amd64", Version: "v0.1.0-rc.1", Date: date}
	for name, text := range map[string]string{"slipway": "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/slipway-check\" \"$@\"\n", "slipway-check": "#!/bin/sh\necho checked \"$@\"\n",
		"LICENSE": "free", "README.md": "# Slipway\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, distro.File{Name: name, Path: path, IsText: !strings.HasPrefix(name, "slipway")})
	}
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSameBytes: the order of the files and the folder that they are in have no part in a package.
func TestSameBytes(t *testing.T) {
	for _, format := range distro.Formats() {
		first := pack(t, format)
		for range 3 {
			if !bytes.Equal(first, pack(t, format)) {
				t.Errorf("%s: other bytes", format)
				break
			}
		}
	}
}

// runs runs slipway of an unpacked package, which finds the program beside it.
func runs(t *testing.T, root string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr/bin/slipway"), "one", "two").CombinedOutput()
	if err != nil || string(out) != "checked one two\n" {
		t.Errorf("%v: %q", err, out)
	}
	if info, err := os.Stat(filepath.Join(root, "usr/lib/slipway/slipway-check")); err != nil || info.Mode().Perm() != 0o755 || !info.ModTime().Equal(date) {
		t.Errorf("the program beside it: %v, %v", info, err)
	}
}

// TestDeb unpacks the package with dpkg's own program.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not here")
	}
	dir := t.TempDir()
	file, root := filepath.Join(dir, "slipway.deb"), filepath.Join(dir, "root")
	if err := os.WriteFile(file, pack(t, "deb"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-x", file, root}, {"--control", file, filepath.Join(dir, "control")}} {
		if out, err := exec.CommandContext(t.Context(), "dpkg-deb", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	runs(t, root)
	control, err := os.ReadFile(filepath.Join(dir, "control", "control"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Package: slipway", "Version: 0.1.0~rc.1-1", "Architecture: amd64", "Section: devel", "Suggests: golang-go"} {
		if !strings.Contains(string(control), line+"\n") {
			t.Errorf("without %q:\n%s", line, control)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "usr/share/doc/slipway/copyright")); err != nil {
		t.Error(err)
	}
	if scripts, err := filepath.Glob(filepath.Join(dir, "control", "*inst")); err != nil || len(scripts) > 0 {
		t.Error(scripts, err)
	}
}

// TestRPM unpacks the package with a library that has no part in writing it.
func TestRPM(t *testing.T) {
	r, err := rpmutils.ReadRpm(bytes.NewReader(pack(t, "rpm")))
	if err != nil {
		t.Fatal(err)
	}
	nevra, err := r.Header.GetNEVRA()
	if err != nil || nevra.String() != "slipway-0:0.1.0~rc.1-1.x86_64.rpm" {
		t.Errorf("%v, %v", nevra, err)
	}
	if host, err := r.Header.GetString(rpmutils.BUILDHOST); err != nil || host != "slipway" {
		t.Errorf("%s, %v", host, err)
	}
	const suggestName = 5049 // the library has no name for this tag of a header
	if names, err := r.Header.GetStrings(suggestName); err != nil || !slices.Equal(names, []string{"golang"}) {
		t.Errorf("it suggests %v, %v", names, err)
	}
	root := t.TempDir()
	if err := r.ExpandPayload(root); err != nil {
		t.Fatal(err)
	}
	adorn(t, r, root)
	runs(t, root)
}

// adorn gives the files the modes and times that the package's header has, as rpm does and the library does not.
func adorn(t *testing.T, r *rpmutils.Rpm, root string) {
	t.Helper()
	files, err := r.Header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.UserName() != "root" || f.GroupName() != "root" {
			t.Errorf("%s belongs to %s:%s", f.Name(), f.UserName(), f.GroupName())
		}
		if f.Linkname() != "" {
			continue
		}
		path, then := filepath.Join(root, f.Name()), time.Unix(int64(f.Mtime()), 0)
		if err := errors.Join(os.Chmod(path, os.FileMode(f.Mode()&0o777)), os.Chtimes(path, then, then)); err != nil {
			t.Error(err)
		}
	}
}

// TestNoFormat: other formats are refused.
func TestNoFormat(t *testing.T) {
	if err := (distro.Package{Format: "tgz"}).Write(&bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}
