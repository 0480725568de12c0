package safefs_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// mountedHere tells this test, started again in namespaces of its own, which file to mount.
const mountedHere = "SLIPWAY_TEST_MOUNTED"

// TestUpdateOfAMount: a file that is mounted by itself, as containers have it, cannot be replaced and is written in
// place.
func TestUpdateOfAMount(t *testing.T) {
	if path := os.Getenv(mountedHere); path != "" {
		if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
			t.Skip("cannot mount: ", err)
		}
		update(t, path)
		return
	}
	path := userFile(t, 0o640)
	cmd := exec.Command(os.Args[0], "-test.run=^TestUpdateOfAMount$", "-test.v")
	cmd.Env = append(os.Environ(), mountedHere+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "SKIP") || err != nil && len(out) == 0 {
		t.Skipf("no namespaces of one's own here: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("outside it holds %q, %v", got, err)
	}
}
