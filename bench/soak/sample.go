package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/bench/controlplane"
)

// sample is what a cluster's program uses at a moment when nothing is to do.
type sample struct {
	goroutines float64
	heap       float64 // MiB, after a garbage collection
	resident   float64 // MiB
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

// sample collects the garbage first.
func (p probe) sample(ctx context.Context) (s sample, err error) {
	if _, err := p.get(ctx, "/debug/pprof/heap", "gc", "1"); err != nil {
		return s, fmt.Errorf("collect garbage: %w", err)
	}
	metrics, err := p.get(ctx, "/metrics")
	if err != nil {
		return s, fmt.Errorf("read metrics: %w", err)
	}
	usage, err := p.plane.Processes.Usage()
	if err != nil {
		return s, err
	}
	const mebibyte = 1 << 20
	s.resident = float64(usage.Resident) / mebibyte
	if s.goroutines, err = metric(metrics, "go_goroutines"); err != nil {
		return s, err
	}
	heap, err := metric(metrics, "go_memstats_heap_alloc_bytes")
	s.heap = heap / mebibyte
	return s, err
}

// metric is the value of a metric without labels.
func metric(text []byte, name string) (float64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the API server has no metric %s", name)
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
