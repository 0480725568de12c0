//go:build unix

package program

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/rounds"
)

// released is a yard whose slipway is of a release, and the host of that.
type released struct {
	*yard
	files map[string][]byte // of the host, by their paths
	asked atomic.Int32      // how often for the archive
	key   ed25519.PrivateKey
	name  string // of the archive
}

const releasedVersion = "v0.3.1"

func newReleased(t *testing.T) *released {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &released{yard: newYard(t), files: map[string][]byte{}, key: private, name: release.Archive(releasedVersion, runtime.GOOS, runtime.GOARCH)}
	for _, p := range releasedProducts(runtime.GOOS) {
		for _, program := range p.programs {
			if program != name {
				r.write(filepath.Join(p.folder, "cmd", program, "main.go"), "package main\n\nfunc main() { println(\""+program+"\") }\n")
			}
		}
	}
	r.proxy(releasedVersion, Module, clusterModule)
	r.recorded, r.version = "", releasedVersion
	r.stamp.PublicKey = base64.StdEncoding.EncodeToString(public)
	host := httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(host.Close)
	r.env["SLIPWAY_DOWNLOAD"] = host.URL
	return r
}

func (r *released) answer(w http.ResponseWriter, request *http.Request) {
	if strings.HasSuffix(request.URL.Path, r.name) {
		r.asked.Add(1)
	}
	content, ok := r.files[request.URL.Path]
	if !ok {
		http.NotFound(w, request)
		return
	}
	_, _ = w.Write(content)
}

// publish makes the release as the release's own program does: with the recipe that is exported for it.
func (r *released) publish() {
	r.t.Helper()
	bin := r.t.TempDir()
	for _, unit := range ReleaseUnits(runtime.GOOS) {
		env, err := InstallEnvironment(r.t.Context(), runtime.GOOS, runtime.GOARCH)
		if err != nil {
			r.t.Fatal(err)
		}
		var said bytes.Buffer
		err = gocommand.Command{Dir: r.t.TempDir(), Env: append(env, "GOBIN="+bin), Args: Install(releasedVersion, nil, unit.Packages...), Stderr: &said}.Run(r.t.Context())
		if err != nil {
			r.t.Fatal(err, said.String())
		}
	}
	r.serve(archive(r.t, bin))
}

// serve has the host serve an archive, signed.
func (r *released) serve(content []byte) {
	folder := "/" + releasedVersion + "/"
	sums := release.Sums{r.name: sha256.Sum256(content)}.Text()
	r.files[folder+r.name], r.files[folder+release.SumsName], r.files[folder+release.SignatureName] = content, sums, release.Sign(r.key, sums)
}

// archive packs the files in a folder.
func archive(t *testing.T, dir string) []byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&b, gzip.BestSpeed) // programs are megabytes
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		header := tar.Header{Name: release.Folder(releasedVersion, runtime.GOOS, runtime.GOARCH) + "/" + e.Name(), Size: int64(len(text)), Mode: 0o755, Typeflag: tar.TypeReg}
		err = w.WriteHeader(&header)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// warnings are the texts of all warnings so far.
func (r *released) warnings() (texts []string) {
	for _, e := range r.events {
		if w, ok := e.(report.Warning); ok {
			texts = append(texts, w.Text)
		}
	}
	return texts
}

