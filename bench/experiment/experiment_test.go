package experiment_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/experiment"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

var errBroken = errors.New("broken")

func list() experiment.List[float64] {
	return experiment.List[float64]{
		{Name: "broken", Run: func(context.Context, float64) ([]sidebyside.Figure, error) { return nil, errBroken }},
		{Name: "slow", Run: func(_ context.Context, took float64) ([]sidebyside.Figure, error) {
			return []sidebyside.Figure{{Case: "start", Unit: "ms", Ours: []float64{took}, Bar: sidebyside.AtMost(10)}}, nil
		}},
	}
}

func TestRunGoesOnAndTellsAll(t *testing.T) {
	var out strings.Builder
	err := list().Run(t.Context(), &out, 11)
	if !errors.Is(err, errBroken) || !errors.Is(err, experiment.ErrBarMissed) {
		t.Errorf("got %v, want the failure and the bar that was missed", err)
	}
	if !strings.Contains(out.String(), "| start, ms | 1 | 11.0 ") {
		t.Errorf("the table lacks what was measured:\n%s", &out)
	}
}

func TestOnlyThoseThatAreNamed(t *testing.T) {
	slow, err := list().Only("slow")
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.Run(t.Context(), &strings.Builder{}, 10); err != nil {
		t.Error(err)
	}
	if _, err := list().Only("slow,fast"); !errors.Is(err, experiment.ErrUnknown) || !strings.Contains(err.Error(), `"fast", only broken,slow`) {
		t.Errorf("got %v", err)
	}
}
