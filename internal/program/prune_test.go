//go:build unix

package program

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestUnused(t *testing.T) {
	const day = 24 * time.Hour
	many := map[string]time.Duration{}
	for i := range 2 * kept {
		many[fmt.Sprint(i)] = time.Duration(i) * time.Hour
	}
	busy := maps.Clone(many)
	busy["idle"], busy["idler"] = 2*day, 3*day
	idle := map[string]time.Duration{}
	for i := range kept + 1 {
		idle[fmt.Sprint(i)] = time.Duration(i+2) * day
	}
	for name, tc := range map[string]struct {
		ages map[string]time.Duration
		want []string
	}{
		"nothing":                        {nil, nil},
		"few":                            {map[string]time.Duration{"a": time.Hour, "b": 29 * day}, nil},
		"few, and one forgotten":         {map[string]time.Duration{"a": time.Hour, "b": 31 * day}, []string{"b"}},
		"many, all used today":           {many, nil},
		"many used today, and idle ones": {busy, []string{"idler", "idle"}},
		"more than are kept: the idlest": {idle, []string{"8", "7"}},
	} {
		if got := unused(tc.ages); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v goes, want %v", name, got, tc.want)
		}
	}
}

// TestPrune builds three programs; uses, of whichever way, keep two of them.
func TestPrune(t *testing.T) {
	y := newYard(t)
	build := func(i int) string {
		y.write("cluster/cmd/slipway-cluster/extra.go", fmt.Sprintf("package main\n\nconst extra = %d\n", i))
		return y.ensure().Path
	}
	found, named, forgot := build(1), build(2), build(3)
	old := time.Now().Add(-2 * forgotten)
	for _, path := range []string{found, named, forgot} {
		_ = os.Chtimes(filepath.Join(filepath.Dir(path), usedFile), old, old)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if p := build(1); p != found {
		t.Fatalf("%s, want %s", p, found)
	}
	y.env["SLIPWAY_CLUSTER"] = named
	y.ensure()
	delete(y.env, "SLIPWAY_CLUSTER")
	build(4)
	for path, want := range map[string]bool{found: true, named: true, forgot: false} {
		if isFile(path) != want {
			t.Errorf("%s is there: %v", path, isFile(path))
		}
	}
	if info, err := os.Stat(found); err != nil || !info.ModTime().Equal(old.Truncate(0)) {
		t.Errorf("a use changed the program: %v, %v", info.ModTime(), err)
	}
}
