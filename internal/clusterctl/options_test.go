//go:build unix

package clusterctl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// config is what the program was started with.
func (d *dock) config() (c protocol.Config) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.state, "clusters", "default", "config.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		d.t.Fatal(err)
	}
	c.Dir, c.Socket = "", ""
	return c
}

func (d *dock) stop() {
	d.t.Helper()
	if _, err := d.Stop(d.t.Context(), ""); err != nil {
		d.t.Fatal(err)
	}
}

// rich is a cluster about which much is said.
var rich = clusterctl.Options{
	Durable: true, Nodes: []clusterctl.Node{{Name: "a", Taints: []string{"x:NoSchedule"}}, {Name: "b"}}, NoControllers: true,
	FeatureGates: map[string]bool{"A": true, "B": false}, RuntimeConfig: map[string]string{"api/all": "true"}, APIServerFlags: []string{"--v=2"},
}

// peerPort and peerRegistryPort are the ports that the peer says it got, which a durable cluster keeps.
const (
	peerPort         = 1
	peerRegistryPort = 2
)

// TestConfigurationReachesTheProgram wants it all there, and there again when a durable
// cluster is started by its name alone.
func TestConfigurationReachesTheProgram(t *testing.T) {
	d := newDock(t, sound)
	d.start(rich)
	want := protocol.Config{Protocol: protocol.Number, Name: "default", Port: peerPort, RegistryPort: peerRegistryPort, Durable: true, Nodes: rich.Nodes, Controllers: new(false),
		FeatureGates: rich.FeatureGates, RuntimeConfig: rich.RuntimeConfig, APIServerFlags: rich.APIServerFlags}
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Error(diff)
	}
	d.stop()
	d.start(clusterctl.Options{})
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("again: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{WithControllers: true, FeatureGates: map[string]bool{"B": true}, APIServerFlags: []string{"--v=3"}})
	want.Controllers, want.FeatureGates, want.APIServerFlags = nil, map[string]bool{"A": true, "B": true}, []string{"--v=3"}
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{Whole: true})
	if diff := cmp.Diff(protocol.Config{Protocol: protocol.Number, Name: "default", Port: peerPort, RegistryPort: peerRegistryPort, Durable: true, Join: &protocol.Join{}},
		d.config(), cmpopts.IgnoreFields(protocol.Join{}, "Program")); diff != "" {
		t.Errorf("whole: %s", diff)
	}
}

func TestFlagsWinOverFile(t *testing.T) {
	file := clusterfile.File{Port: 1, Nodes: []protocol.Node{{Name: "a"}}, Durable: new(true), Controllers: new(false),
		FeatureGates: map[string]bool{"A": true, "B": true}, APIServerFlags: []string{"--v=1"}}
	got := clusterctl.Options{Port: 2, Nodes: []clusterctl.Node{}, WithControllers: true, FeatureGates: map[string]bool{"B": false},
		APIServerFlags: []string{"--v=2"}}.Over(clusterctl.FromFile(file))
	want := clusterctl.Options{Port: 2, Nodes: []clusterctl.Node{}, Durable: true, WithControllers: true, Whole: true,
		FeatureGates: map[string]bool{"A": true, "B": false}, APIServerFlags: []string{"--v=1", "--v=2"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(clusterctl.Options{})); diff != "" {
		t.Error(diff)
	}
}

// TestOtherConfiguration asks a cluster that runs to be another one.
func TestOtherConfiguration(t *testing.T) {
	d := newDock(t, sound)
	d.start(rich)
	pid := d.want("", clusterctl.Running).PID
	for _, same := range []clusterctl.Options{{}, rich, {Port: 1}, {NoControllers: true}, {FeatureGates: map[string]bool{"B": false}}} {
		if s := d.start(same); !s.Already || s.PID != pid {
			t.Errorf("%+v: %+v", same, s)
		}
	}
	for want, o := range map[string]clusterctl.Options{
		"port: 2 is asked for, it has 1":                                {Port: 2},
		"controllers: true is asked for, it has false":                  {WithControllers: true},
		"nodes: none is asked for, it has a,taint=x:NoSchedule b":       {Nodes: []clusterctl.Node{}},
		"feature gate A: false is asked for, it has true":               {FeatureGates: map[string]bool{"A": false}},
		"feature gate C: true is asked for, it has the default":         {FeatureGates: map[string]bool{"C": true}},
		"runtime config api/all: the default is asked for, it has true": {Whole: true},
		"API server flags: --v=3 is asked for, it has --v=2":            {APIServerFlags: []string{"--v=3"}},
	} {
		_, err := d.Start(t.Context(), o)
		e := userError(t, err)
		if !strings.Contains(e.What, "runs with another configuration") || !strings.Contains(e.Hint, want) || e.Next != "slipway cluster stop" {
			t.Errorf("%+v: %+v", o, e)
		}
	}
	if s := d.want("", clusterctl.Running); s.PID != pid {
		t.Error("the cluster was restarted")
	}
	d.stop()
	if _, err := d.Delete(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	d.start(clusterctl.Options{})
	_, err := d.Start(t.Context(), clusterctl.Options{Durable: true})
	if e := userError(t, err); !strings.Contains(e.Hint, "durable: asked for") || !strings.Contains(e.Hint, "thrown away then") {
		t.Errorf("durable: %+v", e)
	}
}

// TestFailedStartIsNotRemembered: what a durable cluster could not start with is not what it
// is started with next, and a first start that fails leaves no cluster.
func TestFailedStartIsNotRemembered(t *testing.T) {
	d := newDock(t, sound)
	t.Setenv(peerMode, refuse)
	if _, err := d.Start(t.Context(), clusterctl.Options{Durable: true}); err == nil {
		t.Fatal("no error")
	}
	if all, err := d.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("there is a cluster: %+v, %v", all, err)
	}
	t.Setenv(peerMode, sound)
	d.start(clusterctl.Options{Durable: true, APIServerFlags: []string{"--v=1"}})
	want := d.config()
	d.stop()
	t.Setenv(peerMode, refuse)
	if _, err := d.Start(t.Context(), clusterctl.Options{APIServerFlags: []string{"--sink"}}); err == nil {
		t.Fatal("no error")
	}
	t.Setenv(peerMode, sound)
	d.start(clusterctl.Options{})
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Error(diff)
	}
}

