package download

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

const version = "v0.3.1"

// host plays the host of releases.
type host struct {
	*httptest.Server
	t      *testing.T
	stamp  release.Stamp
	key    ed25519.PrivateKey
	name   string // of the archive
	folder string // into which it is downloaded

	mu      sync.Mutex
	files   map[string][]byte // by their paths
	instead map[string]http.HandlerFunc
	asked   []string // "name" or "name bytes=3-"
	events  []report.Event
	ticks   chan time.Time // of the clock by which a server is given up
}

func newHost(t *testing.T) *host {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, key: private, stamp: release.Stamp{PublicKey: base64.StdEncoding.EncodeToString(public)}, files: map[string][]byte{}, instead: map[string]http.HandlerFunc{}, ticks: make(chan time.Time)}
	h.name, h.folder = release.Archive(version, "linux", "amd64"), t.TempDir()
	h.Server = httptest.NewServer(http.HandlerFunc(h.answer))
	t.Cleanup(h.Close)
	content := make([]byte, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	h.publish(version, content)
	return h
}

// publish puts a release with one archive there.
func (h *host) publish(folder string, archive []byte) {
	sums := release.Sums{h.name: sha256.Sum256(archive)}
	h.files["/"+folder+"/"+h.name] = archive
	h.files["/"+folder+"/"+release.SumsName] = sums.Text()
	h.files["/"+folder+"/"+release.SignatureName] = release.Sign(h.key, sums.Text())
}

func (h *host) answer(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	h.mu.Lock()
	h.asked = append(h.asked, strings.TrimSpace(name+" "+r.Header.Get("Range")))
	instead, content := h.instead[name], h.files[r.URL.Path]
	h.mu.Unlock()
	switch {
	case instead != nil:
		instead(w, r)
	case content == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// hang sends nothing until the request is given up.
func (h *host) hang(r *http.Request) {
	for {
		select {
		case h.ticks <- time.Now():
		case <-r.Context().Done():
			return
		}
	}
}

func (h *host) archive() []byte { return h.files["/"+version+"/"+h.name] }

// open makes a source of the host's releases, for which time passes when the host hangs.
func (h *host) open() *Source {
	h.t.Helper()
	s, err := Open(func(string) string { return h.URL }, h.stamp, report.HandlerFunc(func(e report.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
	}))
	if err != nil {
		h.t.Fatal(err)
	}
	s.tick = func(time.Duration) <-chan time.Time { return h.ticks }
	return s
}

func (h *host) get() (string, error) {
	return h.open().Archive(h.t.Context(), version, "linux", "amd64", h.folder)
}

// wantArchive wants the archive to arrive whole, and nothing besides.
func (h *host) wantArchive() {
	h.t.Helper()
	file, err := h.get()
	if err != nil {
		h.t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, h.archive()) {
		h.t.Errorf("%d bytes of %d arrived, or others (%v)", len(got), len(h.archive()), err)
	}
	if there := h.there(); len(there) != 1 {
		h.t.Errorf("besides the archive there is: %v", there)
	}
}

func (h *host) there() (names []string) {
	_ = filepath.WalkDir(h.folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	})
	return names
}

// cutAt sends a file up to a byte, and then ends the connection.
func (h *host) cutAt(at int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.archive())))
		_, _ = w.Write(h.archive()[:at])
		panic(http.ErrAbortHandler)
	}
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, "\n<!DOCTYPE html><title>Sign in to the network</title>")
}

func TestArchive(t *testing.T) {
	h := newHost(t)
	h.wantArchive()
	var progress []report.Progress
	for _, e := range h.events {
		if p, ok := e.(report.Progress); ok {
			progress = append(progress, p)
		}
	}
	if _, ok := h.events[0].(report.Step); !ok || len(progress) < 2 {
		t.Fatalf("the user is shown %+v", h.events)
	}
	if last := progress[len(progress)-1]; last.Done != last.Total || last.Total != len(h.archive())>>10 {
		t.Errorf("at the end: %+v", last)
	}
}

