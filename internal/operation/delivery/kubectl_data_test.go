package delivery

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestAsJSON: kubectl is asked for JSON where it has that and nothing else was asked for.
func TestAsJSON(t *testing.T) {
	for args, want := range map[string]string{
		"get pods":                       "get --output=json pods",
		"-n get get pods":                "-n get get --output=json pods",
		"--context=a get pods":           "--context=a get --output=json pods",
		"get pods -o wide":               "get pods -o wide",
		"get pods -ojson":                "get pods -ojson",
		"get --raw /healthz":             "get --raw /healthz",
		"describe pods":                  "describe pods",
		"logs get":                       "logs get",
		"apply view-last-applied -f a":   "apply view-last-applied -f a",
		"create configmap -- --output=x": "create configmap -- --output=x",
		"":                               "",
	} {
		given := strings.Fields(args)
		kept := slices.Clone(given)
		if got := strings.Join(asJSON(given), " "); got != want || !slices.Equal(given, kept) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestReportPrinted: JSON is a result as soon as it is there, and all else is lines.
func TestReportPrinted(t *testing.T) {
	line := func(text string) report.Event { return report.Output{Part: report.KubectlPart, Text: text} }
	value := func(text string) report.Event { return report.Result{Value: json.RawMessage(text)} }
	for text, want := range map[string][]report.Event{
		"":                                 nil,
		"{\"a\": 1}\n":                     {value(`{"a": 1}`)},
		"{}\n[1]\n":                        {value("{}"), value("[1]")},
		"{}\nand text\nmore":               {value("{}"), line("and text"), line("more")},
		"pod/a created\n\npod/b":           {line("pod/a created"), line(""), line("pod/b")},
		"12 of them\n":                     {line("12 of them")},
		"{\"a\": broken\n}":                {line("{\"a\": broken"), line("}")},
		strings.Repeat("x", 2*longestLine): {line(strings.Repeat("x", longestLine)), line(strings.Repeat("x", longestLine))},
	} {
		var got []report.Event
		reportPrinted(report.HandlerFunc(func(e report.Event) { got = append(got, e) }), strings.NewReader(text))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.50q (-want +got):\n%s", text, diff)
		}
	}
}
