package main

import (
	"strings"
	"testing"
)

// TestSample runs the fastest suite; `make test-long-envtest` runs all, this one included.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-envtest")
	}
	sample, err := choose([]string{"controller-runtime", "pkg/cluster"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), &out, sample, ""); err != nil {
		t.Error(err)
	}
	t.Log("\n" + out.String())
}

// A comparison that could not fail would prove nothing.
func TestWorseIsAnError(t *testing.T) {
	for _, test := range []struct {
		name        string
		stock, ours map[string]string
		want        error
	}{
		{"same", map[string]string{"a": passed, "b": failed}, map[string]string{"a": passed, "b": failed}, nil},
		{"better", map[string]string{"a": failed}, map[string]string{"a": passed}, nil},
		{"worse", map[string]string{"a": passed}, map[string]string{"a": failed}, errDiffer},
		{"skipped", map[string]string{"a": passed}, map[string]string{"a": "skipped"}, errDiffer},
		{"absent", map[string]string{"a": passed, "b": passed}, map[string]string{"b": passed}, errDiffer},
	} {
		var out strings.Builder
		table := table{out: &out}
		table.row(test.name, comparison{stock: outcomes{states: test.stock}, ours: outcomes{states: test.ours}})
		if err := table.end(); err != test.want {
			t.Errorf("%s: %v\n%s", test.name, err, &out)
		}
	}
}

func TestGoTestsAreRead(t *testing.T) {
	o := outcomes{states: map[string]string{}, output: "=== RUN   TestA\n--- FAIL: TestA (0.10s)\n    --- PASS: TestA/part_one (0.00s)\n    --- SKIP: TestA/two (0.00s)\n"}
	o.goTests()
	if o.states["TestA"] != failed || o.states["TestA/part_one"] != passed || o.states["TestA/two"] != "skipped" {
		t.Errorf("%v", o.states)
	}
}

func TestProjectsAreChosen(t *testing.T) {
	for _, test := range []struct {
		args string
		want int // packages; -1: an error
	}{
		{"", len(projects[0].packages)},
		{"operators", 8},
		{"lws", 2},
		{"lws test/integration/webhooks", 1},
		{"lws controllers", -1},
		{"operators lws", -1},
		{"pkg/client", -1},
	} {
		chosen, err := choose(strings.Fields(test.args))
		got := 0
		for _, p := range chosen {
			got += len(p.packages)
		}
		if err != nil {
			got = -1
		}
		if got != test.want {
			t.Errorf("%q: %d packages, want %d: %v", test.args, got, test.want, err)
		}
	}
}

func TestFocusIsOnWhatFailed(t *testing.T) {
	texts := map[string]string{"A / b (c)": "A b (c)", "A / b (c) (2)": "A b (c)", "A / d": "A d"}
	for _, test := range []struct {
		name   string
		states map[string]string
		want   string
	}{
		{"one of two", map[string]string{"A / b (c)": failed, "A / d": passed, "TestA": failed}, `A b \(c\)`},
		{"two", map[string]string{"A / b (c) (2)": failed, "A / d": "timedout"}, `A b \(c\)|A d`},
		{"before the suite", map[string]string{"BeforeSuite ": failed, "A / d": failed}, ""},
		{"a Go test", map[string]string{"TestA": failed, "A / d": passed}, ""},
	} {
		if got := (outcomes{states: test.states, texts: texts}).focus(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
