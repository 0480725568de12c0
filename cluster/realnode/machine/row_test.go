package machine

import (
	"slices"
	"testing"
	"time"
)

// TestRow: ends in a row are followed by longer and longer pauses, and at last by none; a machine that ran for a while
// begins a new row.
func TestRow(t *testing.T) {
	const given = -time.Second // stands for "no more"
	for name, tt := range map[string]struct{ lived, want []time.Duration }{
		"one":           {[]time.Duration{time.Second}, []time.Duration{0}},
		"in a row":      {make([]time.Duration, 5), []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, given}},
		"after a while": {[]time.Duration{0, 0, time.Minute, 0}, []time.Duration{0, time.Second, 0, time.Second}},
		"steady": {
			[]time.Duration{time.Hour, time.Hour, time.Hour, time.Hour, time.Hour, time.Hour}, make([]time.Duration, 6),
		},
	} {
		var r endCounter
		var got []time.Duration
		for _, lived := range tt.lived {
			pause, goOn := r.end(lived)
			if !goOn {
				pause = given
			}
			got = append(got, pause)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: pauses %v, want %v", name, got, tt.want)
		}
	}
}
