//go:build unix

package clusterctl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
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
var rich = clusterctl.Spec{
	Durable: true, Nodes: []clusterctl.Node{{Name: "a", Taints: []string{"x:NoSchedule"}}, {Name: "b"}}, Controllers: new(false),
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
	d.start(clusterctl.Options{Spec: rich, Record: true})
	want := protocol.Config{Protocol: protocol.Number, Name: "default", RecordBytes: 256 << 20, Spec: rich}
	want.Port, want.RegistryPort = peerPort, peerRegistryPort
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Error(diff)
	}
	d.stop()
	d.start(clusterctl.Options{Record: true})
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("again: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{Record: true, Spec: clusterctl.Spec{Controllers: new(true), FeatureGates: map[string]bool{"B": true}, APIServerFlags: []string{"--v=3"}}})
	want.Controllers, want.FeatureGates, want.APIServerFlags = new(true), map[string]bool{"A": true, "B": true}, []string{"--v=3"}
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{Record: true, Spec: clusterctl.Spec{Controllers: new(true), ControllerNames: []string{"job-controller"}, SimulatedPods: "pending", APIServerFlags: []string{"--v=3"}}})
	d.stop()
	d.start(clusterctl.Options{Record: true}) // goes on with those controllers
	want.ControllerNames, want.SimulatedPods = []string{"job-controller"}, "pending"
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("some controllers: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{Record: true, Spec: clusterctl.Spec{Controllers: new(true)}})
	want.ControllerNames = nil
	if diff := cmp.Diff(want, d.config()); diff != "" {
		t.Errorf("all controllers again: %s", diff)
	}
	d.stop()
	d.start(clusterctl.Options{Record: true, Whole: true})
	want.Spec = clusterctl.Spec{Port: peerPort, RegistryPort: peerRegistryPort, Durable: true}
	if diff := cmp.Diff(want, d.config(), cmpopts.IgnoreFields(protocol.Config{}, "NodeProgram")); diff != "" {
		t.Errorf("whole: %s", diff)
	}
}

// TestFlagsWinOverFile: what both say is as the flags have it, and feature gates and the like add up. What an earlier
// start asked for does not count.
func TestFlagsWinOverFile(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true, NodeKind: protocol.SimulatedNodes, RuntimeConfig: map[string]string{"earlier/v1": "true"}}})
	d.stop()
	file := clusterctl.Spec{Nodes: []clusterctl.Node{{Name: "a"}}, Controllers: new(false), RuntimeConfig: map[string]string{"api/all": "true"},
		FeatureGates: map[string]bool{"A": true, "B": true}, APIServerFlags: []string{"--v=1"}}
	flags := clusterctl.Spec{Nodes: []clusterctl.Node{}, Controllers: new(true), FeatureGates: map[string]bool{"B": false}, APIServerFlags: []string{"--v=2"}}
	d.start(clusterctl.Options{Spec: clusterspec.Merge(flags, file), Whole: true})
	want := clusterctl.Spec{Port: peerPort, RegistryPort: peerRegistryPort, Nodes: []clusterctl.Node{}, Durable: true, Controllers: new(true),
		RuntimeConfig: file.RuntimeConfig, FeatureGates: map[string]bool{"A": true, "B": false}, APIServerFlags: []string{"--v=2"}}
	if diff := cmp.Diff(want, d.config().Spec); diff != "" {
		t.Error(diff)
	}
}

