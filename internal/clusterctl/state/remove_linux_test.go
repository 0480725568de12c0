package state_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
)

// removing names the home of a test's state, for the process of an ordinary user that removes it.
const removing = "SLIPWAY_TEST_REMOVING"

// TestRemoverIsData: what a user may not remove goes with the program that the command knows. A file in the state,
// where a node may write that has broken out, names none.
func TestRemoverIsData(t *testing.T) {
	if home := os.Getenv(removing); home != "" {
		removeAsOrdinaryUser(t, home)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("files of another user need root")
	}
	const ordinary = 1500
	home := t.TempDir()
	for dir := home; dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := cluster(t, home)
	foreign := filepath.Join(c.Dir, "nodes", "node-1")
	if err := os.MkdirAll(filepath.Join(foreign, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"named", "known"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >%s/%s.called\n", home, name)
		if err := os.WriteFile(filepath.Join(home, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "nodes", ".remover"), []byte(filepath.Join(home, "named")), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "test"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(path, foreign) {
			return err
		}
		return os.Lchown(path, ordinary, ordinary)
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(home, "test"), "-test.run=^TestRemoverIsData$", "-test.v")
	cmd.Dir, cmd.Env = home, append(os.Environ(), removing+"="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if called, err := os.ReadFile(filepath.Join(home, "known.called")); err != nil || string(called) != "remove "+c.Dir+"\n" {
		t.Errorf("the program that the command knows: %q, %v", called, err)
	}
	if called, err := os.ReadFile(filepath.Join(home, "named.called")); err == nil {
		t.Errorf("the program that a file names was started: %q", called)
	}
}

func removeAsOrdinaryUser(t *testing.T, home string) {
	c := state.Cluster{Name: "blue", Dir: filepath.Join(home, "clusters", "blue"), Remover: func() string { return filepath.Join(home, "missing") }}
	if _, err := c.Remove(); err == nil {
		t.Error("it is removed without the program")
	} else if e, ok := errors.AsType[*report.Error](err); !ok || e.Next != "slipway cluster build --nodes real" {
		t.Errorf("without the program: %v", err)
	}
	c.Remover = func() string { return filepath.Join(home, "known") }
	if _, err := c.Remove(); err != nil {
		t.Error(err)
	}
}
