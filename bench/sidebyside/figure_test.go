package sidebyside_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

func TestFigurePassesItsBar(t *testing.T) {
	samples := []float64{40, 10, 20} // median 20
	for _, c := range []struct {
		name   string
		figure sidebyside.Figure
		want   bool
	}{
		{"no bar", sidebyside.Figure{Ours: samples}, true},
		{"no samples", sidebyside.Figure{Bar: sidebyside.AtMost(100)}, false},
		{"at most, met", sidebyside.Figure{Ours: samples, Bar: sidebyside.AtMost(20)}, true},
		{"at most, missed", sidebyside.Figure{Ours: samples, Bar: sidebyside.AtMost(19)}, false},
		{"ratio, met", sidebyside.Figure{Ours: samples, Peer: []float64{80}, Bar: sidebyside.RatioAtMost(0.25)}, true},
		{"ratio, missed", sidebyside.Figure{Ours: samples, Peer: []float64{80}, Bar: sidebyside.RatioAtMost(0.24)}, false},
		{"ratio without a peer", sidebyside.Figure{Ours: samples, Bar: sidebyside.RatioAtMost(9)}, false},
		{"rate, met", sidebyside.Figure{Ours: samples, Peer: []float64{20}, Bar: sidebyside.RatioAtLeast(1)}, true},
		{"rate, missed", sidebyside.Figure{Ours: samples, Peer: []float64{21}, Bar: sidebyside.RatioAtLeast(1)}, false},
		{"rate without a peer", sidebyside.Figure{Ours: samples, Bar: sidebyside.RatioAtLeast(1)}, false},
	} {
		if got := c.figure.Passed(); got != c.want {
			t.Errorf("%s: passed %v", c.name, got)
		}
	}
}

func TestFiguresTable(t *testing.T) {
	var b strings.Builder
	err := sidebyside.Figures(&b,
		sidebyside.Figure{Case: "memory", Unit: "MiB", Ours: []float64{250, 200, 300}, Peer: []float64{500, 500}, Bar: sidebyside.RatioAtMost(0.4)},
		sidebyside.Figure{Case: "reset", Unit: "ms", Ours: []float64{12.34}, Bar: sidebyside.AtMost(30)})
	if err != nil {
		t.Fatal(err)
	}
	const want = "| memory, MiB | 3 | 250 (200–300) | 500 (500–500) | 0.500 | ratio ≤ 0.40 | missed |\n" +
		"| reset, ms | 1 | 12.3 (12.3–12.3) |  |  | ≤ 30 | passed |\n"
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant as its last lines\n%s", &b, want)
	}
}
