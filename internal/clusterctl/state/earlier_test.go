package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// TestEarlierConfigurations reads what slipway wrote while it spoke protocol 2: one durable cluster for each kind of
// nodes.
func TestEarlierConfigurations(t *testing.T) {
	for name, want := range map[string]protocol.Spec{
		"usual":     {},                                                                                                    // start
		"simulated": {NodeKind: protocol.SimulatedNodes},                                                                   // --nodes simulated
		"named":     {Nodes: []protocol.Node{{Name: "a", Taints: []string{"x:NoSchedule"}}}},                               // --node a,taint=x:NoSchedule
		"bare":      {Controllers: new(false)},                                                                             // --controllers=false
		"plain":     {NodeKind: protocol.PlainNodes},                                                                       // --nodes plain
		"real":      {NodeKind: protocol.RealNodes, Nodes: numbered("node-1", "node-2"), SimulateMissingImages: new(true)}, // --nodes real=2 --simulate-missing-images
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "protocol2", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		c := cluster(t, t.TempDir())
		if err := os.WriteFile(c.Config(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, known, err := c.LastConfig()
		if err != nil || !known || got.Name != name || !got.Durable {
			t.Errorf("%s: %+v, %v, %v", name, got, known, err)
		}
		want.Port, want.RegistryPort, want.Durable = got.Port, got.RegistryPort, true
		if diff := cmp.Diff(want, got.Spec); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err := c.WriteConfig(got); err != nil { // as a start that fails does
			t.Fatal(err)
		}
		if again, _, err := c.LastConfig(); err != nil || !cmp.Equal(got.Spec, again.Spec) {
			t.Errorf("%s, written again: %s, %v", name, cmp.Diff(got.Spec, again.Spec), err)
		}
	}
}

func numbered(names ...string) (all []protocol.Node) {
	for _, name := range names {
		all = append(all, protocol.Node{Name: name})
	}
	return all
}

// TestConfigurationStaysAsItIs: what is written is read again, as the user gave it.
func TestConfigurationStaysAsItIs(t *testing.T) {
	for _, spec := range []protocol.Spec{{}, {NodeKind: protocol.SimulatedNodes}, {NodeKind: protocol.PlainNodes, SimulateMissingImages: new(false)},
		{Nodes: []protocol.Node{}}, {Controllers: new(true)}, {Nodes: numbered("a")}} {
		c := cluster(t, t.TempDir())
		want := protocol.Config{Protocol: protocol.Number, Name: "blue", NodeProgram: "/slipway-node", Spec: spec}
		if err := c.WriteConfig(want); err != nil {
			t.Fatal(err)
		}
		got, _, err := c.LastConfig()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}
