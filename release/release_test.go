package main

import (
	"bytes"
	"crypto/ed25519"
	"debug/buildinfo"
	"encoding/base64"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/program"
	naming "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/modproxy"
	"github.com/slipway-dev/slipway/release/internal/record"
)

var (
	update   = flag.Bool("update", false, "write golden files")
	complete = flag.Bool("complete", false, "have TestThisRepository compile all programs twice, the cluster's, too")
)

// asCommand is the variable by which the test's program is the command.
const asCommand = "SLIPWAY_TEST_RELEASE"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// newKey makes a pair and puts its private part into the environment.
func newKey(t *testing.T) ed25519.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(keyVariable, base64.StdEncoding.EncodeToString(private.Seed()))
	return public
}

// TestRelease makes a release of two platforms, and looks at all of it.
func TestRelease(t *testing.T) {
	public := newKey(t)
	secret := os.Getenv(keyVariable)
	dir := newRepository(t)
	code, said := release(t, dir, "-targets", "linux/"+runtime.GOARCH+",windows/amd64")
	if code != 0 || strings.Contains(said, secret) || os.Getenv(keyVariable) != "" {
		t.Fatalf("%d\n%s", code, said)
	}
	dist := filepath.Join(dir, "dist", "v0.1.0")
	if runtime.GOARCH == "amd64" {
		golden(t, "release.golden", listing(t, dist))
	}
	verify(t, dist, public)
	unpacked(t, dist)
	stamped(t, dir, dist, public)
	if runtime.GOOS == "linux" {
		identical(t, dir, onlyOf(t, "slipway-check"))
	}
}

// verify holds every file against the checksums, and these against their signature.
func verify(t *testing.T, dist string, public ed25519.PublicKey) {
	t.Helper()
	text, signature := read(t, dist, naming.SumsName), read(t, dist, naming.SignatureName)
	sums, err := naming.Verify(public, text, signature)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, dist) {
		sum, err := record.SumOf(filepath.Join(dist, name))
		if want, listed := sums[name]; err != nil || listed && sum != want || listed == strings.HasPrefix(name, naming.SumsName) {
			t.Errorf("%s: listed %v, %v", name, listed, err)
		}
	}
	text[0] ^= 1
	if _, err := naming.Verify(public, text, signature); !errors.Is(err, naming.ErrSignature) {
		t.Errorf("changed checksums: %v", err)
	}
	openssl(t, dist)
}

// openssl verifies the signature as the documentation shows it.
func openssl(t *testing.T, dist string) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Log("without openssl")
		return
	}
	const script = `base64 -d SHA256SUMS.sig > "$1/sig" && openssl pkeyutl -verify -pubin -inkey slipway-release.pem -rawin -in "$2" -sigfile "$1/sig"`
	temp := t.TempDir()
	command(t, dist, nil, "sh", "-c", script, "sh", temp, "SHA256SUMS")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", temp, "slipway-release.pem")
	cmd.Dir = dist
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("openssl takes the signature for that of another file: %s", out)
	}
}

// unpacked reads the archives as slipway does that has downloaded them.
func unpacked(t *testing.T, dist string) {
	t.Helper()
	for _, p := range [][2]string{{"linux", runtime.GOARCH}, {"windows", "amd64"}} {
		var wanted []string
		for _, program := range naming.Programs(p[0]) {
			wanted = append(wanted, naming.File(program, p[0]))
		}
		archive := filepath.Join(dist, naming.Archive("v0.1.0", p[0], p[1]))
		if err := naming.Unpack(archive, naming.Folder("v0.1.0", p[0], p[1]), t.TempDir(), wanted); err != nil {
			t.Error(err)
		}
	}
}

// stamped runs slipway out of the archive, and reads its version there.
func stamped(t *testing.T, dir, dist string, public ed25519.PublicKey) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	temp := t.TempDir()
	command(t, temp, nil, "tar", "xf", filepath.Join(dist, naming.Archive("v0.1.0", "linux", runtime.GOARCH)))
	path := filepath.Join(temp, naming.Folder("v0.1.0", "linux", runtime.GOARCH), "slipway")
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := info.Main.Version + " " + command(t, temp, nil, path)
	commit := strings.TrimSpace(command(t, dir, nil, "git", "rev-parse", "HEAD"))
	if want := "v0.1.0 " + commit + " 2026-02-03T04:05:06Z " + base64.StdEncoding.EncodeToString(public) + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// work is the folder of the work for a repository's commit.
