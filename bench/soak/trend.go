package main

import "github.com/slipway-dev/slipway/bench/sidebyside"

// warmUp is how many cycles, at the beginning, do not count. In them pools, caches and the tables of metrics fill,
// which a cycle's different parts do at different times, and the heap finds the size that its pages get with use.
const warmUp = 10

// leastSamples are what a trend is told from.
const leastSamples = 8

// trend is by how much a quantity grows from the first to the last sample. It takes the median of the slopes between
// all pairs of samples (Theil and Sen), which a single high or low sample does not change, as it does a fitted line or
// a comparison of two ends.
func trend(samples []float64) float64 {
	var slopes []float64
	for i := range samples {
		for j := range i {
			slopes = append(slopes, (samples[i]-samples[j])/float64(i-j))
		}
	}
	return sidebyside.Median(slopes) * float64(len(samples)-1)
}