// TestRefused: each way in which a host or a network can be wrong has one reason, and leaves nothing that has a name.
func TestRefused(t *testing.T) {
	other := newHost(t)
	for name, test := range map[string]struct {
		make   func(h *host)
		why    error
		attack bool
		at     string
	}{
		"no such release":          {func(h *host) { clear(h.files) }, errStatus, false, release.SumsName},
		"no signature":             {func(h *host) { delete(h.files, "/"+version+"/"+release.SignatureName) }, errStatus, false, release.SignatureName},
		"another key":              {func(h *host) { h.key = other.key; h.publish(version, h.archive()) }, release.ErrSignature, true, release.SignatureName},
		"other sums":               {func(h *host) { h.files["/"+version+"/"+release.SumsName] = []byte("x") }, release.ErrSignature, true, release.SignatureName},
		"sums of another release":  {func(h *host) { h.name = "slipway_v0.3.0_linux_amd64.tar.gz"; h.publish(version, nil) }, errUnlisted, false, "slipway_v0.3.1"},
		"another archive":          {func(h *host) { h.archive()[1000] ^= 1 }, ErrChecksum, true, h31},
		"no archive":               {func(h *host) { delete(h.files, "/"+version+"/"+h.name) }, errStatus, false, h31},
		"a page for the sums":      {func(h *host) { h.instead[release.SumsName] = page }, errPage, false, release.SumsName},
		"a page for the signature": {func(h *host) { h.instead[release.SignatureName] = page }, errPage, false, release.SignatureName},
		"a page for the archive": {func(h *host) {
			h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, "x")
			}
		}, errPage, false, h31},
		"endless sums": {func(h *host) { h.files["/"+version+"/"+release.SumsName] = make([]byte, release.MaxSums+1) }, errLarge, false, release.SumsName},
		"an endless archive": {func(h *host) {
			h.instead[h.name] = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", fmt.Sprint(largest+1)) }
		}, errLarge, false, h31},
		"redirects in a ring": {func(h *host) {
			h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }
		}, errRedirects, false, h31},
		"a redirect without https": {func(h *host) {
			h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://mirror.example/x", http.StatusFound)
			}
		}, errInsecure, false, h31},
		"a hanging server": {func(h *host) {
			h.instead[release.SumsName] = func(_ http.ResponseWriter, r *http.Request) { h.hang(r) }
		}, errStalled, false, release.SumsName},
		"one that hangs in the middle": {func(h *host) {
			h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "300000")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				h.hang(r)
			}
		}, errStalled, false, h31},
		"cut off again and again": {func(h *host) { h.instead[h.name] = h.cutAt(0) }, errCut, false, h31},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			test.make(h)
			file, err := h.get()
			e, ok := errors.AsType[*report.Error](err)
			if !ok || !errors.Is(err, test.why) || !strings.Contains(e.Where, test.at) {
				t.Fatalf("got %q, %v", file, err)
			}
			if IsAttack(err) != test.attack || strings.HasPrefix(e.What, "SECURITY") != test.attack {
				t.Errorf("an attack: %v, %s", IsAttack(err), e.What)
			}
			if !strings.Contains(e.Hint, Variable) || (e.Next == "") != test.attack || !test.attack && !strings.HasSuffix(e.Next, " "+e.Where) {
				t.Errorf("hint %q, next command %q", e.Hint, e.Next)
			}
			for _, name := range h.there() {
				if !strings.HasSuffix(name, ".part") || test.attack {
					t.Errorf("left behind: %s", name)
				}
			}
		})
	}
}

// h31 is in the address of the archive.
const h31 = "slipway_v0.3.1_linux_amd64"

// TestGoesOn: what was cut off goes on where it was, in the same command and in the next.
func TestGoesOn(t *testing.T) {
	h := newHost(t)
	first := h.cutAt(100_000)
	h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		delete(h.instead, h.name)
		h.mu.Unlock()
		first(w, r)
	}
	h.wantArchive()
	if again := h.asked[len(h.asked)-1]; again != h.name+" bytes=100000-" {
		t.Errorf("asked for %s", again)
	}
}

