//go:build unix

package clusterctl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
)

func TestTie(t *testing.T) {
	d := newDock(t, sound)
	s, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(s.Kubeconfig)
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

// TestTieSweeps: a killed starter cannot remove the folder of its cluster; the next one does.
func TestTieSweeps(t *testing.T) {
	d := newDock(t, sound)
	t.Setenv("TMPDIR", t.TempDir())
	s, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old := time.Now().Add(-time.Hour)
	running := filepath.Dir(s.Kubeconfig)
	left := filepath.Join(os.TempDir(), "slipway-session-1")
	fresh := filepath.Join(os.TempDir(), "slipway-session-2")
	for _, dir := range []string{left, fresh} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{left, running} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	stays := map[string]bool{left: false, fresh: true, running: true}
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
	if err := errors.Join(os.WriteFile(victim, nil, 0o600), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "run.json"), []byte(run), 0o644),
		os.Chown(dir, 1, 1), os.Chtimes(dir, at, at)); err != nil {
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
