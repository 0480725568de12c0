package simnode

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/node"
)

func TestAddressesAreUsedInTurn(t *testing.T) {
	a := newAddresses(node.PodRange(0))
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
	a := newAddresses(node.PodRange(0))
	for i := range node.MaxPods {
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
