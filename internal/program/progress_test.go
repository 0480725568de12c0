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

// TestTrackerOfResumedLink: go names no package when all of them are compiled and only the link was interrupted.
func TestTrackerOfResumedLink(t *testing.T) {
	var told []string
	h := report.HandlerFunc(func(e report.Event) { told = append(told, e.(report.Progress).Name) })
	p := clusterProduct()
	resumed := newTracker(p, []pkg{{"fmt", false}, {p.lastPackage(), true}}, h)
	resumed.stop()
	anew := newTracker(p, []pkg{{"fmt", true}, {p.lastPackage(), true}}, h)
	anew.stop()
	if told[0] != "linking the cluster program" || told[len(told)-1] != "compiling the cluster program" {
		t.Errorf("told %q", told)
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
