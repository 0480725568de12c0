package dev

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestTestEvents: lines of go test -json become events in whatever pieces they come, with the output of what failed.
func TestTestEvents(t *testing.T) {
	const text = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestX"}
{"Action":"output","Package":"a","Test":"TestX","Output":"one\n"}
{"Action":"output","Package":"a","Test":"TestY","Output":"other\n"}
{"Action":"output","Package":"a","Test":"TestX","Output":"two\n"}
{"Action":"fail","Package":"a","Test":"TestX","Elapsed":1.5}
{"Action":"pass","Package":"a","Test":"TestY","Elapsed":0}
{"Action":"skip","Package":"a","Test":"TestZ","Elapsed":0}
{"Action":"fail","Package":"a","Elapsed":2}
{"ImportPath":"b [b.test]","Action":"build-output","Output":"b.go:1: wrong\n"}
{"ImportPath":"b [b.test]","Action":"build-fail"}
{"Action":"output","Package":"b","Output":"FAIL\tb [build failed]\n"}
{"Action":"fail","Package":"b","Elapsed":0,"FailedBuild":"b [b.test]"}
no JSON
{"Action":"pass","Package":"c","Elapsed":0}`
	want := []report.Event{
		report.Test{Package: "a", Test: "TestX", Outcome: report.TestFailed, Elapsed: 1500 * time.Millisecond, Output: "one\ntwo"},
		report.Test{Package: "a", Test: "TestY", Outcome: report.Passed},
		report.Test{Package: "a", Test: "TestZ", Outcome: report.Skipped},
		report.Test{Package: "a", Outcome: report.TestFailed, Elapsed: 2 * time.Second},
		report.Test{Package: "b", Outcome: report.TestFailed, Output: "b.go:1: wrong\nFAIL\tb [build failed]"},
		report.Output{Part: report.TestsPart, Text: "no JSON"},
		report.Test{Package: "c", Outcome: report.Passed},
	}
	for _, size := range []int{1, 7, 100, len(text)} {
		var got []report.Event
		events := newTestEvents(report.HandlerFunc(func(e report.Event) { got = append(got, e) }))
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := events.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		events.end()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
		}
	}
}

// TestTestOutputIsBounded: of a test that prints without end, the last lines are kept.
func TestTestOutputIsBounded(t *testing.T) {
	var kept []byte
	for range 100 {
		kept = lastOf(kept, strings.Repeat("x", 10<<10))
	}
	if kept = lastOf(kept, "end"); len(kept) > 2*mostTestOutput || !strings.HasSuffix(string(kept), "end") {
		t.Errorf("%d bytes are kept", len(kept))
	}
}