func TestNegativeTimeout(t *testing.T) {
	d := newDock(t, sound)
	_, err := d.Start(t.Context(), clusterctl.Options{Timeout: -time.Second})
	if e := userError(t, err); e.Where != "--timeout" || e.Code != 2 {
		t.Errorf("start: %+v", e)
	}
	if _, err := d.Tie(t.Context(), clusterctl.Options{Timeout: -1}); err == nil {
		t.Error("tie: no error")
	}
}

// TestKindsOfNodes: a real node joins where nothing was said of nodes, and nowhere else; a durable cluster keeps that.
func TestKindsOfNodes(t *testing.T) {
	for name, c := range map[string]struct {
		first, then clusterctl.Options
		joins       bool
	}{
		"nothing said":        {clusterctl.Options{}, clusterctl.Options{}, true},
		"simulated":           {clusterctl.Options{Kind: clusterctl.SimulatedNodes}, clusterctl.Options{}, false},
		"named":               {clusterctl.Options{Nodes: []clusterctl.Node{{Name: "a"}}}, clusterctl.Options{}, false},
		"without controllers": {clusterctl.Options{NoControllers: true}, clusterctl.Options{}, false},
		"controllers back":    {clusterctl.Options{NoControllers: true}, clusterctl.Options{WithControllers: true}, true},
		"simulated after all": {clusterctl.Options{}, clusterctl.Options{Kind: clusterctl.SimulatedNodes}, false},
		"not said any more":   {clusterctl.Options{Kind: clusterctl.SimulatedNodes}, clusterctl.Options{Whole: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDock(t, sound)
			c.first.Durable = true
			d.start(c.first)
			d.stop()
			d.start(c.then)
			if joins := d.config().Join != nil; joins != c.joins {
				t.Errorf("a real node joins: %t", joins)
			}
		})
	}
}

// TestSimulatingWhatIsMissing needs real nodes.
func TestSimulatingWhatIsMissing(t *testing.T) {
	d := newDock(t, sound)
	for _, o := range []clusterctl.Options{{SimulateMissing: new(true)}, {SimulateMissing: new(true), Kind: clusterctl.SimulatedNodes}} {
		if _, err := d.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is for real nodes") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	d.start(clusterctl.Options{SimulateMissing: new(false)})
	_, err := d.Start(t.Context(), clusterctl.Options{Kind: clusterctl.RealNodes})
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "real is asked for, it has simulated ones, which a real one joins") {
		t.Errorf("got %v", err)
	}
}