func TestNextCommandGoesOn(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.instead[h.name] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.archive())))
		_, _ = w.Write(h.archive()[:200_000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	s := h.open()
	s.handler = report.HandlerFunc(func(e report.Event) {
		if p, ok := e.(report.Progress); ok && p.Done > 100 {
			cancel()
		}
	})
	if _, err := s.Archive(ctx, version, "linux", "amd64", h.folder); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	delete(h.instead, h.name)
	h.wantArchive()
	if again := h.asked[len(h.asked)-1]; !strings.HasPrefix(again, h.name+" bytes=") || h.asked[len(h.asked)-2] == h.name {
		t.Errorf("asked for %v", h.asked)
	}
}

// TestPartIsOfNoUse: a part that is damaged, too long, or that the server does not go on with is no reason to fail.
func TestPartIsOfNoUse(t *testing.T) {
	for name, make := range map[string]func(h *host) []byte{
		"damaged":  func(h *host) []byte { return bytes.Repeat([]byte("x"), 1000) },
		"complete": func(h *host) []byte { return h.archive() },
		"too long": func(h *host) []byte { return append(bytes.Clone(h.archive()), 'x') },
		"no ranges": func(h *host) []byte {
			h.instead[h.name] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(h.archive()) }
			return h.archive()[:10]
		},
		"other part": func(h *host) []byte { h.instead[h.name] = otherPart(h.archive()); return h.archive()[:10] },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			part := make(h)
			sum := sha256.Sum256(h.archive())
			if err := os.WriteFile(filepath.Join(h.folder, fmt.Sprintf("%s.%x.part", h.name, sum[:8])), part, 0o600); err != nil {
				t.Fatal(err)
			}
			h.wantArchive()
		})
	}
}

// otherPart answers a request for a part with another one.
func otherPart(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			_, _ = w.Write(content)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(content)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[:10])
	}
}

// TestNoRoom: nothing is written to a disk that has no room for the archive and the programs in it.
func TestNoRoom(t *testing.T) {
	h := newHost(t)
	s := h.open()
	s.free = func(string) (uint64, bool) { return uint64(2 * len(h.archive())), true }
	if _, err := s.Archive(t.Context(), version, "linux", "amd64", h.folder); !errors.Is(err, errRoom) {
		t.Error(err)
	}
	if len(h.there()) > 0 {
		t.Errorf("written: %v", h.there())
	}
}

func TestOpen(t *testing.T) {
	stamp := newHost(t).stamp
	for wish, want := range map[string]string{
		"": "https://github.com/slipway-dev/slipway/releases/download/", "https://mirror.example/slipway": "https://mirror.example/slipway/",
		"http://127.0.0.1:80/x/": "http://127.0.0.1:80/x/", "http://[::1]/": "http://[::1]/",
		"off": "", "http://mirror.example/": "", "ftp://mirror.example/": "", "mirror.example": "", "https:///x": "", "https://a/?b": "", "false": "", "https://%": "",
	} {
		s, err := Open(func(string) string { return wish }, stamp, report.Discard)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is taken for %s", wish, s.base)
		case want != "" && (err != nil || s.base.String() != want):
			t.Errorf("%q: %v", wish, err)
		}
	}
	if _, err := Open(func(string) string { return "off" }, stamp, report.Discard); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
	if _, err := Open(func(string) string { return "" }, release.Stamp{}, report.Discard); !errors.Is(err, release.ErrNoKey) {
		t.Error(err)
	}
}

// TestSecrets: no message has what an address may hold of them.
func TestSecrets(t *testing.T) {
	h := newHost(t)
	for _, wish := range []string{
		"http://user:secret@mirror.example/", "http://secret@mirror.example/", "https://user:secret@mirror.example:x/", "user:secret@mirror.example",
		"https://mirror.example/?token=secret", "https://user:%secret@mirror.example/",
	} {
		_, err := Open(func(string) string { return wish }, h.stamp, report.Discard)
		if err == nil || strings.Contains(fmt.Sprintf("%+v", err), "secret") {
			t.Errorf("%s: %v", wish, err)
		}
	}
	h.URL = strings.Replace(h.URL, "http://", "http://secret:secret@", 1)
	delete(h.files, "/"+version+"/"+release.SignatureName)
	if _, err := h.get(); err == nil || strings.Contains(fmt.Sprint(err, h.events), "secret") {
		t.Errorf("%v, %v", err, h.events)
	}
}

// TestNewest: the version is that of the signed checksums.
func TestNewest(t *testing.T) {
	h := newHost(t)
	h.name = release.Archive("v0.4.0", "linux", "amd64")
	h.publish(release.LatestFolder, nil)
	if got, err := h.open().Newest(t.Context()); got != "v0.4.0" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	h.files["/"+release.LatestFolder+"/"+release.SumsName] = []byte(strings.Repeat("00", 32) + "  slipway_v9.0.0_linux_amd64.tar.gz\n")
	if got, err := h.open().Newest(t.Context()); !IsAttack(err) {
		t.Errorf("made up: %s, %v", got, err)
	}
	h.name = "other"
	h.publish(release.LatestFolder, nil)
	if got, err := h.open().Newest(t.Context()); !errors.Is(err, release.ErrNoVersion) {
		t.Errorf("of no release: %s, %v", got, err)
	}
}
