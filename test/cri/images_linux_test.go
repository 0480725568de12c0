package cri

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	server "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// unpackLimit is for Debian's mirror.
const unpackLimit = 3 * time.Minute

// unpackBusybox unpacks Debian's busybox below dir; nothing is installed. Without Debian's packages the test is
// skipped.
func unpackBusybox(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), unpackLimit)
	defer cancel()
	for _, step := range [][]string{{"apt-get", "download", "busybox-static"}, {"sh", "-c", "dpkg-deb -x busybox-static_*.deb busybox"}} {
		c := exec.CommandContext(ctx, step[0], step[1:]...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Skipf("no busybox: %s: %v: %s", strings.Join(step, " "), err, out)
		}
	}
}

// registry stands for all registries: it has each image whichever it is asked for.
type registry struct{ handler http.Handler }

// RoundTrip answers within the process.
func (r registry) RoundTrip(q *http.Request) (*http.Response, error) {
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	if q.Body == nil {
		q.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	a := w.Result()
	a.Request = q
	return a, nil
}

// newRegistry makes the images that critest names.
func newRegistry(dir string) (http.RoundTripper, error) {
	base, err := busybox(dir)
	if err != nil {
		return nil, err
	}
	r := registry{server.New(server.Logger(log.New(io.Discard, "", 0)))}
	for ref, config := range images() {
		image, err := mutate.ConfigFile(base, &v1.ConfigFile{
			OS: runtime.GOOS, Architecture: runtime.GOARCH, Config: config, RootFS: rootFS(base),
		})
		if err != nil {
			return nil, err
		}
		place, err := name.ParseReference(ref)
		if err != nil {
			return nil, err
		}
		if err := remote.Write(place, image, remote.WithTransport(r)); err != nil {
			return nil, fmt.Errorf("put %s into the registry: %w", ref, err)
		}
	}
	return r, nil
}

func rootFS(image v1.Image) v1.RootFS {
	config, err := image.ConfigFile()
	if err != nil {
		panic(err) // it has been made by this process
	}
	return config.RootFS
}

// images are the configurations of those that critest names.
func images() map[string]v1.Config {
	const staging, tests = "gcr.io/k8s-staging-cri-tools/", "registry.k8s.io/e2e-test-images/"
	named := func(title string) v1.Config {
		return v1.Config{Cmd: []string{"sh"}, Labels: map[string]string{"title": title}}
	}
	// By others the first process of a namespace ends only if it waits for them.
	const signal = "SIGKILL"
	serving := func(port string) v1.Config { // critest looks for the last words, which nginx has in its name
		return v1.Config{Cmd: []string{"sh", "-c", "echo httpd serves; httpd -f -p " + port + " -h /www; exit $? # master process"}, StopSignal: signal}
	}
	all := map[string]v1.Config{
		tests + "busybox:1.29-2": {Cmd: []string{"sh"}, StopSignal: signal}, tests + "nginx:1.14-2": serving("80"), tests + "httpd:2.4.39-4": serving("80"),
		staging + "hostnet-nginx-" + runtime.GOARCH: serving("12003"), tests + "nonewprivs:1.3": {Cmd: []string{"/bin/effective"}},
		"registry.k8s.io/pause:3.9": {Cmd: []string{"sleep", "1000"}}, "k8s.gcr.io/pause:3.9": {Cmd: []string{"sleep", "1000"}},
		staging + "test-image-latest": named("latest"), staging + "test-image-tag:test": named("tag"), staging + "test-image-tag:all": named("all"),
	}
	for image, user := range map[string]string{
		"user-uid": "1002", "user-username": "www-data", "user-uid-group": "1003:users", "user-username-group": "www-data:100", "predefined-group": "1000",
	} {
		all[staging+"test-image-"+image] = v1.Config{Cmd: []string{"sh"}, User: user}
	}
	for _, number := range []string{"1", "2", "3"} {
		all[staging+"test-image-"+number+":latest"], all[staging+"test-image-tags:"+number] = named(number), named("tags")
	}
	return all
}

// scripts stand for programs that Debian's busybox is without.
var scripts = map[string]string{
	"bin/pgrep": "#!/bin/sh\ngrep -ls \"^$1\" /proc/[0-9]*/comm\n",
	"bin/ipcs":  "#!/bin/sh\ncat /proc/sysvipc/shm\n",
}

// files are those of the image besides programs.
var files = map[string]string{
	"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33:www-data:/var/www:/bin/false\ndefault-user:x:1000:1000::/home:/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/home:/bin/false\n",
	"etc/group":      "root:x:0:\nwww-data:x:33:\nusers:x:100:\ndefault-user:x:1000:\ngroup-defined-in-image:x:50000:default-user\nnobody:x:65534:\n",
	"www/index.html": "it serves\n",
}

// folders are those of the image, with their modes.
var folders = map[string]int64{
	"bin": 0o755, "etc": 0o755, "www": 0o755, "home": 0o755, "root": 0o700, "tmp": 0o1777, "proc": 0o755, "sys": 0o755, "dev": 0o755, "var": 0o755,
}

// layer is an archive of an image's files, until one could not be added.
type layer struct {
	content bytes.Buffer
	archive *tar.Writer
	err     error
}

func (l *layer) add(h tar.Header, content []byte) {
	h.Size = int64(len(content))
	if l.err == nil {
		l.err = l.archive.WriteHeader(&h)
	}
	if l.err == nil {
		_, l.err = l.archive.Write(content)
	}
}

// addFile adds a file of this machine.
func (l *layer) addFile(name string, mode int64, from string) {
	content, err := os.ReadFile(from)
	l.err = errors.Join(l.err, err)
	l.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, content)
}

// busybox is an image with Debian's. Its programs are links to one file, but no symbolic ones: each can be hidden by
// itself.
func busybox(dir string) (v1.Image, error) {
	program := filepath.Join(dir, "busybox", "bin", "busybox")
	list, err := exec.Command(program, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("busybox: %w", err)
	}
	l := &layer{}
	l.archive = tar.NewWriter(&l.content)
	for name, mode := range folders {
		l.add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode}, nil)
	}
	for name, text := range files {
		l.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, []byte(text))
	}
	for name, text := range scripts {
		l.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}, []byte(text))
	}
	l.addFile("bin/busybox", 0o755, program)
	l.addFile("bin/effective", 0o4755, filepath.Join(dir, effectiveProgram))
	for applet := range strings.FieldsSeq(string(list)) {
		if applet != "busybox" {
			l.add(tar.Header{Typeflag: tar.TypeLink, Name: "bin/" + applet, Linkname: "bin/busybox", Mode: 0o755}, nil)
		}
	}
	if err := errors.Join(l.err, l.archive.Close()); err != nil {
		return nil, err
	}
	return l.image()
}

func (l *layer) image() (v1.Image, error) {
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(l.content.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(empty.Image, made)
}
