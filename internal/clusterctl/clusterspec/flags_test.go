package clusterspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestFlags: each flag asks for its part of a cluster, and the last of several texts counts where there is one value.
func TestFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		flags clusterspec.Flags
		want  protocol.Spec
	}{
		"none": {nil, protocol.Spec{}},
		"counted": {clusterspec.Flags{"nodes": {"real", "plain=2"}, "durable": {"true"}}, protocol.Spec{
			NodeKind: protocol.PlainNodes, Nodes: []protocol.Node{{Name: "node-1"}, {Name: "node-2"}}, Durable: true}},
		"simulated ones": {clusterspec.Flags{"nodes": {"simulated=2"}}, protocol.Spec{
			NodeKind: protocol.SimulatedNodes, Nodes: []protocol.Node{{Name: "simulated-1"}, {Name: "simulated-2"}}}},
		"no nodes":  {clusterspec.Flags{"node": {"none"}}, protocol.Spec{Nodes: []protocol.Node{}}},
		"some of":   {clusterspec.Flags{"controllers": {"gc"}}, protocol.Spec{Controllers: new(true), ControllerNames: []string{"garbage-collector-controller"}}},
		"lists":     {clusterspec.Flags{"host-ports": {"1,2", "3"}, "feature-gate": {"A=true,B=false"}}, protocol.Spec{HostPorts: []int{1, 2, 3}, FeatureGates: map[string]bool{"A": true, "B": false}}},
		"left open": {clusterspec.Flags{"port": {"0"}, "simulated-pods": {""}, "nodes": {""}}, protocol.Spec{}},
	} {
		got, err := tc.flags.Spec("slipway cluster start")
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestMistakesInFlags(t *testing.T) {
	for _, tc := range []struct {
		flags       clusterspec.Flags
		where, what string
	}{
		{clusterspec.Flags{"nodes": {"metal"}}, "--nodes", `unknown kind of nodes "metal": use simulated, real or plain`},
		{clusterspec.Flags{"nodes": {"real=0"}}, "--nodes", `invalid number of nodes "0": use 1 to 100`},
		{clusterspec.Flags{"nodes": {"real=101"}}, "--nodes", `invalid number of nodes "101"`},
		{clusterspec.Flags{"nodes": {"real=2"}, "node": {"a"}}, "--nodes", "and --node exclude each other"},
		{clusterspec.Flags{"node": {"A_b"}}, "--node", `invalid name of a node "A_b"`},
		{clusterspec.Flags{"node": {"a", "a"}}, "--node", "a second node named a"},
		{clusterspec.Flags{"node": {"a", "none"}}, "--node", "none means no nodes and excludes other values"},
		{clusterspec.Flags{"api-server-flag": {"--secure-port=1"}}, "--api-server-flag", "cannot be set"},
		{clusterspec.Flags{"feature-gate": {"A=perhaps"}}, "--feature-gate", "invalid feature gate"},
		{clusterspec.Flags{"runtime-config": {"=true"}}, "--runtime-config", "invalid version of an API"},
		{clusterspec.Flags{"simulated-jobs": {"x"}}, "--simulated-jobs", `unknown phase of simulated pods "x"`},
		{clusterspec.Flags{"controllers": {""}}, "--controllers", `there is no controller ""`},
		{clusterspec.Flags{"port": {"70000"}}, "--port", "invalid port 70000"},
		{clusterspec.Flags{"host-ports": {"1,0"}}, "--host-ports", "invalid port 0"},
		{clusterspec.Flags{"egress": {"maybe"}}, "--egress", `invalid value "maybe"`},
	} {
		_, err := tc.flags.Spec("slipway cluster start")
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != tc.where || !strings.Contains(e.What, tc.what) || e.ExitCode() != report.UsageCode {
			t.Errorf("%v: %+v", tc.flags, e)
		}
	}
}
