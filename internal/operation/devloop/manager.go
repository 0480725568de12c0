package devloop

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/report"
)

// manager is one that was started.
type manager struct {
	*dev.Manager
	asked atomic.Bool // to end
	ended atomic.Bool // by itself
}

// running is the manager that was started last; nil before the first one, and while another is about to be started.
func (p *project) running() *manager {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.manager
}

func (p *project) run(m *manager) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.manager = m
}

// hasEnded reports whether the manager ended by itself: the next save starts it, also where the program is the same.
func (p *project) hasEnded() bool {
	m := p.running()
	return m != nil && m.ended.Load()
}

// logLevels are those that follow each other: the manager's own, one with what libraries log for debugging, and one
// with failures only.
var logLevels = [...]string{"", "5", "error"}

// nextLogLevel has the manager that is started next log at another level.
func (p *project) nextLogLevel() {
	next := (p.logLevel.Load() + 1) % int32(len(logLevels))
	p.logLevel.Store(next)
	p.handler.Handle(report.Note{Text: "the manager restarts with log level " + cmp.Or(logLevels[next], "as it has it by itself")})
}

// Restart starts the manager that was built last, in place of the one that runs. Once that one is asked to end, only
// the loop's end keeps the other from being started.
func (p *project) Restart(ctx context.Context) (string, error) {
	p.around.Load().Debug(p.debug.Load())
	p.around.Load().LogLevel(logLevels[p.logLevel.Load()])
	if p.checked.Swap(0) != p.looked.Load() || p.debug.Load() {
		if err := p.around.Load().Check(p.code(p.session)); err != nil {
			return "", err
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	p.stop("the manager restarts")
	if p.life.Err() != nil {
		return "", p.life.Err()
	}
	started, err := p.around.Load().Start(p.life, p.program)
	if err != nil {
		return "", err
	}
	p.unserved = false
	m := &manager{Manager: started}
	p.run(m)
	go p.await(m)
	return fmt.Sprintf("process %d", m.PID()), nil
}

// Serve has the cluster call the webhooks of the manager that runs as they are now.
func (p *project) Serve(ctx context.Context) error {
	m := p.running()
	if m == nil || !p.unserved {
		return nil
	}
	if err := p.around.Load().Renew(ctx); err != nil {
		return err
	}
	p.unserved = false
	return nil
}

// await reports a manager that ends by itself.
func (p *project) await(m *manager) {
	err := m.Wait()
	if m.asked.Load() {
		return
	}
	m.ended.Store(true)
	why := "it ended by itself, without an error"
	if err != nil {
		why = "it ended by itself: " + err.Error()
	}
	if p.running() == m {
		p.around.Load().Hold("the manager has ended; the dev loop starts it with the next save")
	}
	p.handler.Handle(report.Part{Name: report.ManagerPart, State: report.Failed, Text: why})
}

// stop ends the manager that runs, if any.
func (p *project) stop(why string) {
	m := p.running()
	if m == nil {
		return
	}
	m.asked.Store(true)
	_ = p.around.Load().Stop(m.Manager, why) // how it ends does not matter any more
	p.output.Flush()                         // it has been read to its end
	p.run(nil)
}

// restAfter is when a loop that has done its work gives memory back that it needs for that only.
const restAfter = 3 * time.Second

// Fail has calls of webhooks that wait in vain answered with the reason.
func (p *project) Fail(why string) {
	p.rest.Reset(restAfter)
	if m := p.running(); why != "" && (m == nil || m.ended.Load()) {
		p.around.Load().Hold(why)
	}
}

// close ends the manager, and takes back what was changed for it in the cluster.
func (p *project) close() error {
	if p.running() != nil {
		p.handler.Handle(report.Part{Name: report.ManagerPart, State: report.Working, Text: "stopping"})
	}
	p.rest.Stop()
	p.stop("the dev loop has ended")
	return p.around.Load().Close()
}
