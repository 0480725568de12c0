package program

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// pkg is a package that the programs consist of.
type pkg struct {
	path   string
	main   bool  // a program's own, which counts as stale until the program is linked
	stale  bool  // yet to be compiled
	weight int64 // roughly how long it takes to compile: bytes of source, or what it cost last time
}

// parsePackages reads the output of go list: import path, staleness, folder,
// files (joined by a slash, which no name contains) and the number of imports, separated by tabs.
func parsePackages(product *product, out string) []pkg {
	var packages []pkg
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) != 5 {
			continue
		}
		imports, err := strconv.ParseInt(fields[4], 10, 32)
		if err != nil || imports < 0 {
			continue
		}
		p := pkg{path: fields[0], main: slices.Contains(product.packages(), fields[0]), stale: fields[1] == "true"}
		if p.stale {
			p.weight = weight(fields[2], strings.Split(fields[3], "/"), imports)
		}
		packages = append(packages, p)
	}
	return packages
}

// What a package costs besides its source, in bytes of source: by itself, and for each package that it imports, whose
// types are to be read. A compile of 256 packages was measured, and these fit it best.
const (
	overhead  = 10_000
	perImport = 4_000
)

// weight is what a package costs with files in dir that import other packages.
func weight(dir string, files []string, imports int64) int64 {
	sum := overhead + perImport*imports
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// stale counts the packages that are yet to be compiled.
func stale(packages []pkg) int {
	n := 0
	for _, p := range packages {
		if p.stale {
			n++
		}
	}
	return n
}

// tracker turns the go command's lines into progress events. With -v, go names a
// package when it begins to compile it; packages in the build cache are not named.
type tracker struct {
	product *product
	handler report.Handler
	begin   time.Time
	ended   chan struct{}
	ticking sync.WaitGroup

	mu      sync.Mutex
	pending map[string]int64 // packages not named yet → weight
	unbuilt int              // 1 until the packages are linked
	linking bool             // all packages are compiled
	total   int              // packages, and the program
	pace    pace
}

// tick is how often the elapsed time is told when nothing else happens.
const tick = time.Second

// newTracker begins to tell progress; stop ends that.
func newTracker(product *product, packages []pkg, h report.Handler) *tracker {
	t := &tracker{product: product, handler: h, begin: time.Now(), ended: make(chan struct{}), pending: map[string]int64{}, unbuilt: 1, total: len(packages) + 1,
		pace: pace{workers: runtime.GOMAXPROCS(0)}}
	for _, p := range packages {
		if p.stale && !p.main {
			t.pending[p.path] = p.weight
			t.pace.all += float64(p.weight)
		}
	}
	t.tell()
	t.ticking.Go(t.tick)
	return t
}

func (t *tracker) tick() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-t.ended:
			return
		case <-ticker.C:
			t.tell()
		}
	}
}

func (t *tracker) stop() {
	close(t.ended)
	t.ticking.Wait()
}

// linked tells that the program is complete.
func (t *tracker) linked() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.pending)
	t.unbuilt = 0
	t.send()
}

// line takes a line of the go command's and tells whether it was about progress.
func (t *tracker) line(line string) bool {
	if strings.HasPrefix(line, "go: downloading ") {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case line == t.product.lastPackage(): // the main package: it is compiled last
		t.linking = true
		t.send()
		return true
	case slices.Contains(t.product.packages(), line):
		return true // what is left to be done does not change
	}
	weight, known := t.pending[line]
	if known {
		delete(t.pending, line)
		t.pace.starts(time.Since(t.begin), float64(weight))
		t.send()
	}
	return known
}

// tell sends how far the build has come.
func (t *tracker) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send()
}

// send is tell for those who hold mu, which keeps the events in order.
func (t *tracker) send() {
	p := report.Progress{Name: t.product.building(), Done: t.total - len(t.pending) - t.unbuilt, Total: t.total, Elapsed: time.Since(t.begin)}
	if t.linking {
		p.Name = t.product.linking()
	} else {
		p.Left = t.pace.left(p.Elapsed)
	}
	t.handler.Handle(p)
}
