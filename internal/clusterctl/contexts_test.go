//go:build unix

package clusterctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl"
)

// selecting makes a kubeconfig that has a context of its own and selects it.
func selecting(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := strings.NewReplacer("name: x", "name: "+name, "current-context: x", "current-context: "+name).Replace(peerKubeconfig)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantOwn wants a file to be as the user had it, and of the mode that it had.
func (d *dock) wantOwn(path, name string) {
	d.t.Helper()
	d.kube = path
	if got := d.currentContext(); got != name {
		d.t.Errorf("%s selects %q, want %q", path, got, name)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "slipway-") {
		d.t.Errorf("%s: %v\n%s", path, err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		d.t.Errorf("%s: %v, %v", path, info.Mode(), err)
	}
}

// TestSeveralKubeconfigs: a cluster that was started with several values of KUBECONFIG is in each, and leaves all.
func TestSeveralKubeconfigs(t *testing.T) {
	for name, end := range map[string]func(*dock){
		"stop": func(d *dock) { d.stop() },
		"delete": func(d *dock) {
			if _, err := d.Delete(d.t.Context(), ""); err != nil {
				d.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDock(t, sound)
			one, two := selecting(t, "work"), selecting(t, "play")
			for _, kube := range []string{one, two, one, one + string(os.PathListSeparator) + two} {
				d.env["KUBECONFIG"] = kube
				d.start(clusterctl.Options{})
			}
			for _, d.kube = range []string{one, two} {
				if got := d.currentContext(); got != "slipway-default" {
					t.Errorf("%s selects %q", d.kube, got)
				}
			}
			end(d)
			d.wantOwn(one, "work")
			d.wantOwn(two, "play")
		})
	}
}

// TestContextIsFoundWithoutARecord: what a start remembered is lost, as after a power loss.
func TestContextIsFoundWithoutARecord(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{})
	if err := os.WriteFile(filepath.Join(d.state, "clusters", "default", "run.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.stop()
	if got := d.currentContext(); got != "" {
		t.Errorf("%q is selected", got)
	}
}
