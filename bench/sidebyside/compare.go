package sidebyside

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Result is what a contender's runs took, in the order in which they ran.
type Result struct {
	Name    string
	Samples []Sample
}

// Compare runs every contender once to warm up and then rounds times, in turn.
// The results are in the order of the contenders. The first run that fails ends
// the comparison.
func Compare(ctx context.Context, rounds int, contenders ...Contender) ([]Result, error) {
	if rounds < 1 {
		return nil, fmt.Errorf("a comparison needs at least one round, not %d", rounds)
	}
	results := make([]Result, len(contenders))
	for i, c := range contenders {
		results[i].Name = c.Name
		if _, err := c.run(ctx); err != nil {
			return nil, err
		}
	}
	for range rounds {
		for i, c := range contenders {
			sample, err := c.run(ctx)
			if err != nil {
				return nil, err
			}
			results[i].Samples = append(results[i].Samples, sample)
		}
	}
	return results, nil
}

// Median is the median of the wall times and of the CPU times, each by itself;
// zero without samples.
func (r Result) Median() Sample {
	return Sample{
		Wall: r.median(func(s Sample) time.Duration { return s.Wall }),
		CPU:  r.median(func(s Sample) time.Duration { return s.CPU }),
	}
}

func (r Result) median(of func(Sample) time.Duration) time.Duration {
	if len(r.Samples) == 0 {
		return 0
	}
	var sorted []time.Duration
	for _, s := range r.Samples {
		sorted = append(sorted, of(s))
	}
	slices.Sort(sorted)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
