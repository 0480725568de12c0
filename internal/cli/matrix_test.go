package cli_test

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var matrix = flag.String("matrix", "2", "how many combinations of the scaffold matrix to make: a number, pairs (any two choices meet) or all")

var linter = flag.String("linter", "", "a golangci-lint `program`, whose default set each project of the matrix has to pass")

// A dimension is a question that the author of an operator answers, and the answers: to
// try a new one, add a line.
type dimension []choice

// A choice is an answer: flags of init, and commands that follow. Commands of a later
// dimension follow those of an earlier one.
type choice struct {
	name string
	init string
	run  []string
	// without is an answer that this one does not go with: a new version of a kind that runs an image has other
	// fields, and the scaffolded test says that they are lost; a manager of one namespace does not migrate.
	without string
}

const (
	api     = "create api --group batch --version v1 --kind CronJob --resource --controller"
	webhook = "create webhook --group batch --version v1 --kind CronJob"

	coreWebhook = "create webhook --group core --version v1 --kind Pod --defaulting --programmatic-validation"
)

// dimensions are those of the matrix.
var dimensions = []dimension{
	{ // layout
		{name: "single"},
		{name: "multigroup", init: "--multigroup"},
	},
	{ // scope of the manager
		{name: "cluster"},
		{name: "namespaced", init: "--namespaced"},
	},
	{ // kinds
		{name: "one", run: []string{api}},
		{name: "types-only", run: []string{strings.Replace(api, "--controller", "--controller=false", 1)}},
		{name: "cluster-scoped", run: []string{api + " --namespaced=false --plural crons"}},
		{name: "versions", run: []string{api, "create api --group batch --version v2 --kind CronJob --resource --controller=false"}},
		{name: "controllers", run: []string{api, strings.Replace(api, "--resource", "--resource=false", 1) + " --controller-name nightly-report"}},
		{name: "image", run: []string{api + " --image memcached:1.6 --image-container-port 11211 --run-as-user 1001"}},
		{name: "core", run: []string{api, "create api --group apps --version v1 --kind Deployment --resource=false --controller"}},
	},
	{ // webhooks
		{name: "no-webhooks"},
		{name: "defaulting", run: []string{webhook + " --defaulting"}},
		{name: "validation", run: []string{webhook + " --programmatic-validation --validation-path /check"}},
		{name: "both", run: []string{webhook + " --defaulting", webhook + " --programmatic-validation --certs self"}},
		{name: "conversion", without: "image", run: []string{"create api --group batch --version v3 --kind CronJob --resource --controller=false", webhook + " --conversion"}},
		{name: "core-webhook", run: []string{coreWebhook}},
		{name: "own-and-core", run: []string{webhook + " --defaulting", coreWebhook}},
	},
	{ // features
		{name: "usual"},
		{name: "bare", run: []string{"edit --disable metrics"}},
		{name: "full", run: []string{"edit --enable prometheus,alerts,dashboard,ha,pprof,network-policy,egress,tracing,vap,e2e,ci"}},
		{name: "migrating", without: "namespaced", run: []string{"edit --enable storage-migration"}},
	},
	{ // later changes
		{name: "as-made"},
		{name: "moved", run: []string{"edit --multigroup"}},
		{name: "undone", run: []string{"create api --group batch --version v1 --kind Undone --resource --controller", "create webhook --group batch --version v1 --kind Undone --defaulting", "delete api --group batch --version v1 --kind Undone"}},
	},
}

// TestMatrix makes projects of every kind: each is generated, built, vetted and, where
// there is a cluster program, tested, and what it deploys can be built.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-matrix")
	}
	wanted := combinations()
	if *matrix != "all" {
		wanted = pairs(wanted)
	}
	if n, err := strconv.Atoi(*matrix); err == nil {
		wanted = wanted[:min(n, len(wanted))]
	} else if *matrix != "all" && *matrix != "pairs" {
		t.Fatalf("-matrix %s", *matrix)
	}
	t.Logf("%d combinations", len(wanted))
	for _, combination := range wanted {
		t.Run(nameOf(combination), func(t *testing.T) { makeProject(t, combination) })
	}
}

// makeProject makes the project of one combination, and proves it.
func makeProject(t *testing.T, combination []choice) {
	t.Setenv("SLIPWAY_STATE", t.TempDir())
	t.Setenv("SLIPWAY_CHECK", cmp.Or(os.Getenv("SLIPWAY_CHECK"), "off"))
	dir := t.TempDir()
	t.Chdir(dir) // kustomize asks the process
	initFlags := ""
	for _, c := range combination {
		initFlags += " " + c.init
	}
	slipway(t, dir, strings.Fields("init --domain example.com --repo example.com/op --project-name op --fetch-deps=false"+initFlags)...)
	for _, c := range combination {
		for _, line := range c.run {
			slipway(t, dir, strings.Fields(line)...)
		}
	}
	slipway(t, dir, strings.Fields("generate --check")...)
	slipway(t, dir, "kustomize", "build", "config/default", "-o", filepath.Join(t.TempDir(), "all.yaml"))
	golang(t, dir, "gofmt", "-l", ".")
	golang(t, dir, "go", "vet", "./...")
	if *linter != "" {
		lint(t, dir)
	}
	golang(t, dir, "go", "build", "-o", filepath.Join(t.TempDir(), "manager"), "./cmd")
	if os.Getenv("SLIPWAY_CLUSTER") != "" {
		slipway(t, dir, strings.Fields("test ./...")...)
	}
}

// golang runs a program of Go's, which must have nothing to say.
func golang(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// lint has golangci-lint look at the project; it always says how much it found.
func lint(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(*linter, "run", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("golangci-lint: %v\n%s", err, out)
	}
}

func nameOf(combination []choice) string {
	var names []string
	for _, c := range combination {
		names = append(names, c.name)
	}
	return strings.Join(names, ",")
}

// combinations is the product of all dimensions.
func combinations() [][]choice {
	all := [][]choice{nil}
	for _, d := range dimensions {
		var longer [][]choice
		for _, c := range all {
			for _, answer := range d {
				if answer.without != "" && slices.ContainsFunc(c, func(c choice) bool { return c.name == answer.without }) {
					continue
				}
				longer = append(longer, append(slices.Clone(c), answer))
			}
		}
		all = longer
	}
	return all
}

// pairs picks combinations until any two answers to different questions occur together:
// always the one that brings most new pairs.
func pairs(all [][]choice) [][]choice {
	met := map[string]bool{}
	var picked [][]choice
	for {
		best, most := -1, 0
		for i, c := range all {
			if n := newPairs(c, met); n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			return picked
		}
		picked = append(picked, all[best])
		for _, p := range pairsOf(all[best]) {
			met[p] = true
		}
	}
}

func newPairs(c []choice, met map[string]bool) int {
	n := 0
	for _, p := range pairsOf(c) {
		if !met[p] {
			n++
		}
	}
	return n
}

func pairsOf(c []choice) []string {
	var all []string
	for i := range c {
		for j := i + 1; j < len(c); j++ {
			all = append(all, c[i].name+"+"+c[j].name)
		}
	}
	return all
}
