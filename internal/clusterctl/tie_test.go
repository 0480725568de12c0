//go:build unix

package clusterctl_test

import (
	"context"
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
	second, err := d.Tie(t.Context(), "", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for dir, stays := range map[string]bool{left: false, fresh: true, running: true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s stays: %v", dir, err == nil)
		}
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
