package generation

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

func TestApplyFixes(t *testing.T) {
	fix := func(line, column int, old, replacement string) report.Finding {
		return report.Finding{Fix: report.Fix{Line: line, Column: column, EndColumn: column + len(old), Replaces: old, Replacement: replacement}}
	}
	const text = "one two\r\nthree\n\nfour"
	for _, test := range []struct {
		fixes   []report.Finding
		want    string
		applied int
		fits    bool
	}{
		{nil, text, 0, true},
		{[]report.Finding{fix(4, 1, "four", "4"), fix(1, 5, "two", "2"), fix(1, 1, "one", "1")}, "1 2\r\nthree\n\n4", 3, true},
		{[]report.Finding{fix(2, 1, "three", "3"), fix(2, 1, "three", "3"), fix(2, 3, "r", "R")}, "one two\r\n3\n\nfour", 1, true}, // they overlap
		{[]report.Finding{fix(1, 1, "one", "1"), fix(2, 1, "trois", "3")}, text, 0, false},
		{[]report.Finding{fix(9, 1, "x", "y")}, text, 0, false},
		{[]report.Finding{fix(4, 3, "urs", "y")}, text, 0, false},
	} {
		got, applied, fits := applyFixes([]byte(text), test.fixes)
		if string(got) != test.want || len(applied) != test.applied || fits != test.fits {
			t.Errorf("%q, %d applied, fits: %t; want %q, %d, %t", got, len(applied), fits, test.want, test.applied, test.fits)
		}
	}
}
