package program

import (
	_ "embed" // costs.tsv
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/atomicfile"
	"github.com/slipway-dev/slipway/internal/cachefolder"
	"github.com/slipway-dev/slipway/internal/gocommand"
)

// CostsDir is the folder in the cache with what packages have cost when they were compiled last.
const CostsDir = "costs"

// manyCosts is how many packages are remembered; the programs have some 4,000.
const manyCosts = 20_000

// costs are microseconds of processor time by import paths.
type costs map[string]int64

// costsFile is where costs are kept; empty if there is no cache.
func (f *Finder) costsFile() string {
	root, err := cachefolder.Root(f.Getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(root, CostsDir, "packages.json")
}

// knownCosts are those of earlier compiles; none are no mistake.
func (f *Finder) knownCosts() costs {
	known := costs{}
	if text, err := os.ReadFile(f.costsFile()); err != nil || json.Unmarshal(text, &known) != nil {
		return costs{}
	}
	return known
}

// shippedCosts are what packages of our programs have cost on the machine where the list was written: milliseconds and
// import path, separated by a tab. A first compile has nothing else to go by but the sizes of sources, with which the
// time left is off by half.
//
//go:embed costs.tsv
var shippedCosts string

// shipped are the costs in a list like [shippedCosts].
func shipped(list string) costs {
	all := costs{}
	for line := range strings.Lines(list) {
		number, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ms, err := strconv.ParseInt(number, 10, 32); err == nil && ms > 0 {
			all[path] = ms * 1000
		}
	}
	return all
}

// completed are the known costs, with others where none are known: those of another machine, which is as much faster
// or slower than this one as the packages with both costs say.
func (c costs) completed(others costs) costs {
	var here, there float64
	for path, cost := range others {
		if known := c[path]; known > 0 {
			here += float64(known)
			there += float64(cost)
		}
	}
	if there == 0 {
		here, there = 1, 1
	}
	all := costs{}
	for path, cost := range others {
		all[path] = max(1, int64(float64(cost)*here/there))
	}
	maps.Copy(all, c)
	return all
}

// weigh gives packages that are to be compiled the weights of what they cost last time. Those that are new weigh what
// others of their size do.
func weigh(packages []pkg, known costs) {
	var cost, bytes float64
	for _, p := range packages {
		if c := known[p.path]; p.stale && c > 0 {
			cost += float64(c)
			bytes += float64(p.weight)
		}
	}
	if cost == 0 {
		return
	}
	for i, p := range packages {
		if c := known[p.path]; c > 0 {
			packages[i].weight = c
		} else {
			packages[i].weight = int64(float64(p.weight) * cost / bytes)
		}
	}
}

// graphFlag has the go command write what each package costs, into a file in dir. It is not documented, so it is given
// only to versions that are known to have it. It changes no program.
func graphFlag(dir string) (flags []string, file string) {
	if !strings.HasPrefix(gocommand.Toolchain(), "go1.2") {
		return nil, ""
	}
	file = filepath.Join(dir, "actions.json")
	return []string{"-debug-actiongraph=" + file}, file
}

// action is a piece of the go command's work.
type action struct {
	Mode, Package   string
	CmdUser, CmdSys time.Duration
}

// learn remembers what packages have cost. A failure costs a worse estimate the next time, and nothing else.
func (f *Finder) learn(graph string, known costs) {
	text, err := os.ReadFile(graph)
	var actions []action
	if err != nil || json.Unmarshal(text, &actions) != nil || !known.add(actions) {
		return
	}
	text, err = json.Marshal(known)
	if err != nil || os.MkdirAll(filepath.Dir(f.costsFile()), 0o755) != nil {
		return
	}
	_ = atomicfile.WriteCache(f.costsFile(), text, 0o644)
}

// add takes over the costs of what was compiled; changed is false if nothing was.
func (c costs) add(actions []action) (changed bool) {
	if len(c) > manyCosts {
		clear(c)
	}
	for _, a := range actions {
		if cost := (a.CmdUser + a.CmdSys).Microseconds(); a.Mode == "build" && cost > 0 {
			c[a.Package] = cost
			changed = true
		}
	}
	return changed
}
