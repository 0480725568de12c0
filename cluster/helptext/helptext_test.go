package helptext

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// called is this program under another name.
func called(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(own, link); err != nil {
		t.Skip(err)
	}
	return exec.Command(link, args...)
}

// TestAnswer: a program that has this package answers before it begins, when it is called so and for nothing else.
func TestAnswer(t *testing.T) {
	out, err := called(t, "kube-apiserver", "--help").Output()
	if err != nil || string(out) != text || !strings.Contains(text, "--etcd-servers") {
		t.Errorf("%d bytes, %v; the text has %d", len(out), err, len(text))
	}
	for _, cmd := range []*exec.Cmd{
		called(t, "kube-apiserver", "--help", "--v=1"), called(t, "kube-apiserver", "-h"), called(t, "etcd", "--help"), called(t, "kube-apiserver-2", "--help"),
	} {
		if out, _ := cmd.Output(); bytes.Contains(out, []byte("--etcd-servers")) { // the test's own flags are told on stderr
			t.Errorf("%q is answered", cmd.Args)
		}
	}
}

// TestTerminalsAreLeftToTheCommand, for which the text is folded: what is no file that can be looked at is left to it,
// too.
func TestTerminalsAreLeftToTheCommand(t *testing.T) {
	closed, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if answer([]string{"kube-apiserver", "--help"}, closed) {
		t.Error("a closed file is answered to")
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !isTerminal(null) {
		t.Skip("no device that stands for a terminal")
	}
	if answer([]string{"kube-apiserver", "--help"}, null) {
		t.Error("a device is answered to")
	}
}
