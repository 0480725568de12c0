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
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"cluster"}); err != nil {
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
