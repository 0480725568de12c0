package reference

import (
	"maps"
	"strings"
	"testing"
)

func TestParseMirrors(t *testing.T) {
	for text, want := range map[string]Mirrors{
		"":                              {},
		" , ":                           {},
		"docker.io=mirror.example.com/": {"index.docker.io": "mirror.example.com"},
		"docker.io=localhost:5000/hub, quay.io:8443=[::1]:5000/a/b": {"index.docker.io": "localhost:5000/hub", "quay.io:8443": "[::1]:5000/a/b"},
		"index.docker.io=a,docker.io=b":                             {"index.docker.io": "b"},
	} {
		if got, err := ParseMirrors(text, "--mirror"); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"docker.io", "docker.io=", "=mirror", "docker.io=https://mirror", "docker.io=mirror/A", "docker.io=a/../b", "docker.io=m:x", "a/b=c", "docker.io=m@x",
		"docker.io=a b", "docker.io=user:secret@mirror", "*=mirror"} {
		if got, err := ParseMirrors(text, "--mirror"); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestMirrorOf(t *testing.T) {
	mirrors, err := ParseMirrors("docker.io=mirror.example.com:5000/hub,quay.io=localhost", "")
	if err != nil {
		t.Fatal(err)
	}
	digest := "@sha256:" + strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"busybox":                   "mirror.example.com:5000/hub/library/busybox:latest",
		"docker.io/team/app:v1":     "mirror.example.com:5000/hub/team/app:v1",
		"busybox:1" + digest:        "mirror.example.com:5000/hub/library/busybox" + digest,
		"quay.io/team/app:v1":       "localhost/team/app:v1",
		"quay.io:8443/team/app:v1":  "quay.io:8443/team/app:v1",
		"mirror.example.com:5000/x": "mirror.example.com:5000/x:latest",
	} {
		ref, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := mirrors.Of(ref); err != nil || got.Name() != want {
			t.Errorf("%s is asked for as %v (%v), want %s", text, got, err, want)
		}
	}
}
