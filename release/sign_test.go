package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	naming "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/assemble"
)

// TestSignedLater makes a release with the public key alone, as anyone can, and signs it in a step of its own: it has
// the bytes of a release that is made with the private key.
func TestSignedLater(t *testing.T) {
	public := newKey(t)
	secret := os.Getenv(keyVariable)
	part := []string{"-targets", "linux/" + runtime.GOARCH, "-programs", "slipway-check"}
	dir := newRepository(t)
	dist := filepath.Join(dir, "dist", "v0.1.0")
	if code, said := release(t, dir, part...); code != 0 {
		t.Fatalf("%d\n%s", code, said)
	}
	sums, signature := read(t, dist, naming.SumsName), read(t, dist, naming.SignatureName)
	code, said := release(t, dir, append(part, "-public-key", base64.StdEncoding.EncodeToString(public))...)
	if code != 0 || !strings.Contains(said, "not signed yet: make sign VERSION=v0.1.0") || !bytes.Equal(sums, read(t, dist, naming.SumsName)) {
		t.Errorf("%d\n%s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dist, naming.SignatureName)); err == nil {
		t.Error("it is signed without the private key")
	}
	stamped(t, dir, dist, public)
	refusedToSign(t, dir, dist, secret)
	linksAreNotSigned(t, dir, dist, secret)
	t.Setenv(keyVariable, secret)
	if code, said := release(t, dir, "-sign"); code != 0 || !strings.Contains(said, "signed "+dist) || strings.Contains(said, secret) || os.Getenv(keyVariable) != "" {
		t.Errorf("%d\n%s", code, said)
	}
	if !bytes.Equal(signature, read(t, dist, naming.SignatureName)) {
		t.Error("it is another signature")
	}
	verify(t, dist, public)
}

// refusedToSign: a release that is damaged, or of another key, is not signed.
func refusedToSign(t *testing.T, dir, dist, secret string) {
	t.Helper()
	other := base64.StdEncoding.EncodeToString(newKey(t))
	stranger := os.Getenv(keyVariable)
	for _, c := range []struct {
		name, file, text string // a file that has another text, or is away if that is empty
		key              string
		args             []string
		want             string
	}{
		{"no key", "stray", "", "", nil, "no private key"},
		{"the key of another pair", "stray", "", stranger, nil, "made with the public key of another pair"},
		{"a flag of another pair", "stray", "", secret, []string{"-public-key", other}, "not that of the private key"},
		{"another file", "slipway.rb", "other", secret, nil, "slipway.rb is not listed"},
		{"a file that no release has", "Makefile", "other", secret, nil, "Makefile is no name of a release's file"},
		{"an archive of another version", "slipway_v0.0.9_linux_amd64.tar.gz", "other", secret, nil, "slipway_v0.0.9_linux_amd64.tar.gz is no name of a release's file"},
		{"a changed file", "slipway-0.1.0.tgz", "other", secret, nil, "slipway-0.1.0.tgz has another checksum"},
		{"a missing file", "slipway-0.1.0.tgz", "", secret, nil, "slipway-0.1.0.tgz is missing"},
		{"no public key", naming.SumsName, without(t, dist, assemble.KeyName), secret, nil, "made without a public key"},
		{"no checksums", naming.SumsName, "", secret, nil, "the release is not complete"},
		{"damaged checksums", naming.SumsName, "x", secret, nil, "the checksums cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			with(t, filepath.Join(dist, c.file), c.text)
			if c.name == "no public key" {
				with(t, filepath.Join(dist, assemble.KeyName), "")
			}
			t.Setenv(keyVariable, c.key)
			code, said := release(t, dir, append(c.args, "-sign")...)
			if code == 0 || !strings.Contains(said, c.want) || c.key != "" && strings.Contains(said, c.key) {
				t.Errorf("%d\n%s", code, said)
			}
			if _, err := os.Stat(filepath.Join(dist, naming.SignatureName)); err == nil {
				t.Error("it is signed")
			}
		})
	}
}

// linksAreNotSigned: a file, or the folder, that is a link to the same bytes elsewhere.
func linksAreNotSigned(t *testing.T, dir, dist, secret string) {
	t.Helper()
	for _, path := range []string{filepath.Join(dist, "slipway-0.1.0.tgz"), dist} {
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
			t.Fatal(err)
		}
		t.Setenv(keyVariable, secret)
		if code, said := release(t, dir, "-sign"); code == 0 || !strings.Contains(said, filepath.Base(path)+" is ") {
			t.Errorf("%s: %d\n%s", path, code, said)
		}
		if err := errors.Join(os.Remove(path), os.Rename(elsewhere, path)); err != nil {
			t.Fatal(err)
		}
	}
}

// without is the list of the checksums as it would be without a file.
func without(t *testing.T, dist, name string) string {
	t.Helper()
	var kept []string
	for line := range strings.Lines(string(read(t, dist, naming.SumsName))) {
		if !strings.HasSuffix(line, " "+name+"\n") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// with has a file be another one, or none, until the test ends.
func with(t *testing.T, path, text string) {
	t.Helper()
	before, err := os.ReadFile(path)
	t.Cleanup(func() {
		if err != nil {
			_ = os.Remove(path)
			return
		}
		write(t, path, string(before))
	})
	if text != "" {
		write(t, path, text)
		return
	}
	_ = os.Remove(path)
}
