package sidebyside

import (
	"fmt"
	"io"
	"slices"
)

// Figure is one line of a report on a quantity that need not be a time: memory, a rate, a share.
type Figure struct {
	Case string
	Unit string    // "ms", "MiB", "writes/s"
	Ours []float64 // the samples, in that unit
	Peer []float64 // none when there is no peer
	Bar  Bar       // none when the figure is for information
}

// Bar is what a figure must keep. The zero Bar is none.
type Bar struct {
	limit float64
	kind  barKind
}

type barKind int

const (
	noBar barKind = iota
	ratioAtMost
	ratioAtLeast
	atMost
)

// RatioAtMost wants our median to be at most this part of the peer's.
func RatioAtMost(limit float64) Bar { return Bar{limit, ratioAtMost} }

// RatioAtLeast wants our median to be at least this part of the peer's.
func RatioAtLeast(limit float64) Bar { return Bar{limit, ratioAtLeast} }

// AtMost wants our median to be at most this, in the figure's unit.
func AtMost(limit float64) Bar { return Bar{limit, atMost} }

// String formats the bar as tables show it.
func (b Bar) String() string {
	switch b.kind {
	case ratioAtMost:
		return fmt.Sprintf("ratio ≤ %.2f", b.limit)
	case ratioAtLeast:
		return fmt.Sprintf("ratio ≥ %.2f", b.limit)
	case atMost:
		return fmt.Sprintf("≤ %g", b.limit)
	default:
		return ""
	}
}

// Ratio is our median as a part of the peer's. It is no number that passes a bar when there is no peer.
func (f Figure) Ratio() float64 { return Median(f.Ours) / Median(f.Peer) }

// Passed reports whether the figure keeps its bar. A figure without samples keeps none.
func (f Figure) Passed() bool {
	if len(f.Ours) == 0 {
		return false
	}
	switch f.Bar.kind {
	case ratioAtMost:
		return len(f.Peer) > 0 && f.Ratio() <= f.Bar.limit
	case ratioAtLeast:
		return len(f.Peer) > 0 && f.Ratio() >= f.Bar.limit
	case atMost:
		return Median(f.Ours) <= f.Bar.limit
	default:
		return true
	}
}

// Median is zero without samples.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Figures writes a Markdown table: medians, and in brackets the least and the greatest sample.
func Figures(w io.Writer, figures ...Figure) error {
	const head = "| what | runs | slipway | peer | ratio | bar | |\n|---|---|---|---|---|---|---|\n"
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, f := range figures {
		if _, err := io.WriteString(w, f.line()); err != nil {
			return err
		}
	}
	return nil
}

func (f Figure) line() string {
	ratio, verdict := "", ""
	if len(f.Peer) > 0 {
		ratio = fmt.Sprintf("%.3f", f.Ratio())
	}
	switch {
	case f.Bar == Bar{}:
	case f.Passed():
		verdict = "passed"
	default:
		verdict = "missed"
	}
	return fmt.Sprintf("| %s, %s | %d | %s | %s | %s | %s | %s |\n",
		f.Case, f.Unit, len(f.Ours), spread(f.Ours), spread(f.Peer), ratio, f.Bar, verdict)
}

func spread(samples []float64) string {
	if len(samples) == 0 {
		return ""
	}
	m := Median(samples)
	digits := 0
	if m < 100 {
		digits = 1
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, m, digits, slices.Min(samples), digits, slices.Max(samples))
}