func work(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "dist", ".work", "v0.1.0-*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// onlyOf is what one run of the go command makes of a release of this system, if it made a single program.
func onlyOf(t *testing.T, name string) program.ReleaseUnit {
	t.Helper()
	for _, u := range program.ReleaseUnits(runtime.GOOS) {
		if i := slices.Index(u.Programs, name); i >= 0 {
			u.Programs, u.Packages = u.Programs[i:i+1], u.Packages[i:i+1]
			return u
		}
	}
	t.Fatalf("no release has %s", name)
	return program.ReleaseUnit{}
}

// identical compiles programs as slipway does that has no release to get them from, in folders of its own. With Go's
// build cache of before, all that has the same flags and sources is linked anew: [TestTwice] has an empty one.
func identical(t *testing.T, dir string, units ...program.ReleaseUnit) {
	t.Helper()
	temp := t.TempDir()
	env, err := program.InstallEnvironment(t.Context(), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(command(t, temp, nil, "go", "env", "GOMODCACHE"))
	proxies := modproxy.FileURL(filepath.Join(work(t, dir), "proxy")) + "," + modproxy.FileURL(filepath.Join(cache, "cache", "download"))
	env = append(env, "GOBIN="+filepath.Join(temp, "bin"), "GOPATH="+filepath.Join(temp, "path"), "GOMODCACHE="+filepath.Join(temp, "modules"),
		"GOFLAGS=-modcacherw", "GOPROXY="+proxies, "GOSUMDB=off")
	for _, u := range units {
		cmd := exec.CommandContext(t.Context(), "go", program.Install("v0.1.0", nil, u.Packages...)...)
		cmd.Dir, cmd.Env = temp, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, name := range u.Programs {
			file := naming.File(name, runtime.GOOS)
			made := read(t, work(t, dir), "programs", runtime.GOOS+"_"+runtime.GOARCH, file)
			if !bytes.Equal(made, read(t, temp, "bin", file)) {
				t.Errorf("%s of the release is not what a user's machine compiles", name)
			}
			t.Logf("%s: %d bytes", name, len(made))
		}
	}
}

// TestThisRepository makes a release of the commit that is checked out here, with one light program besides slipway or
// with all of this system's, and compiles them again as a user's machine does.
func TestThisRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-release")
	}
	dir := filepath.Join(t.TempDir(), "clone")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	command(t, "", nil, "git", "clone", "-q", "--shared", root, dir)
	part, units := []string{"-targets", runtime.GOOS + "/" + runtime.GOARCH}, program.ReleaseUnits(runtime.GOOS)
	if !*complete {
		const light = "slipway-codegen"
		part, units = append(part, "-programs", light), []program.ReleaseUnit{onlyOf(t, light)}
	}
	if code, said := release(t, dir, part...); code != 0 {
		t.Fatalf("%d\n%s", code, said)
	}
	t.Setenv("GOCACHE", t.TempDir())
	identical(t, dir, units...)
}

// TestTwice: a clone in another folder, with empty caches, makes the same bytes of every file.
func TestTwice(t *testing.T) {
	dir := newRepository(t)
	other := filepath.Join(t.TempDir(), "elsewhere")
	command(t, "", nil, "git", "clone", "-q", dir, other)
	if code, said := release(t, dir, "-targets", "linux/"+runtime.GOARCH); code != 0 || !strings.Contains(said, "not signed") {
		t.Fatalf("%d\n%s", code, said)
	}
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	if code, said := release(t, other, "-targets", "linux/"+runtime.GOARCH); code != 0 {
		t.Fatalf("%d\n%s", code, said)
	}
	one, two := filepath.Join(dir, "dist", "v0.1.0"), filepath.Join(other, "dist", "v0.1.0")
	for _, name := range names(t, one) {
		if !bytes.Equal(read(t, one, name), read(t, two, name)) {
			t.Errorf("%s has other bytes", name)
		}
	}
	if a, b := strings.Join(names(t, one), " "), strings.Join(names(t, two), " "); a != b || !strings.Contains(a, ".tar.gz") {
		t.Errorf("%s, and %s", a, b)
	}
}
