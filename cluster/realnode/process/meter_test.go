package process_test

import (
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// TestMeter: a rate is that since the last look a second or more ago, and CPU time never goes back.
func TestMeter(t *testing.T) {
	var m process.Meter
	begin := time.Unix(1000, 0)
	for _, step := range []struct {
		after          time.Duration
		cpu, sum, rate uint64
	}{
		{0, 100, 100, 0},
		{100 * time.Millisecond, 300, 300, 0},
		{2 * time.Second, 1100, 1100, 500},
		{2500 * time.Millisecond, 900, 1100, 500},
		{4 * time.Second, 1100, 1100, 0},
	} {
		got := m.Note(wire.Usage{CPU: step.cpu}, begin.Add(step.after))
		if got.CPU != step.sum || got.Rate != step.rate {
			t.Errorf("after %s: %+v", step.after, got)
		}
	}
}
