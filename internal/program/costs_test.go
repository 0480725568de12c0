package program

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write costs.tsv from the costs that this user's compiles have had")

// ofPrograms are the packages of the programs that take minutes to compile.
func ofPrograms(t *testing.T) (paths []string) {
	t.Helper()
	for _, p := range []*product{clusterProduct(), nodeProduct(), checkProduct(), codegenProduct()} {
		out, err := goOutput(t.Context(), p, filepath.Join("..", "..", p.folder), nil, append([]string{"list", "-deps"}, p.mains()...)...)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.Fields(string(out))...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// TestShippedCosts: what packages cost is known before the first compile. A new package weighs by its size, so some may
// be missing, but not many. After a compile from nothing, `-update` writes the list anew.
func TestShippedCosts(t *testing.T) {
	paths := ofPrograms(t)
	if *update {
		writeCosts(t, paths)
		return
	}
	all := shipped(shippedCosts)
	var missing []string
	for _, path := range paths {
		if all[path] == 0 {
			missing = append(missing, path)
		}
	}
	if len(missing)*20 > len(paths) {
		t.Errorf("costs.tsv lacks %d of %d packages, such as %s; compile from an empty cache of Go's and update it", len(missing), len(paths), missing[0])
	}
}

// writeCosts writes the list, the dearest package first.
func writeCosts(t *testing.T, paths []string) {
	t.Helper()
	f := &Finder{Getenv: os.Getenv}
	known := f.knownCosts()
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(known[b], known[a]), cmp.Compare(a, b)) })
	var b strings.Builder
	for _, path := range paths {
		if ms := (known[path] + 500) / 1000; ms > 0 {
			fmt.Fprintf(&b, "%d\t%s\n", ms, path)
		}
	}
	if err := os.WriteFile("costs.tsv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestShipped reads a list, of which lines that are none are left out.
func TestShipped(t *testing.T) {
	if got := shipped("12\ta/b\nx\tc\n\n-1\td\n3\te"); len(got) != 2 || got["a/b"] != 12_000 || got["e"] != 3_000 {
		t.Errorf("%v", got)
	}
}

// TestCompleted: what this machine knows stays, and what it does not know costs what it did elsewhere, times the
// difference between the machines.
func TestCompleted(t *testing.T) {
	others := costs{"a": 100, "b": 300, "c": 50}
	for _, test := range []struct{ known, want costs }{
		{costs{}, others},
		{costs{"a": 300, "b": 500, "mine": 7}, costs{"a": 300, "b": 500, "c": 100, "mine": 7}},
		{costs{"mine": 7}, costs{"a": 100, "b": 300, "c": 50, "mine": 7}},
	} {
		got, want := marshal(t, test.known.completed(others)), marshal(t, test.want)
		if got != want {
			t.Errorf("%v: got %s, want %s", test.known, got, want)
		}
	}
}

func marshal(t *testing.T, c costs) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
