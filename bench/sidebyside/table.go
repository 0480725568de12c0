package sidebyside

import (
	"fmt"
	"io"
	"time"
)

// Row is one line of a report: a case in which both contenders did the same.
type Row struct {
	Case string
	Ours Result
	Peer Result
	// Bar is the largest acceptable ratio of our median to the peer's.
	Bar float64
}

// Ratio is our wall time as a part of the peer's, by medians.
func (r Row) Ratio() float64 { return ratio(r.Ours.Median().Wall, r.Peer.Median().Wall) }

// CPURatio is our CPU time as a part of the peer's, by medians.
func (r Row) CPURatio() float64 { return ratio(r.Ours.Median().CPU, r.Peer.Median().CPU) }

// ratio is no number that passes a bar when there is nothing to divide by.
func ratio(ours, peer time.Duration) float64 { return float64(ours) / float64(peer) }

// Passed reports whether the ratio of the wall times is within the bar.
func (r Row) Passed() bool { return r.Ratio() <= r.Bar }

// Table writes the rows as a Markdown table.
func Table(w io.Writer, rows ...Row) error {
	const head = "| case | runs | ours, wall | peer, wall | ratio | bar | ours, CPU | peer, CPU | ratio |\n" +
		"|---|---|---|---|---|---|---|---|---|\n"
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := io.WriteString(w, r.line()); err != nil {
			return err
		}
	}
	return nil
}

func (r Row) line() string {
	verdict := "missed"
	if r.Passed() {
		verdict = "passed"
	}
	ours, peer := r.Ours.Median(), r.Peer.Median()
	return fmt.Sprintf("| %s: %s against %s | %d | %s | %s | %.3f | %.2f %s | %s | %s | %.3f |\n",
		r.Case, r.Ours.Name, r.Peer.Name, len(r.Ours.Samples),
		milliseconds(ours.Wall), milliseconds(peer.Wall), r.Ratio(), r.Bar, verdict,
		milliseconds(ours.CPU), milliseconds(peer.CPU), r.CPURatio())
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
