// Package collector puts off garbage collection: most commands are over before any of it is worth its time.
//
// The packages of the program allocate several megabytes while they are initialised, most of which stays, and with the
// usual settings that is looked through before main runs. So this package, which is initialised before most others,
// turns the collector off: the one exception to the rule that packages do nothing by themselves. A program calls
// [Begin] when it has begun.
package collector

import (
	"runtime"
	"runtime/debug"
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

// Collector decides when garbage is collected. A nil one leaves that as it is.
type Collector struct {
	mu      sync.Mutex
	begun   bool // something was collected
	percent int  // from then on
	usual   int  // unless a caller is patient
}

// Begin has garbage collected, for the first time when it is worth while and then as usual. The code that has set GOGC
// gets what they asked for.
func Begin() *Collector { return begin(usual) }

func begin(usual int) *Collector {
	if usual != standard {
		debug.SetGCPercent(usual)
		return nil
	}
	c := &Collector{percent: usual, usual: usual}
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
	if c == nil {
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
