package main

import (
	"slices"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// settling is the part of the samples, at the beginning, in which pools and caches fill.
const settling = 0.2

// leastSamples are what a trend is told from.
const leastSamples = 8

// trend is by how much a quantity grows from the first to the last sample. It takes the median of the slopes between all pairs of
// samples (Theil and Sen), which a single high or low sample does not change, as it does a fitted line or a comparison of two ends.
func trend(samples []float64) float64 {
	var slopes []float64
	for i := range samples {
		for j := range i {
			slopes = append(slopes, (samples[i]-samples[j])/float64(i-j))
		}
	}
	return sidebyside.Median(slopes) * float64(len(samples)-1)
}

// settled leaves out the beginning.
func settled(samples []float64) []float64 {
	return slices.Clone(samples[int(settling*float64(len(samples))):])
}
