package plain

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// TestTranslate: what is in a mount or in the image is found on this machine; all else stays.
func TestTranslate(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"app", "etc"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/app", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	p := paths{root: root, mounts: []wire.Mount{
		{Source: "/vol/a", Target: "/etc/config"}, {Source: "/vol/b", Target: "/etc/config/deep/"}, {Source: "/vol/tmp", Target: "/tmp"},
	}}
	for text, want := range map[string]string{
		"":                                 "",
		"word":                             "word",
		"/":                                "/",
		"/etc/config":                      "/vol/a",
		"/etc/config/x.yaml":               "/vol/a/x.yaml",
		"/etc/config/deep/x":               "/vol/b/x",
		"/etc/configuration":               filepath.Join(root, "etc/configuration"),
		"/metrics":                         "/metrics",
		"--file=/etc/config/x":             "--file=/vol/a/x",
		"-f=/tmp/a,/etc/config/b:/nowhere": "-f=/vol/tmp/a,/vol/a/b:/nowhere",
		`cat "/tmp/a b" >/etc/config/c`:    `cat "/vol/tmp/a b" >/vol/a/c`,
		"/app/file.txt":                    filepath.Join(root, "app/file.txt"),
		"/app":                             filepath.Join(root, "app"),
		"/link":                            filepath.Join(root, "app"),
		"NAME=/etc":                        "NAME=" + filepath.Join(root, "etc"),
		"https://example.com/tmp/a":        "https://example.com/tmp/a",
		"https://example.com:8443/tmp/a":   "https://example.com:8443/tmp/a",
		"file:///tmp/a":                    "file:///vol/tmp/a",
		"relative/tmp/a":                   "relative/tmp/a",
		"/tmp/../etc/config/x":             "/vol/a/x",
	} {
		if got := p.translate(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestWithoutElection: leader election is switched off, and the program's name is not an argument.
func TestWithoutElection(t *testing.T) {
	got := withoutElection([]string{"--leader-elect", "--leader-elect", "-leader-elect=true", "--leader-elect=false", "leader-elect", "--leader-elect-id=x"})
	want := []string{"--leader-elect", "--leader-elect=false", "--leader-elect=false", "--leader-elect=false", "leader-elect", "--leader-elect-id=x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
