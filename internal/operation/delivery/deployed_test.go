package delivery

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/ship"
)

func TestOnlySet(t *testing.T) {
	wanted := ship.Set{Project: "op"}
	in := func(namespaces ...string) (sets []*ship.Set) {
		for _, namespace := range namespaces {
			sets = append(sets, &ship.Set{Project: "op", Namespace: namespace})
		}
		return sets
	}
	if set, err := onlySet("x", wanted, in("a"), []string{"b/slipway-other"}, "slipway status"); err != nil || set.Namespace != "a" {
		t.Errorf("got %v, %v", set, err)
	}
	for _, test := range []struct {
		placed []*ship.Set
		others []string
		want   []string
	}{
		{nil, nil, []string{"no deployment", "no inventory slipway-op:"}},
		{nil, []string{"b/slipway-other", "a/slipway-other"}, []string{"it has the inventories a/slipway-other, b/slipway-other"}},
		{in("b", "a"), nil, []string{"several deployments", "the namespaces a, b: name one with -n"}},
	} {
		_, err := onlySet("x", wanted, test.placed, test.others, "slipway status")
		for _, text := range test.want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v lacks %q", err, text)
			}
		}
	}
}
