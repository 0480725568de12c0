package program

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// pkg is a package that the programs consist of. A program's own counts as stale until the program is linked.
type pkg struct {
	path  string
	stale bool // yet to be compiled
}

// parsePackages reads the output of go list: import path and staleness, separated by a tab.
func parsePackages(out string) []pkg {
	var packages []pkg
	for line := range strings.Lines(out) {
		path, stale, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if ok && path != "" {
			packages = append(packages, pkg{path, stale == "true"})
		}
	}
	return packages
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
	pending map[string]bool // packages not named yet
	linking bool            // the last program's package was named
	total   int
}

// tick is how often the elapsed time is told when nothing else happens.
const tick = time.Second

// newTracker begins to tell progress; stop ends that.
func newTracker(product *product, packages []pkg, h report.Handler) *tracker {
	t := &tracker{product: product, handler: h, begin: time.Now(), ended: make(chan struct{}), pending: map[string]bool{}, total: len(packages)}
	for _, p := range packages {
		if p.stale {
			t.pending[p.path] = true
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
	t.send()
}

// line takes a line of the go command's and tells whether it was about progress.
func (t *tracker) line(line string) bool {
	if strings.HasPrefix(line, "go: downloading ") {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.pending[line] && !slices.Contains(t.product.packages(), line) {
		return false
	}
	if line == t.product.lastPackage() { // it stays pending until it is linked
		t.linking = true
	} else {
		delete(t.pending, line)
	}
	t.send()
	return true
}

// tell sends how far the build has come.
func (t *tracker) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send()
}

// send is tell for those who hold mu, which keeps the events in order.
func (t *tracker) send() {
	name := "compiling " + t.product.what
	if t.linking || t.onlyPrograms() {
		name = "linking " + t.product.what
	}
	t.handler.Handle(report.Progress{Name: name, Done: t.total - len(t.pending), Total: t.total, Unit: "packages", Elapsed: time.Since(t.begin)})
}

// onlyPrograms reports whether the programs alone are left. Go names none of them whose own package is in the build
// cache, as when a build is resumed that was interrupted while it linked.
func (t *tracker) onlyPrograms() bool {
	programs := t.product.packages()
	for path := range t.pending {
		if !slices.Contains(programs, path) {
			return false
		}
	}
	return true
}
