package devscreen

import (
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

const (
	// maxLines and maxBytes are what is kept of the log until it is printed. A part that reports more has to wait, as
	// for any write to a terminal.
	maxLines = 2000
	maxBytes = 1 << 20
	// maxParts is the number of parts that a screen has lines for.
	maxParts = 9
)

// feed is the handler: it keeps events until the screen shows them.
type feed struct {
	color bool
	log   func() *devlog.Printer // makes one for a program

	mu       sync.Mutex
	room     sync.Cond
	wake     chan struct{} // has an element when there is something new
	lines    []string
	bytes    int
	status   status
	fresh    bool // the status has changed since it was taken
	filter   devlog.Filter
	printers map[report.PartName]*devlog.Printer
	closing  bool // no more events come
	over     bool // nothing is shown any more
}

// status is what the block shows apart from the log.
type status struct {
	parts   []report.Part
	passing string // what goes on, besides the parts
	hidden  int    // lines that the filter has left out
}

func newFeed(o Options) *feed {
	f := &feed{
		color: o.Color, wake: make(chan struct{}, 1), printers: map[report.PartName]*devlog.Printer{},
		log: func() *devlog.Printer { return &devlog.Printer{Color: o.Color, Module: o.Module, Dir: o.Dir} },
	}
	f.room.L = &f.mu
	return f
}

// Handle takes an event. It blocks while too much of the log waits to be printed.
func (f *feed) Handle(e report.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := e.(type) {
	case report.Part:
		f.part(e)
	case report.Output:
		f.output(e)
	case report.Detail: // of a step, which the block shows without
	case report.Result:
		f.pass("")
		f.add(ansi.Plain(e.Text))
	default:
		f.pass(ui.Passing(e))
		f.add(ui.Shown(e, f.color))
	}
}

// part sets the state of a part.
func (f *feed) part(p report.Part) {
	i := slices.IndexFunc(f.status.parts, func(known report.Part) bool { return known.Name == p.Name })
	parts := slices.Clone(f.status.parts)
	switch {
	case i >= 0:
		parts[i] = p
	case len(parts) < maxParts:
		parts = append(parts, p)
	}
	f.status.parts = parts
	f.changed()
}

// pass sets what goes on.
func (f *feed) pass(text string) {
	if text != f.status.passing {
		f.status.passing = text
		f.changed()
	}
}

// output adds a line of a program, unless the filter leaves it out.
func (f *feed) output(o report.Output) {
	l := devlog.Parse(o.Text)
	if !f.filter.Shows(l) {
		f.status.hidden++
		f.changed()
		return
	}
	p := f.printers[o.Part]
	if p == nil {
		p = f.log()
		if len(f.printers) < maxParts {
			f.printers[o.Part] = p
		}
	}
	line := p.Format(l)
	switch {
	case line == "" && o.Text == "":
		line = " " // an empty line is one, too
	case line == "":
		return
	}
	if o.Part != report.ManagerPart {
		line = ansi.Paint(f.color, ansi.Faint, ansi.Plain(string(o.Part))+":") + " " + line
	}
	f.add(line)
}

// add adds lines to the log.
func (f *feed) add(text string) {
	if text == "" {
		return
	}
	for !f.over && (len(f.lines) >= maxLines || f.bytes >= maxBytes) {
		f.room.Wait()
	}
	if f.over {
		return
	}
	f.lines = append(f.lines, text)
	f.bytes += len(text)
	f.signal()
}

// note adds lines without waiting for room: for the screen's own goroutine, which makes it.
func (f *feed) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, text)
	f.bytes += len(text)
	f.signal()
}

// setFilter begins to leave out what the filter does not show.
func (f *feed) setFilter(filter devlog.Filter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filter, f.status.hidden = filter, 0
	f.changed()
}

func (f *feed) changed() {
	f.fresh = true
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take returns lines to be printed, and the status if it is a new one. It is over when nothing will come any more.
func (f *feed) take() (lines []string, s *status, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines, f.lines, f.bytes = f.lines, nil, 0
	f.room.Broadcast()
	if f.fresh {
		now := f.status
		s, f.fresh = &now, false
	}
	return lines, s, f.over || f.closing && len(lines) == 0 && s == nil
}

// close says that no more events come: what waits is printed.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	f.signal()
}

// end drops what waits, and all that is still reported.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over, f.lines, f.bytes = true, nil, 0
	f.room.Broadcast()
	f.signal()
}
