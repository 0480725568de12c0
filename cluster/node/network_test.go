package node

import (
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/cluster/network"
)

func TestPodRanges(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 300, maxNodes - 1} {
		got, ok := nodeNumber(PodRange(n).String())
		if !ok || got != n {
			t.Errorf("range %s of node %d is said to be of node %d, %t", PodRange(n), n, got, ok)
		}
		if !network.Pods.Contains(PodRange(n).Addr()) || !network.Nodes.Contains(Address(n)) {
			t.Errorf("node %d: %s, %s lie outside of the network", n, PodRange(n), Address(n))
		}
	}
	for _, foreign := range []string{"", "10.244.0.0/24", "10.0.0.0/20", "fd00::/64"} {
		if n, ok := nodeNumber(foreign); ok {
			t.Errorf("%q is said to be the range of node %d", foreign, n)
		}
	}
}

func TestNodesKeepTheirNumbers(t *testing.T) {
	specs := []Spec{{Name: "new"}, {Name: "old"}, {Name: "newer"}}
	numbers, err := NumberNodes(specs, map[string]string{
		"old": PodRange(1).String(), "gone": PodRange(0).String(), "foreign": "192.168.0.0/24",
	})
	if err != nil {
		t.Fatal(err)
	}
	// The range of a node that is being removed is not given away yet: its pods may still show addresses of it.
	if got := fmt.Sprint(numbers); got != "map[new:2 newer:3 old:1]" {
		t.Errorf("numbers: %s", got)
	}
}
