package registry_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// Users that have nothing to do with each other.
const (
	ordinary = 54321
	stranger = 54322
)

// as is a process of this program in another part, as another user.
func as(t *testing.T, user uint32, part string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), partOf+"="+part)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

const token = "a-token-that-nobody-guesses"

func TestOthersMayNotPush(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry", Token: token})
	img := image(t)
	push(t, ref(t, r, "op:v1"), img)
	for _, c := range []struct {
		user     uint32
		password string
		pushed   bool
	}{{stranger, "", false}, {stranger, "wrong", false}, {stranger, token, true}, {0, "", true}, {0, "wrong", true}} {
		to := fmt.Sprintf("%s/by/%d:%s", r.Address(), c.user, "v"+c.password)
		out, err := as(t, c.user, "push", to, c.password).CombinedOutput()
		if (err == nil) != c.pushed || err != nil && !strings.Contains(string(out), "UNAUTHORIZED") {
			t.Errorf("user %d with password %q: %v, %s", c.user, c.password, err, out)
		}
	}
	pulled(t, ref(t, r, "op:v1"), img)
}

// TestOrdinaryOwner: a cluster of an ordinary user is that user's, and root's.
func TestOrdinaryOwner(t *testing.T) {
	dir, err := os.MkdirTemp("", "registry-of-others-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, ordinary, ordinary); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	server := as(t, ordinary, "serve", filepath.Join(dir, "registry"), token)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	lines, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = &out
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), server.Wait() })
	var address string
	if _, err := fmt.Fscan(lines, &address); err != nil {
		t.Fatal(err, out.String())
	}
	for user, want := range map[uint32]bool{ordinary: true, 0: true, stranger: false} {
		text, err := as(t, user, "push", fmt.Sprintf("%s/by:u%d", address, user), "").CombinedOutput()
		if (err == nil) != want {
			t.Errorf("user %d: %v, %s", user, err, text)
		}
	}
	if status, _ := request(t, http.MethodGet, "http://"+address+"/v2/by/manifests/u54321", nil); status != http.StatusOK {
		t.Error("what its user has pushed: status", status)
	}
}