// TestOtherConfiguration asks a cluster that runs to be another one.
func TestOtherConfiguration(t *testing.T) {
	d := newDock(t, sound)
	d.start(clusterctl.Options{Spec: rich})
	pid := d.want("", clusterctl.Running).PID
	for _, same := range []clusterctl.Spec{{}, rich, {Port: 1}, {Controllers: new(false)}, {FeatureGates: map[string]bool{"B": false}}, {NodeKind: protocol.SimulatedNodes}} {
		if s := d.start(clusterctl.Options{Spec: same}); !s.Already || s.PID != pid {
			t.Errorf("%+v: %+v", same, s)
		}
	}
	for want, o := range map[string]clusterctl.Options{
		"--port: requested 2, the cluster has 1":                                {Spec: clusterctl.Spec{Port: 2}},
		"--controllers: requested true, the cluster has false":                  {Spec: clusterctl.Spec{Controllers: new(true)}},
		"--controllers: requested job-controller, the cluster has false":        {Spec: clusterctl.Spec{Controllers: new(true), ControllerNames: []string{"job-controller"}}},
		"--simulated-pods: requested pending, the cluster has complete":         {Spec: clusterctl.Spec{SimulatedPods: "pending"}},
		"--simulated-jobs: requested running, the cluster has complete":         {Spec: clusterctl.Spec{SimulatedJobs: "running"}},
		"--node: requested none, the cluster has a,taint=x:NoSchedule b":        {Spec: clusterctl.Spec{Nodes: []clusterctl.Node{}}},
		"--nodes: requested plain, the cluster has simulated":                   {Spec: clusterctl.Spec{NodeKind: protocol.PlainNodes}},
		"--feature-gate A: requested false, the cluster has true":               {Spec: clusterctl.Spec{FeatureGates: map[string]bool{"A": false}}},
		"--feature-gate C: requested true, the cluster has the default":         {Spec: clusterctl.Spec{FeatureGates: map[string]bool{"C": true}}},
		"--runtime-config api/all: requested the default, the cluster has true": {Whole: true},
		"--api-server-flag v: requested 3, the cluster has 2":                   {Spec: clusterctl.Spec{APIServerFlags: []string{"--v=3"}}},
	} {
		_, err := d.Start(t.Context(), "", o)
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
	_, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Durable: true}})
	if e := userError(t, err); !strings.Contains(e.Hint, "--durable: requested true, the cluster has false, so it loses its data") || !strings.Contains(e.Hint, "which deletes its data") {
		t.Errorf("durable: %+v", e)
	}
}

// TestFailedStartIsNotRemembered: what a durable cluster could not start with is not what it
// is started with next, and a first start that fails leaves no cluster.
func TestFailedStartIsNotRemembered(t *testing.T) {
	d := newDock(t, sound)
	t.Setenv(peerMode, refuse)
	if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{Durable: true}}); err == nil {
		t.Fatal("no error")
	}
	if all, err := d.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("there is a cluster: %+v, %v", all, err)
	}
	t.Setenv(peerMode, sound)
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Durable: true, APIServerFlags: []string{"--v=1"}}})
	want := d.config()
	d.stop()
	t.Setenv(peerMode, refuse)
	if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{APIServerFlags: []string{"--sink"}}}); err == nil {
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
	_, err := d.Start(t.Context(), "", clusterctl.Options{Timeout: -time.Second})
	if e := userError(t, err); e.Where != "--timeout" || e.ExitCode() != report.UsageCode {
		t.Errorf("start: %+v", e)
	}
	if _, err := d.Tie(t.Context(), "", clusterctl.Options{Timeout: -1}); err == nil {
		t.Error("tie: no error")
	}
}

