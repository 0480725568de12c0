package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

var errGrown = errors.New("the cluster has grown")

// quantity is something that must not grow by more than a number and a part of itself, whichever is more.
type quantity struct {
	name  string
	of    func(sample) float64
	least float64
	part  float64
	late  float64 // the part of the run, at its beginning, in which it has not settled yet
}

// quantities are what is judged. The bounds are far below what a real leak makes of a run, and above what a
// cluster at rest shows by itself.
//
// Goroutines: a cluster has more than four thousand, of which some tens end and begin by the minute. A leak of one per
// cycle is hundreds in half an hour.
//
// Heap: a tenth. The content of etcd and of the watch caches differs from sample to sample by some
// megabytes, with the phase of the compaction. What a logical cluster leaves behind if it is held by anything is forty
// megabytes, each cycle; 50 KB per cycle are more than the bound in half an hour.
//
// Resident memory: the same part, but of pages, which the heap shares among objects that live long and short. Objects
// do not move, so what a removed logical cluster leaves is holes, of which there are more until the next one's objects
// fit into them: a third of the run does not count. A real leak is in the heap, too.
func quantities() []quantity {
	return []quantity{
		{"goroutines", func(s sample) float64 { return s.goroutines }, 20, 0, 0},
		{"heap, MiB", func(s sample) float64 { return s.heap }, 4, 0.1, 0},
		{"resident memory, MiB", func(s sample) float64 { return s.resident }, 20, 0.1, 1.0 / 3},
	}
}

// verdict is what became of a quantity.
type verdict struct {
	samples                            int // that count
	first, last, median, growth, bound float64
}

func (v verdict) grown() bool { return v.growth > v.bound }

func (q quantity) verdict(samples []sample) verdict {
	var values []float64
	for _, s := range samples[int(q.late*float64(len(samples))):] {
		values = append(values, q.of(s))
	}
	median := sidebyside.Median(values)
	return verdict{len(values), values[0], values[len(values)-1], median, trend(values), max(q.least, q.part*median)}
}

// report judges both clusters.
func report(ctx context.Context, out io.Writer, l *lasting, r *restarted) error {
	var errs []error
	fmt.Fprint(out, "\n| cluster | quantity | samples | first | last | median | growth | bound | |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range []struct {
		name    string
		samples []sample
	}{{"lasting", l.samples[min(warmUp, len(l.samples)):]}, {"restarted", r.samples}} {
		for _, q := range quantities() {
			errs = append(errs, tell(out, c.name, q, c.samples))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, l.tellPlaces(ctx, out))
	}
	return nil
}

func tell(out io.Writer, cluster string, q quantity, samples []sample) error {
	if len(samples) < leastSamples {
		fmt.Fprintf(out, "| %s | %s | %d | | | | | | too few samples |\n", cluster, q.name, len(samples))
		return nil
	}
	v, word := q.verdict(samples), "steady"
	var err error
	if v.grown() {
		word, err = "grown", fmt.Errorf("%w: %s of the %s one by %.1f, more than %.1f", errGrown, q.name, cluster, v.growth, v.bound)
	}
	fmt.Fprintf(out, "| %s | %s | %d | %.1f | %.1f | %.1f | %+.1f | %.1f | %s |\n",
		cluster, q.name, v.samples, v.first, v.last, v.median, v.growth, v.bound, word)
	return err
}

// mostPlaces is how many places with more goroutines are told.
const mostPlaces = 10

// tellPlaces says where there are more goroutines than at the beginning.
func (l *lasting) tellPlaces(ctx context.Context, out io.Writer) error {
	now, err := l.probe.places(ctx)
	if err != nil || l.placesBefore == nil {
		return err
	}
	more := func(place string) int { return now[place] - l.placesBefore[place] }
	places := slices.SortedFunc(maps.Keys(now), func(a, b string) int { return cmp.Compare(more(b), more(a)) })
	for _, place := range places[:min(mostPlaces, len(places))] {
		if more(place) > 0 {
			fmt.Fprintf(out, "\n%+d goroutines: %s\n", more(place), place)
		}
	}
	return nil
}
