package cli_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKilledCommands: commands are killed at any time, as by kill -9; the same command,
// called again, then does what it would have done.
func TestKilledCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	t.Setenv("SLIPWAY_CACHE", t.TempDir())
	create := []string{"create", "api", "--group", "batch", "--version", "v1", "--kind", "CronJob", "--resource", "--controller", "--make=false"}
	remove := []string{"delete", "api", "--group", "batch", "--version", "v1", "--kind", "CronJob", "--make=false"}
	start := []string{"init", "--domain", "example.com", "--repo", "example.com/op", "--project-name", "op", "--fetch-deps=false", "--skip-go-version-check"}
	whole := t.TempDir()
	took := timed(func() { slipway(t, whole, start...) })
	fresh := mustTree(t, whole)
	slipway(t, whole, create...)
	full := mustTree(t, whole)
	killed := 0
	for range 8 {
		dir := filepath.Join(t.TempDir(), "op")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			args []string
			want string
		}{{start, fresh}, {create, full}, {remove, fresh}} {
			cmd := exec.Command("slipway", step.args...) // this test binary; see TestMain
			cmd.Dir = dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(2*rand.N(took), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			if _, ended := errors.AsType[*exec.ExitError](err); ended {
				killed++
				again := exec.Command("slipway", step.args...) // fails when the first one was killed after all was done
				again.Dir = dir
				_ = again.Run()
			}
			if diff := cmp.Diff(step.want, mustTree(t, dir)); diff != "" {
				t.Fatalf("after %v was killed, and called again: %s", step.args, diff)
			}
		}
	}
	t.Logf("%d of 24 commands were killed", killed)
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

// mustTree lists the files of a folder with their contents, by their paths in it.
func mustTree(t *testing.T, dir string) string {
	t.Helper()
	t.Chdir(dir)
	tree, err := readTree(".")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
