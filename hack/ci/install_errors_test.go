package ci_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMirrorsKeepSecrets: an address that is refused is shown without its user and query, and not at all if it is not
// clear what they are.
func TestMirrorsKeepSecrets(t *testing.T) {
	r := newRunner(t)
	for mirror, shown := range map[string]string{
		"https://example.com/a?token=SECRET":      "https://example.com/a",
		"https://example.com?token=SECRET":        "https://example.com",
		"HTTPS://me:SECRET@example.com/a?b":       "HTTPS://example.com/a",
		"https://example.com/a#SECRET":            "https://example.com/a",
		"HTTP://me:SECRET@example.com:80/a":       "HTTP://example.com:80/a",
		"http://127.0.0.1:SECRET@example.com/":    "http://example.com/",
		"ftp://me:SECRET@example.com/":            "ftp://example.com/",
		"https://me:SE@CRET@example.com/a?b":      "https://example.com/a",
		"https://me:1/SECRET@example.com/":        "",
		"https://me:1?SECRET@example.com/":        "",
		"https://me:1#SECRET@example.com/":        "",
		"https://me:SECRET@":                      "",
		"me:SECRET@example.com":                   "",
		"//me:SECRET@example.com":                 "",
		"https://me:SECRET\n@example.com/?SECRET": "",
	} {
		out, err := r.bash(installer+" plan", "SETUP_FOLDER=here", "SETUP_VERSION="+version, "SLIPWAY_DOWNLOAD="+mirror)
		if err == nil || !strings.Contains(out, "\n  where: SLIPWAY_DOWNLOAD="+shown+"\n  next: ") || strings.Contains(out, "SECRET") {
			t.Errorf("%q: %v\n%s", mirror, err, out)
		}
	}
}

// TestMirrorsWithUsers: an address that is used is shown without its user, too, whatever the case of its scheme.
func TestMirrorsWithUsers(t *testing.T) {
	r, h := newRunner(t), newHost(t)
	mirror := strings.Replace(h.URL, "http://", "HTTP://me:SECRET@", 1)
	out, err := r.play(map[string]string{"version": version, "mirror": mirror, "programs": "none"}, "main")
	if err != nil || strings.Contains(out, "SECRET") || !strings.Contains(out, "from "+strings.Replace(h.URL, "http:", "HTTP:", 1)) {
		t.Errorf("%v\n%s", err, out)
	}
	clear(h.files)
	h.files["SHA256SUMS"] = nil
	out, err = r.play(map[string]string{"version": version, "mirror": mirror, "public-key": h.key, "programs": "none"}, "main")
	if err == nil || strings.Contains(out, "SECRET") || strings.Count(out, "error: ") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAnswersHaveReasons: each is one error with the address and, if it was curl that gave up, why.
func TestAnswersHaveReasons(t *testing.T) {
	sums := "/SHA256SUMS\n"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string // after the version in the address
	}{
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for chunk := bytes.Repeat([]byte("0"), 1<<16); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, sums + "  why: it is larger than any such file of a release\n"},
		"large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(bytes.Repeat([]byte("0"), 100_000))
		}, sums + "  why: it is larger than any such file of a release\n"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("0000"))
		}, sums + "  why: "},
		"empty": {func(http.ResponseWriter, *http.Request) {}, sums[:len(sums)-1] + ": " + archive() + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, h := newRunner(t), newHost(t)
			h.Config.Handler = c.answer
			out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "programs": "none"}, "main")
			_, text, _ := strings.Cut(out, "error: ")
			if err == nil || !strings.Contains(text, "\n  where: "+h.URL+"/"+version+c.want) || strings.Count(text, "\n") > 4 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestSignaturesAreNamed: an error about a signature has its address, not that of a file that is gone.
func TestSignaturesAreNamed(t *testing.T) {
	for name, change := range map[string]func(*host){
		"none":          func(h *host) { delete(h.files, "SHA256SUMS.sig") },
		"empty":         func(h *host) { h.files["SHA256SUMS.sig"] = nil },
		"no base64":     func(h *host) { h.files["SHA256SUMS.sig"] = []byte("!!!") },
		"of other sums": func(h *host) { h.files["SHA256SUMS"] = []byte("other") },
		"no key":        func(h *host) { h.key = "!!!" },
	} {
		t.Run(name, func(t *testing.T) {
			r, h := newRunner(t), newHost(t)
			change(h)
			out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "public-key": h.key, "programs": "none"}, "main")
			_, text, _ := strings.Cut(out, "error: ")
			if err == nil || !strings.Contains(text, "\n  where: "+h.URL+"/"+version+"/SHA256SUMS.sig\n  next: ") || strings.Count(text, "\n") != 3 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestRelativeFolders: compilers and later steps run in other folders.
func TestRelativeFolders(t *testing.T) {
	h := newHost(t)
	for name, mirror := range map[string]string{"downloaded": h.URL, "compiled": "off"} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			script := r.install(h, "here")
			if name == "compiled" {
				if err := os.Rename(checkout(t), filepath.Join(r.home, "sources")); err != nil {
					t.Fatal(err)
				}
				r.env = append(r.env, "SETUP_VERSION=", "SETUP_SOURCE=sources")
			}
			out := r.succeed("export SLIPWAY_DOWNLOAD=" + mirror + "\n" + script + "\n. here/env; cd /; slipway version; echo \"$SLIPWAY_CACHE ${SLIPWAY_SOURCE:-none}\"")
			sources := map[string]string{"downloaded": "none", "compiled": filepath.Join(r.home, "sources")}[name]
			if !strings.HasSuffix(out, "\n"+filepath.Join(r.home, "here/cache")+" "+sources+"\n") {
				t.Error(out)
			}
			if got := r.told("PATH"); got != filepath.Join(r.home, "here/bin")+"\n" {
				t.Errorf("later steps look in %s", got)
			}
		})
	}
}

// TestCommandThatDoesNotRun: it is one more line than the system's own, and it goes.
func TestCommandThatDoesNotRun(t *testing.T) {
	r, h := newRunner(t), newHost(t)
	h.put(t, stem(), tarOf(t, file("slipway", "#!/bin/sh\nexit 3\n")))
	out, err := r.bash(r.install(h, "here"))
	if err == nil || !strings.Contains(out, "error: slipway was installed and does not run\n  where: "+r.home+"/here/bin/slipway version\n  next: ") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(r.home, "here/bin")); err == nil {
		t.Error("it is kept for later runs")
	}
}
