package kubelet

import (
	"net/netip"
	"os"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// TestResolver: pods that resolve names as their node does ask the cluster's server.
func TestResolver(t *testing.T) {
	n := &node{Config: nodeconfig.Config{DNS: netip.MustParseAddr("10.0.0.10")}, ground: &platform{folders: plainFolders(t.TempDir(), "")}}
	s, err := n.settings()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(s.ResolverConfig); string(text) != "nameserver 10.0.0.10\n" || err != nil {
		t.Errorf("the file %q has %q, %v", s.ResolverConfig, text, err)
	}
}
