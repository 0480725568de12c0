//go:build unix

package clusterctl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/report"
)

// told returns whether an event's text contains part.
func (d *dock) told(part string) bool {
	return slices.ContainsFunc(d.log.all, func(e report.Event) bool {
		switch e := e.(type) {
		case report.Note:
			return strings.Contains(e.Text, part)
		case report.Warning:
			return strings.Contains(e.Text, part)
		}
		return false
	})
}

// keepData makes the default cluster one that was durable and stopped; the
// peer writes no data of its own.
func (d *dock) keepData() {
	d.t.Helper()
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
	if err := os.MkdirAll(filepath.Join(d.state, "clusters", "default", "etcd"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.stop()
}

// TestVersions starts a durable cluster with later and earlier versions of Kubernetes.
func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{"1.37.0": true, "1.37.9": true, "1.38.0": true, "2.0.0": true, "1.36.9": false, "1.9.0": false} {
		d := newDock(t, sound)
		t.Setenv(peerKubernetes, "")
		d.keepData()
		t.Setenv(peerKubernetes, version)
		_, err := d.Start(t.Context(), "", clusterctl.Options{})
		if (err == nil) != ok {
			t.Errorf("%s: %v", version, err)
		}
		if upgraded := d.told("older versions can no longer read them"); upgraded != (ok && version[:4] != "1.37") {
			t.Errorf("%s: told of an upgrade: %v", version, upgraded)
		}
		if ok {
			continue
		}
		e := userError(t, err)
		if !strings.Contains(e.What, "Kubernetes 1.37.1, but this is the older "+version) || e.Next != "slipway cluster delete" {
			t.Errorf("%s: %+v", version, e)
		}
		t.Setenv(peerKubernetes, "")
		d.start(clusterctl.Options{})
	}
}

func TestUnreadableVersions(t *testing.T) {
	d := newDock(t, sound)
	d.keepData()
	if err := os.WriteFile(filepath.Join(d.state, "clusters", "default", "data.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start(clusterctl.Options{})
}

func TestDamagedData(t *testing.T) {
	d := newDock(t, sound)
	d.keepData()
	for _, mode := range []string{crash, refuse} {
		t.Setenv(peerMode, mode)
		_, err := d.Start(t.Context(), "", clusterctl.Options{})
		if e := userError(t, err); !strings.Contains(e.Hint, "`slipway cluster delete` removes them") {
			t.Errorf("%s: %+v", mode, e)
		}
		if _, err := os.Stat(filepath.Join(d.state, "clusters", "default", "etcd")); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestDelete(t *testing.T) {
	d := newDock(t, sound)
	if s, err := d.Delete(t.Context(), ""); err != nil || !s.Already {
		t.Errorf("nothing: %+v, %v", s, err)
	}
	d.keepData()
	if all, err := d.List(t.Context()); err != nil || len(all) != 1 || all[0].State != clusterctl.Stopped || !all[0].Durable {
		t.Errorf("list: %+v, %v", all, err)
	}
	s := d.start(clusterctl.Options{})
	if s, err := d.Delete(t.Context(), ""); err != nil || s.Already {
		t.Errorf("a cluster that runs: %+v, %v", s, err)
	}
	gone(t, s.PID)
	if entries, err := os.ReadDir(filepath.Join(d.state, "clusters")); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if got := d.currentContext(); got != "" {
		t.Errorf("context %s stays", got)
	}
	if all, err := d.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("list: %+v, %v", all, err)
	}
}

// TestStopWithBrokenKubeconfig: the cluster ends, and its user learns what stays.
func TestStopWithBrokenKubeconfig(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := os.WriteFile(d.kube, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.stop()
	gone(t, s.PID)
	d.want("", clusterctl.Stopped)
	if !d.told("context slipway-default stays in the kubeconfig") {
		t.Error("nothing told that the context stays")
	}
	if text, err := os.ReadFile(d.kube); err != nil || string(text) != "{{{" {
		t.Errorf("the kubeconfig is %q, %v", text, err)
	}
}

// TestStalePID: the id of a cluster that died has come to belong to somebody else,
// who must not be harmed, and a file lies where the socket was.
func TestStalePID(t *testing.T) {
	d := newDock(t, sound)
	s := d.start(clusterctl.Options{})
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Wait() }()
	cl := state.Cluster{Dir: filepath.Join(d.state, "clusters", "default")}
	run, _, err := cl.Run()
	if err != nil {
		t.Fatal(err)
	}
	run.PID = other.Process.Pid
	if err := cl.WriteRun(run); err != nil {
		t.Fatal(err)
	}
	d.want("", clusterctl.Died)
	d.start(clusterctl.Options{})
	d.stop()
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the innocent process: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
}

func TestRefusedRequest(t *testing.T) {
	d := newDock(t, sound)
	if err := d.StopNode(t.Context(), "", "c"); userError(t, err).Next != "slipway cluster start" {
		t.Errorf("no cluster: %v", err)
	}
	d.start(clusterctl.Options{})
	e := userError(t, d.StopNode(t.Context(), "", "c"))
	if e.What != "node c cannot be stopped" || e.Err.Error() != "no node c; nodes are a, b" {
		t.Errorf("unknown node: %+v", e)
	}
	if e.Next != "slipway cluster list" || e.Hint == "" {
		t.Errorf("a node of another cluster: %+v", e)
	}
	_, err := d.Reset(t.Context(), "")
	if e := userError(t, err); e.Err.Error() != `unknown method "reset"` {
		t.Errorf("unknown method: %+v", e)
	}
}
