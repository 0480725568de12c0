package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// compiled is a package of a recorded compile.
type compiled struct {
	path   string
	size   int64         // bytes of source
	cost   time.Duration // of processor time
	needed []int         // packages before it that it imports
}

// recorded are the packages of a real compile from nothing, in the order in which the go command began with them.
func recorded(t *testing.T) (all []compiled) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "small.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		c := compiled{path: fields[0], size: number(fields[1]), cost: time.Duration(number(fields[2])) * time.Microsecond}
		for _, index := range strings.Fields(fields[3]) {
			c.needed = append(c.needed, int(number(index)))
		}
		all = append(all, c)
	}
	return all
}

// played is when each package begins, in order, and when all are compiled, with a number of workers.
func played(all []compiled, workers int) (begins []mark, end time.Duration) {
	ends := make([]time.Duration, len(all))
	free := make([]time.Duration, workers)
	for i, c := range all {
		w := 0
		for other := range free {
			if free[other] < free[w] {
				w = other
			}
		}
		at := free[w]
		for _, n := range c.needed {
			at = max(at, ends[n])
		}
		if len(begins) > 0 {
			at = max(at, begins[len(begins)-1].at)
		}
		begins = append(begins, mark{at, i})
		ends[i] = at + c.cost
		free[w], end = ends[i], max(end, ends[i])
	}
	return begins, end
}

// mark is when a package begins.
type mark struct {
	at    time.Duration
	index int
}

// worst plays a compile, stretched to the eight minutes that the cluster program takes, and returns the lowest and the
// highest share of the real time left that is shown between two points of it.
func worst(all []compiled, weights []int64, workers int, from, to float64) (low, high float64) {
	begins, end := played(all, workers)
	stretch := float64(8*time.Minute) / float64(end)
	p := pace{workers: workers}
	for _, w := range weights {
		p.all += float64(w)
	}
	low, high = 1, 1
	for second := time.Duration(0); float64(second) < to*float64(8*time.Minute); second += time.Second {
		for len(begins) > 0 && float64(begins[0].at)*stretch <= float64(second) {
			p.starts(second, float64(weights[begins[0].index]))
			begins = begins[1:]
		}
		if float64(second) < from*float64(8*time.Minute) {
			continue
		}
		real := 8*time.Minute + 8*time.Minute*6/100 - second
		share := float64(p.left(second)) / float64(real)
		low, high = min(low, share), max(high, share)
	}
	return low, high
}

// TestTimeLeft replays a recorded compile and compares the time left that is shown with the real one: after a minute it
// is off by a third at most, with the costs of the last time or with sizes alone. The recording is that of a small
// program, of which the package runtime alone is a ninth. A second worker waits for it, so known costs promise too much
// time until a third is compiled.
func TestTimeLeft(t *testing.T) {
	all := recorded(t)
	var known, sizes []int64
	for _, c := range all {
		known = append(known, c.cost.Microseconds())
		sizes = append(sizes, overhead+c.size+perImport*int64(len(c.needed)))
	}
	for _, test := range []struct {
		name      string
		weights   []int64
		workers   int
		from      float64
		low, high float64
	}{
		{"one worker, known costs", known, 1, 1. / 8, 2. / 3, 4. / 3},
		{"two workers, known costs", known, 2, 1. / 3, 2. / 3, 4. / 3},
		{"one worker, sizes", sizes, 1, 1. / 8, 2. / 3, 4. / 3},
		{"two workers, sizes", sizes, 2, 1. / 8, 2. / 3, 4. / 3},
	} {
		low, high := worst(all, test.weights, test.workers, test.from, 0.85)
		t.Logf("%s: %.2f to %.2f of the real time left", test.name, low, high)
		if low < test.low || high > test.high {
			t.Errorf("%s: %.2f to %.2f of the real time left is shown", test.name, low, high)
		}
	}
}

// TestTimeLeftOfFirst replays the begins of a real compile of the cluster program from nothing, on two cores: with the
// costs that slipway brings, the time left is off by a third at most after the first minute.
func TestTimeLeftOfFirst(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "cluster.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	known := costs{}.completed(shipped(shippedCosts))
	var paths []string
	var at []time.Duration
	p := pace{workers: 2}
	for _, line := range lines {
		ms, path, _ := strings.Cut(line, "\t")
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		paths, at = append(paths, path), append(at, time.Duration(n)*time.Millisecond)
		p.all += float64(known[path])
	}
	end := at[len(at)-1] // the program is linked
	low, high := 1., 1.
	for i, path := range paths {
		p.starts(at[i], float64(known[path]))
		if real := end - at[i]; at[i] > time.Minute && real > end/8 {
			share := float64(p.left(at[i])) / float64(real)
			low, high = min(low, share), max(high, share)
		}
	}
	t.Logf("%.2f to %.2f of the real time left, of %v", low, high, end)
	if low < 2./3 || high > 4./3 {
		t.Errorf("%.2f to %.2f of the real time left is shown", low, high)
	}
}

// TestUnknownAtFirst: nothing is shown before a pace is known.
func TestUnknownAtFirst(t *testing.T) {
	p := pace{workers: 2, all: 100}
	if left := p.left(time.Minute); left != 0 {
		t.Error("before anything begins:", left)
	}
	p.starts(0, 50)
	p.starts(0, 25)
	p.starts(time.Second, 25)
	if left := p.left(time.Second); left != 0 {
		t.Error("after a second:", left)
	}
}

// TestWeigh: costs of the last time count, and what is new weighs what others of its size do.
func TestWeigh(t *testing.T) {
	packages := []pkg{{path: "a", stale: true, weight: 100}, {path: "b", stale: true, weight: 300}, {path: "new", stale: true, weight: 200}}
	weigh(packages, costs{"a": 1000, "b": 1000})
	if packages[0].weight != 1000 || packages[1].weight != 1000 || packages[2].weight != 1000 {
		t.Errorf("%+v", packages)
	}
	weigh(packages, costs{})
	if packages[2].weight != 1000 {
		t.Errorf("without costs: %+v", packages)
	}
}

// TestAddCosts: what was compiled is remembered, what was taken from Go's cache is not, and there is an end to it.
func TestAddCosts(t *testing.T) {
	var actions []action
	if err := json.Unmarshal([]byte(`[{"Mode":"build","Package":"a","CmdUser":2000000,"CmdSys":1000000},{"Mode":"build","Package":"cached"},{"Mode":"link","Package":"a","CmdUser":9}]`), &actions); err != nil {
		t.Fatal(err)
	}
	c := costs{"a": 1, "b": 2}
	if !c.add(actions) || len(c) != 2 || c["a"] != 3000 {
		t.Errorf("%v", c)
	}
	if c.add(actions[1:]) {
		t.Error("nothing was compiled")
	}
	for i := range manyCosts {
		c[strconv.Itoa(i)] = 1
	}
	if c.add(actions); len(c) != 1 {
		t.Errorf("%d are kept", len(c))
	}
}
