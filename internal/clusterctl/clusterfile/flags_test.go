package clusterfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestFlags: flags and file are read apart.
func TestFlags(t *testing.T) {
	none, off := map[string]bool{}, map[string]string{}
	for name, tc := range map[string]struct {
		flags clusterfile.Flags
		want  protocol.Spec
		file  *clusterfile.Description
	}{
		"none": {clusterfile.Flags{}, protocol.Spec{FeatureGates: none, RuntimeConfig: off}, nil},
		"without a file": {clusterfile.Flags{NodeKind: "plain=2", Durable: true}, protocol.Spec{
			NodeKind: protocol.PlainNodes, Nodes: []protocol.Node{{Name: "node-1"}, {Name: "node-2"}}, Durable: true, FeatureGates: none, RuntimeConfig: off}, nil},
		"simulated ones": {clusterfile.Flags{NodeKind: "simulated=2", SimulatedPods: "pending", SimulatedJobs: "complete"}, protocol.Spec{NodeKind: protocol.SimulatedNodes, SimulatedPods: "pending", SimulatedJobs: "complete",
			Nodes: []protocol.Node{{Name: "simulated-1"}, {Name: "simulated-2"}}, FeatureGates: none, RuntimeConfig: off}, nil},
		"the file alone": {clusterfile.Flags{File: "-"}, protocol.Spec{FeatureGates: none, RuntimeConfig: off}, &clusterfile.Description{Spec: protocol.Spec{NodeKind: protocol.RealNodes, IsolatedOnly: true, Port: 1}}},
		"both": {clusterfile.Flags{File: "-", Port: 2, RegistryPort: 3, Nodes: []string{"none"}, NodeKind: "plain", Controllers: new("gc"), SimulateMissingImages: new(false), Egress: new(true),
			FeatureGates: []string{"B=false"}, RuntimeConfig: []string{"api/all=false"}, APIServerFlags: []string{"v=2"}}, protocol.Spec{
			Port: 2, RegistryPort: 3, Nodes: []protocol.Node{}, NodeKind: protocol.PlainNodes, Controllers: new(true), ControllerNames: []string{"garbage-collector-controller"}, SimulateMissingImages: new(false), Egress: new(true),
			FeatureGates: map[string]bool{"B": false}, RuntimeConfig: map[string]string{"api/all": "false"}, APIServerFlags: []string{"--v=2"}},
			&clusterfile.Description{Spec: protocol.Spec{NodeKind: protocol.RealNodes, IsolatedOnly: true, Port: 1}}},
	} {
		got, file, err := tc.flags.Read(strings.NewReader("{nodeKind: real, port: 1}"))
		if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.file, file); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestMistakesInFlags(t *testing.T) {
	for _, tc := range []struct {
		flags       clusterfile.Flags
		where, what string
	}{
		{clusterfile.Flags{NodeKind: "metal"}, "--nodes", `unknown kind of nodes "metal": use simulated, real or plain`},
		{clusterfile.Flags{NodeKind: "real=0"}, "--nodes", `invalid number of nodes "0": use 1 to 100`},
		{clusterfile.Flags{NodeKind: "real=101"}, "--nodes", `invalid number of nodes "101"`},
		{clusterfile.Flags{NodeKind: "real=2", Nodes: []string{"a"}}, "--nodes", "and --node exclude each other"},
		{clusterfile.Flags{Nodes: []string{"A_b"}}, "--node", `invalid name of a node "A_b"`},
		{clusterfile.Flags{Nodes: []string{"a", "a"}}, "--node", "a second node named a"},
		{clusterfile.Flags{Nodes: []string{"a", "none"}}, "--node", "none means no nodes and excludes other values"},
		{clusterfile.Flags{APIServerFlags: []string{"--secure-port=1"}}, "--api-server-flag", "cannot be set"},
		{clusterfile.Flags{FeatureGates: []string{"A=perhaps"}}, "--feature-gate", "invalid feature gate"},
		{clusterfile.Flags{RuntimeConfig: []string{"=true"}}, "--runtime-config", "invalid version of an API"},
		{clusterfile.Flags{SimulatedPods: "runningg"}, "--simulated-pods", `unknown phase of simulated pods "runningg"`},
		{clusterfile.Flags{SimulatedJobs: "x"}, "--simulated-jobs", `unknown phase of simulated pods "x"`},
		{clusterfile.Flags{Controllers: new("jop")}, "--controllers", `there is no controller "jop"`},
		{clusterfile.Flags{Controllers: new("")}, "--controllers", `there is no controller ""`},
		{clusterfile.Flags{File: "-"}, "stdin", "cannot be read"},
	} {
		_, _, err := tc.flags.Read(iotest.ErrReader(errors.New("broken")))
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != tc.where || !strings.Contains(e.What, tc.what) || e.Code != 2 {
			t.Errorf("%+v: %+v", tc.flags, e)
		}
	}
}
