package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// some are nodes of one kind, which write down what they are told to do.
type some struct {
	names, lost []string
	told        *[]string
	err         error
}

var _ workers.Nodes = some{}

func (s some) Names() []string { return s.names }
func (s some) Lost() []string  { return s.lost }

func (s some) StopNode(name string) error {
	*s.told = append(*s.told, "stop "+name)
	return s.err
}

func (s some) StartNode(_ context.Context, name string) error {
	*s.told = append(*s.told, "start "+name)
	return s.err
}

func (s some) StartAll(context.Context) error {
	*s.told = append(*s.told, "start all of "+strings.Join(s.names, " "))
	return s.err
}

func (s some) Stop() { *s.told = append(*s.told, "stop all of "+strings.Join(s.names, " ")) }

func TestFleetIsBothKinds(t *testing.T) {
	var told []string
	f := &fleet{simulated: some{names: []string{"b", "d"}, lost: []string{"d"}, told: &told}}
	if k := f.kinds(); k != (Kinds{Simulated: 2}) {
		t.Errorf("kinds %+v", k)
	}
	f.join(some{names: []string{"a", "c"}, lost: []string{"a"}, told: &told})
	if k := f.kinds(); k != (Kinds{Simulated: 2, Real: 2}) {
		t.Errorf("kinds %+v", k)
	}
	if got := f.Names(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("names %q", got)
	}
	if got := f.Lost(); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("lost %q", got)
	}
	if err := errors.Join(f.StopNode("c"), f.StartNode(t.Context(), "d"), f.StartAll(t.Context())); err != nil {
		t.Error(err)
	}
	f.Stop()
	if want := []string{"stop c", "start d", "start all of b d", "start all of a c", "stop all of a c", "stop all of b d"}; !slices.Equal(told, want) {
		t.Errorf("told to %q, want %q", told, want)
	}
}

// TestFleetKnowsItsNodes: an unknown node's error says which there are.
func TestFleetKnowsItsNodes(t *testing.T) {
	for name, tt := range map[string]struct {
		fleet *fleet
		want  string
	}{
		"two":  {&fleet{simulated: some{names: []string{"b"}}, real: some{names: []string{"a"}}}, "the nodes are a, b"},
		"none": {&fleet{}, "the cluster has no nodes"},
	} {
		for _, err := range []error{tt.fleet.StopNode("x"), tt.fleet.StartNode(t.Context(), "x")} {
			if !errors.Is(err, node.ErrUnknown) || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		}
	}
}

// TestAllAreStarted: that nodes of one kind do not start keeps none of the others.
func TestAllAreStarted(t *testing.T) {
	var told []string
	first, second := errors.New("first"), errors.New("second")
	f := &fleet{simulated: some{names: []string{"a"}, told: &told, err: first}, real: some{names: []string{"b"}, told: &told, err: second}}
	if err := f.StartAll(t.Context()); !errors.Is(err, first) || !errors.Is(err, second) || len(told) != 2 {
		t.Errorf("%v after %q", err, told)
	}
}

// TestLateNodesOfAStoppedFleet end at once.
func TestLateNodesOfAStoppedFleet(t *testing.T) {
	var told []string
	f := &fleet{}
	f.Stop()
	f.join(some{names: []string{"late"}, told: &told})
	if !slices.Equal(told, []string{"stop all of late"}) {
		t.Errorf("told to %q", told)
	}
}

// panicking are real nodes whose kubelets have panicked.
type panicking struct{ some }

func (panicking) Panics() int { return 3 }

func TestFleetCountsPanics(t *testing.T) {
	for want, f := range map[int]*fleet{0: {simulated: some{}}, 3: {simulated: some{}, real: panicking{}}} {
		if got := f.panics(); got != want {
			t.Errorf("%d panics, want %d", got, want)
		}
	}
}

func TestKindsAsPeopleReadThem(t *testing.T) {
	for k, want := range map[Kinds]string{
		{}: "0 simulated nodes", {Simulated: 1}: "1 simulated node", {Simulated: 3}: "3 simulated nodes",
		{Real: 1}: "1 real node", {Real: 2}: "2 real nodes", {Simulated: 1, Real: 1}: "1 simulated and 1 real node", {Simulated: 4, Real: 2}: "4 simulated and 2 real nodes",
	} {
		if got := k.String(); got != want {
			t.Errorf("%+v: %q, want %q", k, got, want)
		}
	}
}

func TestFreeName(t *testing.T) {
	for _, tt := range []struct {
		taken []string
		want  string
	}{{nil, "real-1"}, {[]string{"real-1", "node-1"}, "real-2"}, {[]string{"real-2", "real-1", "real-4"}, "real-3"}} {
		var specs []node.Spec
		for _, name := range tt.taken {
			specs = append(specs, node.Spec{Name: name})
		}
		if got := FreeName("real-", specs); got != tt.want {
			t.Errorf("beside %q: %s, want %s", tt.taken, got, tt.want)
		}
		if got := names(specs); !slices.Equal(got, tt.taken) {
			t.Errorf("names %q", got)
		}
	}
}

// TestJoinNeedsAPlace: which nodes a cluster was started with says whether a real one may join.
func TestJoinNeedsAPlace(t *testing.T) {
	specs := []node.Spec{{Name: "a"}}
	for name, tt := range map[string]struct {
		spec Spec
		want error
	}{
		"without controllers": {Spec{Real: &Real{}}, ErrNoNodes},
		"simulated for good":  {Spec{Controllers: true, Nodes: specs}, ErrOneKind},
		"real from the start": {Spec{Controllers: true, Real: &Real{}, RealNodes: specs}, ErrOneKind},
	} {
		if _, _, err := (&Cluster{spec: tt.spec}).Join(t.Context(), ""); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}