func (r *released) checker() string {
	r.t.Helper()
	path, err := r.EnsureChecker(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return path
}

// leftovers are the files among the downloads.
func (r *released) leftovers() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(r.cache, DownloadsDir))
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestDownloadedIsCompiled: what is downloaded has the bytes of what is compiled, and no go command is needed for it.
// One archive has all programs, which are the same for all versions of Go.
func TestDownloadedIsCompiled(t *testing.T) {
	rounds.Thorough(t)
	r := newReleased(t)
	r.publish()
	compiled := map[string][]byte{}
	r.env["SLIPWAY_DOWNLOAD"], r.env["SLIPWAY_CACHE"] = "off", filepath.Join(t.TempDir(), "other")
	for _, path := range r.all() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compiled[filepath.Base(path)] = text
	}
	if r.asked.Load() != 0 {
		t.Error("downloaded although that is off")
	}
	host := newHostOf(t, r)
	r.env["SLIPWAY_DOWNLOAD"], r.env["SLIPWAY_CACHE"] = host, r.cache
	t.Setenv("PATH", t.TempDir())
	for _, path := range r.all() {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(text, compiled[filepath.Base(path)]) || len(text) == 0 {
			t.Errorf("%s is not what is compiled: %d bytes, %d (%v)", path, len(text), len(compiled[filepath.Base(path)]), err)
		}
		if !strings.HasPrefix(path, r.cache) {
			t.Errorf("not downloaded: %s", path)
		}
	}
	if n := r.asked.Load(); n != 1 || len(r.leftovers()) > 0 || len(r.warnings()) > 0 {
		t.Errorf("asked %d times, left %v, warned %v", n, r.leftovers(), r.warnings())
	}
}

// newHostOf is another host of the same release.
func newHostOf(t *testing.T, r *released) string {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(host.Close)
	return host.URL
}

