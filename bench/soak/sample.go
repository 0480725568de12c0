package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/controlplane"
)

// sample is what a cluster's program uses at a moment when nothing is to do.
type sample struct {
	goroutines float64
	heap       float64 // MiB, after a garbage collection
	resident   float64 // MiB, after the program gave back what it does not need
	reset      float64 // how long the reset before it took, ms
}

// probe asks a cluster's program about itself, through the API server's own endpoints.
type probe struct {
	client kubernetes.Interface
	plane  *controlplane.Plane
}

func newProbe(plane *controlplane.Plane) (probe, error) {
	client, err := kubernetes.NewForConfig(plane.Config)
	return probe{client, plane}, err
}

func (p probe) get(ctx context.Context, path string, params ...string) ([]byte, error) {
	request := p.client.Discovery().RESTClient().Get().AbsPath(path)
	for i := 0; i < len(params); i += 2 {
		request.Param(params[i], params[i+1])
	}
	return request.DoRaw(ctx)
}

// sample collects the garbage first. It asks for profiles and not for metrics, whose answer is megabytes of garbage
// itself.
func (p probe) sample(ctx context.Context) (s sample, err error) {
	heap, err := p.get(ctx, "/debug/pprof/heap", "gc", "1", "debug", "1")
	if err != nil {
		return s, fmt.Errorf("read the heap: %w", err)
	}
	allocated, err := figure(heap, "# HeapAlloc = ")
	if err != nil {
		return s, err
	}
	goroutines, err := p.get(ctx, "/debug/pprof/goroutine", "debug", "1")
	if err != nil {
		return s, fmt.Errorf("read the goroutines: %w", err)
	}
	if s.goroutines, err = figure(goroutines, "goroutine profile: total "); err != nil {
		return s, err
	}
	usage, err := p.plane.Processes.Usage()
	s.heap, s.resident = allocated/mebibyte, float64(usage.Resident)/mebibyte
	return s, err
}

const mebibyte = 1 << 20

// figure is the number behind a line's beginning.
func figure(profile []byte, before string) (float64, error) {
	for line := range strings.Lines(string(profile)) {
		if value, ok := strings.CutPrefix(line, before); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the profile has no line %q", before)
}

const (
	samplePause = 500 * time.Millisecond
	// calm is how long nothing must have become less. The program gives memory back two seconds after it has become
	// free.
	calm = 4 * time.Second
)

// settled samples until the cluster has come to rest, and returns the least of each quantity: what is on its way out
// does not count.
func (p probe) settled(ctx context.Context) (sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the cluster does not come to rest"))
	defer cancel()
	least, err := p.sample(ctx)
	for last := time.Now(); err == nil && time.Since(last) < calm; {
		select {
		case <-time.After(samplePause):
		case <-ctx.Done():
			return least, context.Cause(ctx)
		}
		var s sample
		if s, err = p.sample(ctx); s.wellBelow(least) {
			last = time.Now()
		}
		least = least.min(s)
	}
	return least, err
}

// wellBelow says that a quantity has become less, by more than what comes and goes at rest.
func (s sample) wellBelow(least sample) bool {
	return s.goroutines < least.goroutines-2 || s.heap < least.heap-0.5 || s.resident < least.resident-1
}

func (s sample) min(other sample) sample {
	return sample{
		goroutines: min(s.goroutines, other.goroutines), heap: min(s.heap, other.heap), resident: min(s.resident, other.resident),
	}
}

// places counts goroutines by where they are.
func (p probe) places(ctx context.Context) (map[string]int, error) {
	profile, err := p.get(ctx, "/debug/pprof/goroutine", "debug", "1")
	if err != nil {
		return nil, fmt.Errorf("read the goroutines: %w", err)
	}
	return parsePlaces(string(profile)), nil
}

// parsePlaces reads the text form of a goroutine profile: paragraphs of a line "COUNT @ addresses" and the frames.
func parsePlaces(profile string) map[string]int {
	places := map[string]int{}
	for paragraph := range strings.SplitSeq(profile, "\n\n") {
		head, stack, _ := strings.Cut(paragraph, "\n")
		if strings.HasPrefix(head, "goroutine profile:") {
			head, stack, _ = strings.Cut(stack, "\n")
		}
		number, _, ok := strings.Cut(head, " @ ")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		places[place(stack)] += n
	}
	return places
}

// place is the functions of a stack without addresses and lines, innermost first.
func place(stack string) string {
	var functions []string
	for line := range strings.Lines(stack) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "#" {
			name, _, _ := strings.Cut(fields[2], "+0x")
			functions = append(functions, name)
		}
	}
	return strings.Join(functions, " ← ")
}
