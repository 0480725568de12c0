//go:build unix

package clusterctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl"
)

// precious is what a durable cluster has kept.
func (d *dock) precious() string {
	return filepath.Join(d.state, "clusters", "default", "etcd", "precious")
}

// lose makes the default cluster's configuration one that nobody can read, as a power loss may.
func (d *dock) lose(text string) {
	d.t.Helper()
	config := filepath.Join(d.state, "clusters", "default", "config.json")
	err := os.Remove(config)
	if text != "" {
		err = os.WriteFile(config, []byte(text)[1:], 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// losses are what becomes of a configuration: nothing stays of it, or what stands behind the first character.
var losses = map[string]string{"missing": "", "empty": "-", "cut": `-{"durable":`}

func (d *dock) keepPrecious() {
	d.t.Helper()
	d.keepData()
	if err := os.WriteFile(d.precious(), nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *dock) wantPrecious(after string) {
	d.t.Helper()
	if _, err := os.Stat(d.precious()); err != nil {
		d.t.Fatalf("after %s: %v", after, err)
	}
}

// TestUnknownIsKept: the data of a cluster of which nobody knows whether it was durable are never removed but by
// delete.
func TestUnknownIsKept(t *testing.T) {
	for name, text := range losses {
		t.Run(name, func(t *testing.T) {
			d := newDock(t, sound)
			d.keepPrecious()
			d.lose(text)
			_, err := d.Start(t.Context(), "", clusterctl.Options{})
			d.wantPrecious("start")
			if e := userError(t, err); e.Next != "slipway cluster start --durable" || !strings.Contains(e.Hint, "slipway cluster delete") {
				t.Errorf("start: %+v", e)
			}
			d.stop()
			d.wantPrecious("stop")
			if !d.told("the data of cluster default are kept") {
				t.Error("stop says nothing of the data")
			}
			if all, err := d.List(t.Context()); err != nil || len(all) != 1 || !all[0].Durable || all[0].Unknown == "" {
				t.Errorf("list: %+v, %v", all, err)
			}
			t.Setenv(peerMode, crash)
			if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Durable: true}}); err == nil {
				t.Error("a program that crashes started")
			}
			d.wantPrecious("a start that failed")
			t.Setenv(peerMode, sound)
			d.lose(text)
			d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
			d.wantPrecious("start --durable")
			d.stop()
			if _, err := d.Delete(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(d.precious()); err == nil {
				t.Error("delete leaves the data")
			}
		})
	}
}

// TestUnknownWhileItRuns: the configuration is lost while the cluster runs, which then stops or dies.
func TestUnknownWhileItRuns(t *testing.T) {
	for name, end := range map[string]func(*dock, int){
		"stop": func(d *dock, _ int) { d.stop() },
		"death": func(d *dock, pid int) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				d.t.Fatal(err)
			}
			gone(d.t, pid)
			if _, err := d.Start(d.t.Context(), "", clusterctl.Options{}); err == nil {
				d.t.Error("it was started anew")
			}
			d.stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDock(t, sound)
			d.keepPrecious()
			s := d.start(clusterctl.Options{})
			d.lose("-")
			if again := d.start(clusterctl.Options{}); !again.Already || !again.Durable {
				t.Errorf("started again: %+v", again)
			}
			end(d, s.PID)
			d.wantPrecious(name)
		})
	}
}

// TestThrowAwayIsNotKept: what a killed start of a cluster that is not durable left is none of its user's data.
func TestThrowAwayIsNotKept(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{})
	dir := filepath.Join(d.state, "clusters", "default")
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	d.stop()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	d.start(clusterctl.Options{})
	if d.told("has kept its data") {
		t.Error("a cluster that is not durable is said to have kept its data")
	}
}

// TestManyAtOnce: commands that look do not hinder each other, and wait for those that start and stop.
func TestManyAtOnce(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				if s, err := d.Status(t.Context(), ""); err != nil || s.State != clusterctl.Running {
					t.Errorf("status: %+v, %v", s, err)
				}
				if _, _, err := d.Kubeconfig(t.Context(), ""); err != nil {
					t.Errorf("kubeconfig: %v", err)
				}
			}
		})
		group.Go(func() {
			if s, err := d.Start(t.Context(), "", clusterctl.Options{}); err != nil || !s.Already {
				t.Errorf("start: %+v, %v", s, err)
			}
		})
	}
	group.Wait()
}
