//go:build unix

package clusterctl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

func TestTie(t *testing.T) {
	d := newDock(t, sound)
	s, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(filepath.Dir(s.Kubeconfig))
	if s.Server == "" || s.Kubernetes != "1.37.1" {
		t.Errorf("session: %+v", s)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the session's folder is still there")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := os.Stat(d.kube); err == nil {
		t.Error("the user's kubeconfig was touched")
	}
}

func TestTieEndsWithContext(t *testing.T) {
	d := newDock(t, sound)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := d.Tie(ctx, "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-s.Done()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// ties has the test's program start a cluster and wait to be killed.
const ties = "CLUSTERCTL_TEST_TIES"

// TestTies is the starter that TestTieSweeps kills.
func TestTies(t *testing.T) {
	if os.Getenv(ties) == "" {
		t.Skip("it is for TestTieSweeps")
	}
	s, err := newDock(t, sound).Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("folder " + filepath.Dir(filepath.Dir(s.Kubeconfig)))
	<-s.Done()
}

// killedStarter is the folder of a cluster whose starter was killed, after the program's end.
func killedStarter(t *testing.T) (dir string) {
	t.Helper()
	starter := exec.Command(os.Args[0], "-test.run=^TestTies$")
	starter.Env, starter.Stderr = append(os.Environ(), ties+"=yes", peerMode+"="), os.Stderr
	out, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		dir, _ = strings.CutPrefix(lines.Text(), "folder ")
	}
	_ = starter.Process.Kill()
	_ = starter.Wait()
	program := state.Cluster{Dir: filepath.Join(dir, "cluster")}
	if err := program.WaitDead(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTieSweeps: a killed starter cannot remove the folder of its cluster; the next one does. What runs stays, what may
// be about to begin, and what slipway did not make: a project of such a name, and what another user has planted.
func TestTieSweeps(t *testing.T) {
	d := newDock(t, sound)
	t.Setenv("TMPDIR", t.TempDir())
	s, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old := time.Now().Add(-time.Hour)
	running := filepath.Dir(filepath.Dir(s.Kubeconfig))
	left, fresh := killedStarter(t), killedStarter(t)
	project := filepath.Join(os.TempDir(), "slipway-session-drive")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{left, running, project} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	stays := map[string]bool{left: false, fresh: true, running: true, project: true}
	if victim, planted := filepath.Join(t.TempDir(), "keys"), filepath.Join(os.TempDir(), "slipway-session-3"); os.Getuid() == 0 {
		plant(t, planted, victim, old)
		stays[planted], stays[victim] = true, true
	}
	second, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for dir, stays := range stays {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s stays: %v", dir, err == nil)
		}
	}
}

// plant makes the folder of a tied cluster as another user of the machine may: it names a file of the victim's as its
// socket.
func plant(t *testing.T, dir, victim string, at time.Time) {
	t.Helper()
	run := fmt.Sprintf(`{"socket": %q}`, victim)
	cluster := filepath.Join(dir, "cluster")
	if err := errors.Join(os.WriteFile(victim, nil, 0o600), os.MkdirAll(cluster, 0o755), os.WriteFile(filepath.Join(cluster, "run.json"), []byte(run), 0o644),
		userdirs.Mark(dir), os.WriteFile(filepath.Join(dir, ".in-use"), nil, 0o644), os.Chown(dir, 1, 1), os.Chtimes(dir, at, at)); err != nil {
		t.Fatal(err)
	}
}

func TestTieFails(t *testing.T) {
	for _, mode := range []string{crash, late, refuse, foreign, hang} {
		t.Run(mode, func(t *testing.T) {
			d := newDock(t, mode)
			t.Setenv("TMPDIR", t.TempDir())
			_, err := d.Tie(t.Context(), "", clusterctl.Options{Timeout: brief})
			if err == nil {
				t.Fatal("no error")
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
