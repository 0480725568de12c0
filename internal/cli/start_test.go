package cli

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/ui"
)

// Every start of the command pays for what its packages do before main, and for the tree of its verbs, whichever of
// them it runs. These are limits for that, in allocations, which are the same on every machine; bench/start has the
// times.
const (
	mostOfOurs   = 200    // of one of our packages: what takes more is made when it is first asked for, see package lazy
	mostOfOthers = 1_300  // of one of another module; kustomize's command line has most
	mostOfAll    = 17_000 // this test's packages included; the expressions of scenarios, in CEL, have some 2,500, the tools of agents 500
	mostOfVerbs  = 150
)

// TestPackagesDoLittleBeforeMain: the test's own program has all packages of the command.
func TestPackagesDoLittleBeforeMain(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	traced := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`).FindAllStringSubmatch(string(out), -1)
	if len(traced) < 100 {
		t.Fatalf("only %d packages were initialised\n%s", len(traced), out)
	}
	all := 0
	for _, m := range traced {
		allocations, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		all += allocations
		most := mostOfOthers
		if strings.HasPrefix(m[1], "github.com/slipway-dev/slipway/") {
			most = mostOfOurs
		}
		if allocations > most {
			t.Errorf("package %s allocates %d times before main, more than %d", m[1], allocations, most)
		}
	}
	if all > mostOfAll {
		t.Errorf("the packages allocate %d times before main, more than %d", all, mostOfAll)
	}
	t.Logf("%d packages, %d allocations", len(traced), all)
}

// TestVerbsHaveTheirNames: a start makes the command that it is called with by the name in the list.
func TestVerbsHaveTheirNames(t *testing.T) {
	inv := &invocation{Env: Env{Getenv: os.Getenv}, output: ui.Text}
	verbs := inv.verbs()
	if all := needed(verbs, []string{"--help"}); len(all) != len(verbs) {
		t.Errorf("help has %d of %d verbs", len(all), len(verbs))
	}
	for _, v := range verbs {
		if made := needed(verbs, []string{v.name, "--help"}); len(made) != 1 || made[0].Name() != v.name {
			t.Errorf("%s makes %v", v.name, made)
		}
	}
}

// TestVerbsAreCheap: what a verb needs to know it finds out when it runs.
func TestVerbsAreCheap(t *testing.T) {
	allocations := testing.AllocsPerRun(3, func() {
		inv := &invocation{Env: Env{Getenv: os.Getenv, Args: []string{"version"}}, output: ui.Text}
		inv.root()
	})
	if allocations > mostOfVerbs {
		t.Errorf("the verbs take %.0f allocations, more than %d", allocations, mostOfVerbs)
	}
	t.Logf("%.0f allocations", allocations)
}
