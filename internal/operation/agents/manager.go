package agents

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// A manager is the project's manager, which slipway run keeps running between calls.
type manager struct {
	mu    sync.Mutex
	child *process.Child
	log   *ring
	where string // the kubeconfig of its cluster
}

// The limits of a manager's log in memory: lines, and bytes of each.
const (
	maxLogLines = 5000
	maxLogLine  = 4 << 10
)

// managerGrace is how long a manager may take to stop; slipway run restores webhooks then.
const managerGrace = 20 * time.Second

// A ring keeps the last lines of a log.
type ring struct {
	mu    sync.Mutex
	lines []string
}

func (r *ring) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) >= maxLogLines {
		r.lines = append(r.lines[:0], r.lines[maxLogLines/2:]...)
	}
	r.lines = append(r.lines, line[:cut(line, maxLogLine)])
}

// last returns the last lines, at most a number of them.
func (r *ring) last(most int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines[max(0, len(r.lines)-most):])
}

// errRunning and errNotRunning are refusals.
var (
	errRunning    = &report.Error{What: "the manager runs already", Hint: "call stop first"}
	errNotRunning = &report.Error{What: "no manager was started", Hint: "call run first"}
)

// runArguments are those of the tool run.
type runArguments struct {
	clusterArgument
	AsManager bool `json:"asManager,omitempty" jsonschema:"give the manager the rights of its ServiceAccount in place of all rights"`
	Wait      int  `json:"waitSeconds,omitempty" jsonschema:"how long to wait for the first log; default 20, at most 300"`
}

// run starts the manager and returns the log of its first seconds.
func run(ctx context.Context, t *turn, in runArguments) (answer, error) {
	if err := between("waitSeconds", in.Wait, 300); err != nil {
		return answer{}, err
	}
	kubeconfig, err := t.reach(ctx, in.clusterArgument)
	if err != nil {
		return answer{}, err
	}
	release, err := t.hold(ctx)
	if err != nil {
		return answer{}, err
	}
	defer release()
	args := append([]string{"run", "--kubeconfig=" + kubeconfig}, given("--as=manager", in.AsManager)...)
	m := &t.manager
	child, err := m.start(t, call{args: args, kubeconfig: kubeconfig})
	if err != nil {
		return answer{}, err
	}
	if in.Wait == 0 {
		in.Wait = 20
	}
	select {
	case <-child.Done():
	case <-time.After(time.Duration(in.Wait) * time.Second):
	case <-ctx.Done():
		m.stop()
		return answer{}, context.Cause(ctx)
	}
	return m.show(ctx, t, 100)
}

// start starts slipway run.
func (m *manager) start(t *turn, c call) (*process.Child, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running() {
		return nil, errRunning
	}
	cmd, err := t.command(c)
	if err != nil {
		return nil, err
	}
	log := &ring{}
	cmd.Stdout, cmd.Stderr = process.NewLines(log.add), process.NewLines(log.add)
	child, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	m.child, m.log, m.where = child, log, c.kubeconfig
	return child, nil
}

// running reports whether the manager has not ended.
func (m *manager) running() bool {
	if m.child == nil {
		return false
	}
	select {
	case <-m.child.Done():
		return false
	default:
		return true
	}
}

// show is the state of the manager with the last lines of its log.
func (m *manager) show(ctx context.Context, t *turn, lines int) (answer, error) {
	m.mu.Lock()
	child, log, where, running := m.child, m.log, m.where, m.running()
	m.mu.Unlock()
	if child == nil {
		return answer{}, errNotRunning
	}
	words := "The manager runs."
	if !running {
		words = fmt.Sprintf("The manager has ended: %s.", ended(child.Wait()))
	}
	if !t.learnSecrets(ctx, where) {
		words += unknownSecrets
	}
	return answer{words: words, data: cleaner{t.secrets.hide}.lines(log.last(lines)), failed: !running}, nil
}

// ended describes how a child has ended.
func ended(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// stop ends the manager, if it runs.
func (m *manager) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running() {
		_ = m.child.Stop(managerGrace) // how it ends is in its log
	}
}

// stop is the tool.
func stop(ctx context.Context, t *turn, _ struct{}) (answer, error) {
	t.manager.stop()
	a, err := t.manager.show(ctx, t, 20)
	a.failed = false
	return a, err
}