// all gets every program.
func (r *released) all() []string {
	r.t.Helper()
	paths := []string{r.ensure().Path, r.checker()}
	for _, get := range []func(context.Context) (string, error){r.EnsureKubectl, r.EnsureCodegen} {
		path, err := get(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestRefusedIsCompiled: what cannot be had is compiled, after one warning, and nothing of it stays. The cases of
// networks are those of package download.
func TestRefusedIsCompiled(t *testing.T) {
	r := newReleased(t)
	r.publish()
	good := r.files["/"+releasedVersion+"/"+r.name]
	for name, test := range map[string]struct {
		make func()
		want []string
	}{
		"no release": {func() { clear(r.files) }, []string{"404", release.SumsName}},
		"tampered with": {func() {
			r.serve(good)
			r.files["/"+releasedVersion+"/"+r.name] = append(bytes.Clone(good), 0)
		}, []string{"SECURITY", "checksum", r.name}},
		"half an archive, signed": {func() { r.serve(good[:len(good)/2]) }, []string{release.ErrArchive.Error()}},
		"without the programs":    {func() { r.serve(archive(t, t.TempDir())) }, []string{"lacks"}},
	} {
		r.events, r.env["SLIPWAY_CACHE"] = nil, filepath.Join(t.TempDir(), "cache")
		test.make()
		path := r.checker()
		warnings := r.warnings()
		if len(warnings) != 1 || !isFile(path) || !strings.HasPrefix(path, r.env["SLIPWAY_CACHE"]) {
			t.Fatalf("%s: %s, %q", name, path, warnings)
		}
		for _, want := range append(test.want, "the checker of CRDs is compiled instead", "SLIPWAY_DOWNLOAD=off") {
			if !strings.Contains(warnings[0], want) {
				t.Errorf("%s: the warning lacks %q: %s", name, want, warnings[0])
			}
		}
		if entries, _ := filepath.Glob(filepath.Join(r.env["SLIPWAY_CACHE"], DownloadsDir, "slipway*")); len(entries) > 0 {
			t.Errorf("%s: left behind: %v", name, entries)
		}
	}
	r.env["SLIPWAY_DOWNLOAD"], r.env["SLIPWAY_CACHE"] = "http://mirror.example", filepath.Join(t.TempDir(), "cache")
	_, err := r.EnsureChecker(t.Context())
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.What, "SLIPWAY_DOWNLOAD") {
		t.Errorf("a mirror without https: %v", err)
	}
}

// TestClosedNetwork: where neither the release nor the module can be had, the user learns what can be set.
func TestClosedNetwork(t *testing.T) {
	r := newReleased(t)
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	_, err := r.EnsureChecker(t.Context())
	e, ok := errors.AsType[*report.Error](err)
	if !ok || !strings.HasSuffix(e.Where, "@"+releasedVersion) || e.Next != "go env GOPROXY" {
		t.Fatalf("%#v", err)
	}
	for _, want := range []string{"SLIPWAY_DOWNLOAD=https://", "GOPROXY", "SLIPWAY_SOURCE", "SLIPWAY_CHECK"} {
		if !strings.Contains(e.Hint, want) {
			t.Errorf("the hint lacks %s: %s", want, e.Hint)
		}
	}
	r.stamp.PublicKey = "" // it downloads nothing, so a mirror does not help
	if _, err = r.EnsureChecker(t.Context()); !errors.As(err, &e) || strings.Contains(e.Hint, "SLIPWAY_DOWNLOAD") {
		t.Errorf("without a key: %#v", err)
	}
}

// TestPartsAreForgotten: what a download of a version has left that nobody uses any more goes with the next download.
// Newer parts stay, those of another command too, and files that are not slipway's.
func TestPartsAreForgotten(t *testing.T) {
	r := newReleased(t)
	r.publish()
	dir := filepath.Join(r.cache, DownloadsDir)
	long := time.Now().Add(-forgotten - time.Hour)
	for name, age := range map[string]time.Time{"v0.1.0.lock": long, "slipway_v0.1.0_x.part": long, "v0.2.0.lock": long, "slipway_v0.2.0_x.part": time.Now(), "v0.3.0.lock": long, "slipway_v0.3.0_x.part": long,
		"slipway_mine_x": long} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, nil, 0o600), os.Chtimes(path, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	busy := flock.New(filepath.Join(dir, "v0.3.0.lock"))
	if err := busy.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	r.checker()
	if got, want := r.leftovers(), []string{"slipway_mine_x", "slipway_v0.2.0_x.part", "slipway_v0.3.0_x.part"}; !slices.Equal(got, want) || len(r.warnings()) > 0 {
		t.Errorf("left %v, not %v; warned %q", got, want, r.warnings())
	}
}

// TestDownloadedProgramIsRefused: one that speaks another protocol is no use, whoever signed it.
func TestDownloadedProgramIsRefused(t *testing.T) {
	r := newReleased(t)
	r.publish()
	bin := t.TempDir()
	for _, p := range releasedProducts(runtime.GOOS) {
		for _, program := range p.programs {
			if err := os.WriteFile(filepath.Join(bin, fileName(program)), []byte("#!/bin/sh\n"+otherSpeaking+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.serve(archive(t, bin))
	p := r.ensure()
	if v, err := Version(t.Context(), p.Path); err != nil || v.Protocol != protocol.Number || len(r.warnings()) != 1 {
		t.Errorf("it speaks %d (%v), warned %q", v.Protocol, err, r.warnings())
	}
}

// TestTwoDownloadsAtOnce: commands that need programs at the same time share one download.
func TestTwoDownloadsAtOnce(t *testing.T) {
	r := newReleased(t)
	r.publish()
	var wg sync.WaitGroup
	for _, get := range []func(context.Context) (string, error){r.EnsureChecker, r.EnsureChecker, r.EnsureCodegen, r.EnsureCodegen} {
		wg.Go(func() {
			if _, err := get(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.asked.Load(); n != 1 {
		t.Errorf("downloaded %d times", n)
	}
	compiled := slices.ContainsFunc(r.events, func(e report.Event) bool { s, ok := e.(report.Step); return ok && strings.HasPrefix(s.Name, "built") })
	if compiled {
		t.Error("compiled although there is an archive")
	}
}

// TestOnlyReleasesAreDownloaded: a commit, a checkout, and generators of another version have no archive.
func TestOnlyReleasesAreDownloaded(t *testing.T) {
	for _, test := range []struct {
		src  source
		p    *product
		want bool
	}{
		{source{version: "v0.3.1"}, checkProduct(), true},
		{source{version: "v0.3.2-0.20260101000000-abcdefabcdef"}, checkProduct(), false},
		{source{dir: "/checkout"}, checkProduct(), false},
		{source{version: "v0.3.1"}, codegenProductOf("v0.34.1"), false},
	} {
		if got := test.src.hasArchive(test.p); got != test.want && release.Has(runtime.GOOS, runtime.GOARCH) {
			t.Errorf("%+v, %s: %v", test.src, test.p.what, got)
		}
	}
}