// TestKindsOfNodes: the state has the kind as the user gave it, at the first start or at a later one of a durable
// cluster. A real node joins where nothing was said of nodes, and nowhere else.
func TestKindsOfNodes(t *testing.T) {
	named, bare := clusterctl.Spec{Nodes: []clusterctl.Node{{Name: "a"}}}, clusterctl.Spec{Controllers: new(false)}
	simulated, nothing := clusterctl.Spec{NodeKind: protocol.SimulatedNodes}, clusterctl.Spec{}
	for name, c := range map[string]struct {
		first clusterctl.Spec
		then  clusterctl.Options
		kind  protocol.NodeKind
		joins bool
	}{
		"nothing said":        {nothing, clusterctl.Options{}, protocol.DefaultNodes, true},
		"simulated":           {simulated, clusterctl.Options{}, protocol.SimulatedNodes, false},
		"named":               {named, clusterctl.Options{}, protocol.DefaultNodes, false},
		"without controllers": {bare, clusterctl.Options{}, protocol.DefaultNodes, false},
		"controllers back":    {bare, clusterctl.Options{Spec: clusterctl.Spec{Controllers: new(true)}}, protocol.DefaultNodes, true},
		"simulated after all": {nothing, clusterctl.Options{Spec: simulated}, protocol.SimulatedNodes, false},
		"not said any more":   {simulated, clusterctl.Options{Whole: true}, protocol.DefaultNodes, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDock(t, sound)
			c.first.Durable = true
			d.start(clusterctl.Options{Spec: c.first})
			d.stop()
			d.start(c.then)
			got := d.config()
			if joins := got.NodeProgram != ""; got.NodeKind != c.kind || joins != c.joins || got.Joins() != c.joins {
				t.Errorf("nodes are %q, a real node joins: %t; the program lies at %q", got.NodeKind, got.Joins(), got.NodeProgram)
			}
		})
	}
}

// TestSimulatingWhatIsMissing needs real nodes.
func TestSimulatingWhatIsMissing(t *testing.T) {
	d := newDock(t, sound)
	for _, o := range []clusterctl.Spec{{SimulateMissingImages: new(true)}, {SimulateMissingImages: new(true), NodeKind: protocol.SimulatedNodes}} {
		if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: o}); err == nil || !strings.Contains(err.Error(), "is for real nodes") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	d.start(clusterctl.Options{Spec: clusterctl.Spec{SimulateMissingImages: new(false)}})
	_, err := d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{NodeKind: protocol.RealNodes}})
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "requested real, the cluster has simulated, and an isolated one joins") {
		t.Errorf("got %v", err)
	}
}

// TestEgress needs nodes that run pods, and is a difference to a cluster without it.
func TestEgress(t *testing.T) {
	d := newDock(t, sound)
	for _, o := range []clusterctl.Spec{
		{Egress: new(true), NodeKind: protocol.SimulatedNodes}, {Egress: new(true), Nodes: []protocol.Node{{Name: "a"}}}, {Egress: new(true), Controllers: new(false)},
	} {
		if _, err := d.Start(t.Context(), "", clusterctl.Options{Spec: o}); err == nil || !strings.Contains(err.Error(), "--egress is for the pods of isolated nodes") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	d.start(clusterctl.Options{Spec: clusterctl.Spec{Egress: new(true)}})
	if got := d.config().Egress; got == nil || !*got {
		t.Errorf("the program is started with egress %v", got)
	}
	for _, o := range []clusterctl.Options{{Spec: clusterctl.Spec{Egress: new(false)}}, {Whole: true}} {
		_, err := d.Start(t.Context(), "", o)
		if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "--egress: requested false, the cluster has true") {
			t.Errorf("got %v", err)
		}
	}
	d.start(clusterctl.Options{})
}

// TestHostPorts needs nodes that run pods, stays as it is when a start does not name it, and is a difference.
func TestHostPorts(t *testing.T) {
	d := newDock(t, sound)
	simulated := clusterctl.Spec{HostPorts: []int{5432, 9000}, NodeKind: protocol.SimulatedNodes}
	_, err := d.Start(t.Context(), "", clusterctl.Options{Spec: simulated})
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Next != "slipway cluster start --nodes real --host-ports 5432,9000" {
		t.Errorf("with simulated nodes: %v", err)
	}
	d.start(clusterctl.Options{Spec: clusterctl.Spec{HostPorts: []int{5432}}})
	if got := d.config().HostPorts; !slices.Equal(got, []int{5432}) {
		t.Errorf("the program is started with host ports %v", got)
	}
	_, err = d.Start(t.Context(), "", clusterctl.Options{Spec: clusterctl.Spec{HostPorts: []int{22}}})
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "--host-ports: requested 22, the cluster has 5432") {
		t.Errorf("got %v", err)
	}
	d.start(clusterctl.Options{})
}
