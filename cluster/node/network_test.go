package node

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

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

func TestAddressesAreUsedInTurn(t *testing.T) {
	a := newAddresses(PodRange(0))
	a.reserve("known", "10.128.0.2")
	a.reserve("foreign", "192.168.0.1")
	for _, step := range []struct {
		uid  types.UID
		want string
	}{{"a", "10.128.0.1"}, {"b", "10.128.0.3"}, {"a", "10.128.0.1"}, {"known", "10.128.0.2"}, {"foreign", "10.128.0.4"}} {
		if got, err := a.take(step.uid); err != nil || got.String() != step.want {
			t.Errorf("%s: %s, %v; want %s", step.uid, got, err, step.want)
		}
	}
	a.release("a")
	a.release("never seen")
	if got, _ := a.take("c"); got.String() != "10.128.0.5" {
		t.Errorf("c: %s; a free address is not to be used again at once", got)
	}
}

func TestFullRange(t *testing.T) {
	a := newAddresses(PodRange(0))
	for i := range maxPodsPerNode {
		if _, err := a.take(types.UID(fmt.Sprint(i))); err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
	}
	if ip, err := a.take("one more"); !errors.Is(err, errRangeFull) {
		t.Fatalf("one more: %s, %v", ip, err)
	}
	a.release("7")
	if ip, err := a.take("one more"); err != nil || ip.String() != "10.128.0.8" {
		t.Errorf("one more: %s, %v", ip, err)
	}
}
