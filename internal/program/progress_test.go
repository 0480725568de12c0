package program

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

func TestTrackerTellsProgressFromMessages(t *testing.T) {
	tr := newTracker(clusterProduct(), []pkg{{"fmt", false}, {"a/b", true}}, report.Discard)
	defer tr.stop()
	for line, progress := range map[string]bool{
		"go: downloading k8s.io/api v0.37.1": true,
		"go: finding x":                      false,
		"# a/b":                              false,
		"a/b":                                true,
		"b.go:3:1: syntax error":             false,
	} {
		if got := tr.line(line); got != progress {
			t.Errorf("%q is progress: %v", line, got)
		}
	}
	if tr.line("a/b") {
		t.Error("one package counts twice")
	}
}

func FuzzParsePackages(f *testing.F) {
	f.Add("fmt\tfalse\nx/y\ttrue\n")
	f.Add("go: warning\n\t\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		packages := parsePackages(out)
		if len(packages) > strings.Count(out, "\n")+1 {
			t.Fatalf("%d packages in %d lines", len(packages), strings.Count(out, "\n")+1)
		}
		tr := newTracker(clusterProduct(), packages, report.HandlerFunc(func(e report.Event) {
			if p := e.(report.Progress); p.Done < 0 || p.Done > p.Total {
				t.Errorf("%+v", p)
			}
		}))
		for line := range strings.Lines(out) {
			tr.line(strings.TrimSpace(line))
		}
		tr.stop()
	})
}
