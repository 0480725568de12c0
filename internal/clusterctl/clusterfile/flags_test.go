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

// TestFlags: flags win over the file, and feature gates and the like add up.
func TestFlags(t *testing.T) {
	const file = `{port: 1, nodes: [{name: a}], nodeKind: real, durable: true, controllers: false, simulateMissingImages: true,
		featureGates: {A: true, B: true}, runtimeConfig: {api/all: true}, apiServer: {flags: [--v=1]}}`
	gates, none := map[string]bool{"A": true, "B": true}, map[string]bool{}
	config := map[string]string{"api/all": "true"}
	for name, tc := range map[string]struct {
		flags clusterfile.Flags
		want  protocol.Spec
	}{
		"none": {clusterfile.Flags{}, protocol.Spec{FeatureGates: none, RuntimeConfig: map[string]string{}}},
		"without a file": {clusterfile.Flags{NodeKind: "plain=2", Durable: true}, protocol.Spec{
			NodeKind: protocol.PlainNodes, Nodes: []protocol.Node{{Name: "node-1"}, {Name: "node-2"}}, Durable: true, FeatureGates: none, RuntimeConfig: map[string]string{}}},
		"the file alone": {clusterfile.Flags{File: "-"}, protocol.Spec{
			Port: 1, Nodes: []protocol.Node{{Name: "a"}}, NodeKind: protocol.RealNodes, Durable: true, Controllers: new(false), SimulateMissingImages: new(true),
			FeatureGates: gates, RuntimeConfig: config, APIServerFlags: []string{"--v=1"}}},
		"both": {clusterfile.Flags{File: "-", Port: 2, Nodes: []string{"none"}, NodeKind: "plain", Controllers: new(true), SimulateMissingImages: new(false),
			FeatureGates: []string{"B=false"}, RuntimeConfig: []string{"api/all=false"}, APIServerFlags: []string{"v=2"}}, protocol.Spec{
			Port: 2, Nodes: []protocol.Node{}, NodeKind: protocol.PlainNodes, Durable: true, Controllers: new(true), SimulateMissingImages: new(false),
			FeatureGates: map[string]bool{"A": true, "B": false}, RuntimeConfig: map[string]string{"api/all": "false"}, APIServerFlags: []string{"--v=1", "--v=2"}}},
	} {
		got, err := tc.flags.Read(strings.NewReader(file))
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestMistakesInFlags(t *testing.T) {
	for _, tc := range []struct {
		flags       clusterfile.Flags
		where, what string
	}{
		{clusterfile.Flags{NodeKind: "metal"}, "--nodes", `nodes are simulated, real or plain, not "metal"`},
		{clusterfile.Flags{NodeKind: "real=0"}, "--nodes", `"0" is no number of nodes from 1 to 100`},
		{clusterfile.Flags{NodeKind: "real=101"}, "--nodes", `"101" is no number`},
		{clusterfile.Flags{NodeKind: "real=2", Nodes: []string{"a"}}, "--nodes", "beside --node"},
		{clusterfile.Flags{Nodes: []string{"A_b"}}, "--node", `"A_b" cannot be the name`},
		{clusterfile.Flags{Nodes: []string{"a", "a"}}, "--node", "a second node called a"},
		{clusterfile.Flags{Nodes: []string{"a", "none"}}, "--node", "none stands for no nodes, alone"},
		{clusterfile.Flags{APIServerFlags: []string{"--secure-port=1"}}, "--api-server-flag", "cannot be set"},
		{clusterfile.Flags{FeatureGates: []string{"A=perhaps"}}, "--feature-gate", "is no feature gate"},
		{clusterfile.Flags{RuntimeConfig: []string{"=true"}}, "--runtime-config", "names no version"},
		{clusterfile.Flags{File: "-"}, "stdin", "cannot be read"},
	} {
		_, err := tc.flags.Read(iotest.ErrReader(errors.New("broken")))
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != tc.where || !strings.Contains(e.What, tc.what) || e.Code != 2 {
			t.Errorf("%+v: %+v", tc.flags, e)
		}
	}
}
