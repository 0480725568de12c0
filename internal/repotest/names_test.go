package repotest_test

import (
	"slices"
	"strings"
	"testing"
)

// namesakes are the names that several packages have, and what all of them are.
var namesakes = map[string]string{
	"collector":    "puts off garbage collection, in each program by itself",
	"crdcheck":     "the checker of CRDs, and what asks it",
	"cri":          "the container runtime of real nodes, and the test that runs critest against it",
	"testlimit":    "how long tests wait, in each module by itself",
	"testlock":     "hands out ports to tests, in each module by itself",
	"generate":     "the generators, and the test that compares them with their peers",
	"generation":   "running the generators, for the verb, and for benchmarks of it and its peer",
	"process":      "starts programs, and asks /proc what they use, in each module by itself",
	"prove":        "finds what operators do wrong when something fails, and the test of it with operators whose mistakes are known",
	"protocol":     "the process protocol, of which each module has its side",
	"removetree":   "removes deep folders of pods, in each module by itself",
	"setupenvtest": "the verb, and the test that compares it with its peer",
	"wire":         "what slipway, or the cluster, and a program of its own say to each other: the folder above names the program",
}

// TestNamesMeanOneThing: a package's name says one thing in this repository. Within a module only wire has namesakes.
func TestNamesMeanOneThing(t *testing.T) {
	byName := map[string][]string{}
	for _, p := range packages(t) {
		if p.name != "main" && !strings.HasPrefix(p.dir, "examples/") {
			byName[p.name] = append(byName[p.name], p.dir)
		}
	}
	for name, dirs := range byName {
		if len(dirs) > 1 && namesakes[name] == "" {
			t.Errorf("%q names %s: give one use another name, or say here what all of them are", name, strings.Join(dirs, ", "))
		}
		modules := map[string]bool{}
		for _, dir := range dirs {
			if modules[moduleOf(dir)] && name != "wire" {
				t.Errorf("%q names several packages of one module: %s", name, strings.Join(dirs, ", "))
			}
			modules[moduleOf(dir)] = true
		}
	}
	for name := range namesakes {
		if len(byName[name]) < 2 {
			t.Errorf("%q names one package", name)
		}
	}
}

// moduleOf is the folder of the module that a package is in; "" for the command's.
func moduleOf(dir string) string {
	parts := strings.Split(dir, "/")
	switch {
	case slices.Contains([]string{"examples", "test"}, parts[0]) && len(parts) > 1:
		return parts[0] + "/" + parts[1]
	case slices.Contains([]string{"cluster", "operator", "bench"}, parts[0]):
		return parts[0]
	}
	return ""
}
