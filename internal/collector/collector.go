// Package collector puts off garbage collection: most commands are over before any of it is worth its time. It also
// says when a program needs more memory than any project makes it need.
//
// The packages of the program allocate several megabytes while they are initialised, most of which stays, and with the
// usual settings that is looked through before main runs. So this package, which is initialised before most others,
// turns the collector off: the one exception to the rule that packages do nothing by themselves. A program calls
// [Begin] when it has begun.
package collector

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// usual is the setting that the program was started with, in percent of what is in use.
var usual = debug.SetGCPercent(-1)

// How much garbage may pile up, in percent of what is in use.
const (
	standard = 100  // unless somebody says otherwise
	patient  = 400  // for what ends before much of it is worth collecting
	first    = 1600 // of the little that is in use at first: 64 MiB
)

// thrifty is how many bytes a program may take before collecting is worth any time: the user's GOMEMLIMIT, or this. A
// program that needs twice as much is stopped.
const thrifty = 1 << 30

// Collector decides when garbage is collected. A nil one leaves that as it is.
type Collector struct {
	mu      sync.Mutex
	begun   bool // something was collected
	percent int  // from then on
	usual   int  // unless a caller is patient
	fixed   bool // usual is the user's, whatever a caller is
}

// Begin has garbage collected, for the first time when it is worth while and then as usual. A user who has set GOGC or
// GOMEMLIMIT, whose value is limit, gets what these ask for: off is no limit.
func Begin(limit string) *Collector {
	if limit == "" {
		debug.SetMemoryLimit(thrifty)
	}
	return begin(usual)
}

func begin(usual int) *Collector {
	c := &Collector{percent: usual, usual: usual, fixed: usual != standard}
	if c.fixed {
		debug.SetGCPercent(usual)
		return c
	}
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([64]byte), (*Collector).collected, c)
	return c
}

// collected is called when garbage was collected for the first time.
func (c *Collector) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = true
	debug.SetGCPercent(c.percent)
}

// Patiently has more garbage pile up until it is undone.
func (c *Collector) Patiently() (undo func()) {
	if c == nil || c.fixed {
		return func() {}
	}
	c.set(patient)
	return func() { c.set(c.usual) }
}

func (c *Collector) set(percent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.percent = percent
	if c.begun {
		debug.SetGCPercent(percent)
	}
}

// Watch calls exceeded once, when garbage was collected and what is left takes twice the limit of memory, in bytes. It
// is asked for at most once, and a nil collector never calls.
func (c *Collector) Watch(exceeded func(bytes int64)) {
	if c != nil {
		runtime.AddCleanup(new([64]byte), watched, exceeded)
	}
}

// watched is called each time that garbage was collected.
func watched(exceeded func(bytes int64)) {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	if most := 2 * debug.SetMemoryLimit(-1); inUse[0].Value.Uint64() > uint64(most) {
		exceeded(most)
		return
	}
	runtime.AddCleanup(new([64]byte), watched, exceeded)
}
