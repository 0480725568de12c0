package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// pace decides which progress events a log shows: the first and the last of
// each piece of work, every tenth of it, and a sign of life in between.
type pace map[string]report.Progress

// signOfLife is the longest silence that looks like work rather than a hang.
const signOfLife = 15 * time.Second

// due tells whether p is to be shown, and remembers it if so.
func (m pace) due(p report.Progress) bool {
	last, seen := m[p.Name]
	switch {
	case !seen, tenth(p) > tenth(last), p.Elapsed-last.Elapsed >= signOfLife:
		m[p.Name] = p
		return true
	}
	return false
}

// tenth is how many tenths of p are done.
func tenth(p report.Progress) int {
	if p.Total <= 0 {
		return 0
	}
	return p.Done * 10 / p.Total
}

// progressLine reads `compiling the cluster program: 812 of 2040 packages, 1m12s`.
func progressLine(p report.Progress) string {
	var b strings.Builder
	b.WriteString(p.Name)
	b.WriteString(": ")
	if p.Total > 0 || p.Done > 0 {
		b.WriteString(strconv.Itoa(p.Done))
		if p.Total > 0 {
			b.WriteString(" of " + strconv.Itoa(p.Total))
		}
		if p.Unit != "" {
			b.WriteString(" " + p.Unit)
		}
		b.WriteString(", ")
	}
	b.WriteString(p.Elapsed.Round(time.Second).String())
	if p.Left > 0 {
		b.WriteString(", about " + p.Left.Round(time.Second).String() + " left")
	}
	return b.String()
}

// decoratedBar is the bar before a progress line, if it is known how much there is to do.
func decoratedBar(p report.Progress) string {
	if p.Total == 0 {
		return ""
	}
	return bar(p) + "  "
}

// barWidth is the number of cells of a progress bar.
const barWidth = 20

// bar draws how far p has come.
func bar(p report.Progress) string {
	full := 0
	if p.Total > 0 {
		full = min(max(p.Done*barWidth/p.Total, 0), barWidth)
	}
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full) + "]"
}

// Duration rounds d to what a reader can use.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}
