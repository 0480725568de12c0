package main

import (
	"math"
	"testing"
)

func TestTrend(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		{"grows", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 9},
		{"stays, with outliers", []float64{5, 5, 5, 90, 5, 5, 5, 5, 80, 5}, 0},
		{"grows, with an outlier at the start", []float64{50, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 9},
		{"saw", []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, 0},
		{"one sample", []float64{7}, 0},
	} {
		if got := trend(c.samples); math.Abs(got-c.want) > 1.5 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGrowthIsFound(t *testing.T) {
	leak := quantity{"goroutines", func(s sample) float64 { return s.goroutines }, 20, 0, 0}
	var steady, leaking []sample
	for n := range 40 {
		noise := float64(n * 7 % 5)
		steady = append(steady, sample{goroutines: 2000 + noise})
		leaking = append(leaking, sample{goroutines: 2000 + noise + 3*float64(n)})
	}
	if v := leak.verdict(steady); v.grown() {
		t.Errorf("%+v", v)
	}
	if v := leak.verdict(leaking); !v.grown() {
		t.Errorf("%+v", v)
	}
}
