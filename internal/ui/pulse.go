package ui

import (
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// quiet is the longest that steps go on without a sign of life.
const quiet = 3 * time.Second

// pulse shows that a step which began still goes on: until the next event it sends progress on to the next
// handler, with the time since the beginning.
type pulse struct {
	next report.Handler

	mu    sync.Mutex
	timer *time.Timer // nil while no step goes on
	step  string
	doing string // the last detail of the step
	begin time.Time
	works map[report.PartName]time.Time // parts that work, and since when
	shown time.Time                     // when the first of the steps that followed each other began, or the last sign of life
}

// Handle passes an event on; it ends the step that went on, and may begin another.
func (p *pulse) Handle(e report.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if detail, ok := e.(report.Detail); ok {
		p.doing = detail.Text
		return
	}
	following := p.timer != nil
	p.stop()
	p.next.Handle(e)
	if step, ok := e.(report.Step); ok && step.Elapsed == 0 {
		p.step, p.doing, p.begin = step.Name, "", time.Now()
		if !following { // the beginning of a step is not shown to people
			p.shown = p.begin
		}
		p.timer = time.AfterFunc(time.Until(p.shown.Add(quiet)), p.beat)
		return
	}
	p.follow(e)
}

// follow shows of the parts of a loop that still work after an event the one that has for longest.
func (p *pulse) follow(e report.Event) {
	if part, ok := e.(report.Part); ok {
		delete(p.works, part.Name)
		if part.State == report.Working {
			if p.works == nil {
				p.works = map[report.PartName]time.Time{}
			}
			p.works[part.Name] = time.Now()
		}
	}
	if len(p.works) == 0 {
		return
	}
	p.begin = time.Now()
	for name, since := range p.works {
		if !since.After(p.begin) {
			p.step, p.doing, p.begin = string(name), "", since
		}
	}
	p.timer = time.AfterFunc(quiet, p.beat)
}

// Pause ends the step that a handler of [New] shows to go on, without an event.
func Pause(h report.Handler) {
	if p, is := h.(*pulse); is {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stop()
	}
}

// fail passes on the error that ended the invocation.
func (p *pulse) fail(f failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	show(p.next, f)
}

// stop ends the step that went on.
func (p *pulse) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// beat is a sign of life.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return // an event came at the same time
	}
	name := p.step
	if p.doing != "" {
		name += ": " + p.doing
	}
	p.shown = time.Now()
	p.next.Handle(report.Progress{Name: name, Elapsed: time.Since(p.begin)})
	p.timer.Reset(quiet)
}
