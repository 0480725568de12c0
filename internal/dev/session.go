package dev

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A Session is what the managers of a project have around them on this machine, one after the other: the cluster's
// calls of their webhooks, and their way into the cluster. It outlasts each of them. One goroutine uses it.
type Session struct {
	options   Options
	arguments []string // of the user, for the manager
	cluster   *ship.Cluster
	key       string                   // what distinguishes the cluster from others
	own       bool                     // the cluster is slipway's own
	home      state.Cluster            // if it is
	webhooks  atomic.Pointer[webhooks] // nil: the cluster calls none here
	entrance  entrance

	deployed []*unstructured.Unstructured // is to be paused
	paused   *pause                       // nil: nothing is

	checked *launch // nil: not since the last start
	warned  bool    // of kinds that are not served
	debug   bool    // managers run under a debugger

	observes atomic.Bool
}

// Debug has the managers that are started from now on run under Delve, or not.
func (s *Session) Debug(on bool) { s.debug = on }

// Observe has the managers that are started from now on log where their reconciles begin and end, too. See
// [Options.Observed].
func (s *Session) Observe() { s.options.Observed = true }

// Observes reports whether the manager that was started last does so.
func (s *Session) Observes() bool { return s.observes.Load() }

// LogLevel is that of the managers that are started from now on; "" is the one that they have by themselves.
func (s *Session) LogLevel(level string) { s.options.LogLevel = level }

// Open connects to the cluster and takes back there what killed sessions have left. The session has to be closed. The
// arguments are those that the user gives the manager.
//
// The cluster is the manager's own choice: --kubeconfig among the arguments, else KUBECONFIG and ~/.kube/config, as
// controller-runtime has it.
func Open(ctx context.Context, o Options, arguments []string) (*Session, error) {
	if err := o.requireAccount(arguments); err != nil {
		return nil, err
	}
	if _, err := o.listens(arguments); err != nil {
		return nil, err
	}
	cluster, err := ship.Connect(kubeconfig(o.Env, arguments), o.Handler)
	if err != nil {
		return nil, err
	}
	if err := cluster.Ping(ctx); err != nil {
		return nil, err
	}
	if err := TakeBack(ctx, o.State, cluster, o.Handler); err != nil {
		return nil, err
	}
	s := &Session{options: o, arguments: arguments, cluster: cluster, key: cluster.Key(ctx)}
	if o.State != "" {
		s.home, s.own, err = state.Home{Dir: o.State}.Own(ctx, cluster)
	}
	return s, err
}

// Cluster is the one that the session's managers use.
func (s *Session) Cluster() *ship.Cluster { return s.cluster }

// Start starts a compiled manager. Before, it brings the session up to date with the project: the first time it has the
// cluster call the manager's webhooks.
func (s *Session) Start(ctx context.Context, program Program) (*Manager, error) {
	o := s.options
	l, err := s.last()
	if err != nil {
		return nil, err
	}
	if err := s.renew(ctx, l); err != nil {
		return nil, err
	}
	webhooks := s.webhooks.Load()
	placed, err := o.place(program, l.at, l.flags, webhooks != nil)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if !s.warned {
		s.warned = true
		o.warnUnserved(ctx, s.cluster)
		s.noteEnvironment(l.start)
	}
	s.observes.Store(placed.observed)
	environment := slices.Concat(l.start.In(s.entrance.namespace), o.Env, webhooks.environment(), s.entrance.environment) // the last one counts
	return s.start(ctx, program.Path, placed, environment)
}

// A launch is what the project says of how its manager is started.
type launch struct {
	start codebase.Start
	at    listening
	hooks *projectWebhooks // nil: it serves none, or with a certificate of its own
	flags texts            // that its code has
}

// read reads what the files of the project say now.
func (s *Session) read(code *codebase.Codebase) (l launch, err error) {
	manager, err := managerOf(code)
	if err != nil {
		return l, err
	}
	if l.start, err = code.Start(manager); err != nil {
		return l, err
	}
	if l.at, err = s.options.listens(started(l.start, s.arguments)); err != nil {
		return l, err
	}
	l.at.env = l.start.Environment
	if err := s.options.requireAccount(l.at.args); err != nil {
		return l, err
	}
	l.flags = flagsOf(code)
	l.hooks, err = s.options.webhooks(code, l.at)
	return l, err
}

// Check returns the mistake of the project, if any, that keeps its manager from being started: a manager that runs need
// not be ended for that. The next start goes by what it has read. The code is for this call alone.
func (s *Session) Check(code *codebase.Codebase) error {
	s.checked = nil
	l, err := s.read(code)
	if err != nil {
		return err
	}
	s.checked = &l
	if s.debug {
		err = CheckDebugger()
	}
	return err
}

// last returns what was checked, once, or reads it.
func (s *Session) last() (launch, error) {
	if l := s.checked; l != nil {
		s.checked = nil
		return *l, nil
	}
	return s.read(s.options.Code())
}

// Renew brings what the cluster calls up to date with the project.
func (s *Session) Renew(ctx context.Context) error {
	l, err := s.read(s.options.Code())
	if err != nil {
		return err
	}
	return s.renew(ctx, l)
}

// renew has the cluster call the project's webhooks, and then no others of the operator if that is to be paused.
func (s *Session) renew(ctx context.Context, l launch) error {
	if err := s.renewWebhooks(ctx, l); err != nil {
		return err
	}
	return s.pauseDeployed(ctx, l.at)
}

func (s *Session) renewWebhooks(ctx context.Context, l launch) error {
	w := s.webhooks.Load()
	if w == nil {
		w, err := serveWebhooks(ctx, s.options, s.cluster, s.own, l.at, l.hooks)
		s.webhooks.Store(w)
		return err
	}
	if w.proxy == nil {
		return nil // nothing in the cluster leads here
	}
	hooks := l.hooks
	if hooks == nil {
		hooks = &projectWebhooks{} // the last one has gone
	}
	return w.update(ctx, s.options, hooks)
}

// noteEnvironment names the variables that the manager gets from the project.
func (s *Session) noteEnvironment(start codebase.Start) {
	if len(start.Environment) > 0 {
		s.options.Handler.Handle(report.Note{Text: "the manager gets the variables of " + strings.Join(start.From, " and ") + ", unless they are set here: " + strings.Join(names(start.Environment), ", ")})
	}
}

// Hold lets the cluster's calls of webhooks wait for the next manager; why is what they are answered if none comes.
func (s *Session) Hold(why string) { s.webhooks.Load().hold(why) }

// Close takes back what the session changed in the cluster.
func (s *Session) Close() error {
	err := errors.Join(s.paused.close(s.options, s.cluster), s.webhooks.Swap(nil).close(s.options))
	s.paused = nil
	s.leave()
	return err
}

// Abandon ends the session of a cluster that does not answer. What the session changed there stays written down: the
// next command on that cluster takes it back.
func (s *Session) Abandon() error {
	err := errors.Join(s.paused.abandon(), s.webhooks.Swap(nil).abandon())
	s.paused = nil
	s.leave()
	return err
}

// IsAt reports whether the session's cluster is the one of an earlier session, or slipway's own of that name, which was
// started anew since. An address is no identity: it may lead elsewhere now.
func (s *Session) IsAt(earlier *Session) bool {
	if s.own || earlier.own {
		return s.own && earlier.own && s.home.Name == earlier.home.Name
	}
	return s.key == earlier.key
}

// A Manager is one that runs.
type Manager struct {
	*process.Child
	Arguments []string // it has been started with
	serving   func()   // waits for the end of what its start began
}

// start starts a manager, to which calls of webhooks are forwarded from now on.
func (s *Session) start(ctx context.Context, program string, placed placement, environment []string) (*Manager, error) {
	o := s.options
	words := append([]string{program}, placed.args...)
	if s.debug {
		if err := CheckDebugger(); err != nil {
			return nil, err
		}
		words = underDebugger(net.JoinHostPort(Loopback, "0"), words, "--continue")
	}
	cmd, err := process.Command(words[0], words[1:]...)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = o.Dir, environment, o.Stdout, o.Stderr
	child, err := process.Start(cmd)
	if err != nil {
		return nil, ended("the manager cannot be started", err)
	}
	s.webhooks.Load().forward(placed.webhooks)
	return &Manager{Child: child, Arguments: placed.args, serving: s.whileServing(ctx, child)}, nil
}

// whileServing does what is left to do about webhooks once the manager serves. The function that it returns waits for
// the end of that, which comes with the manager's at the latest.
func (s *Session) whileServing(ctx context.Context, child *process.Child) (end func()) {
	w := s.webhooks.Load()
	if !w.unproven() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	o, detour, done := s.options, w.detour, make(chan struct{})
	go func() {
		<-child.Done()
		cancel()
	}()
	go func() {
		defer close(done)
		if err := w.rely(ctx, o, detour); err != nil && ctx.Err() == nil {
			o.Handler.Handle(report.Warning{Text: "the API server still ignores webhooks that fail: " + err.Error()})
		}
	}()
	return func() { cancel(); <-done }
}

// Stop ends the manager; why is what calls of its webhooks are answered from then on if no other comes: its server of
// webhooks is the last to end. A manager that does not end in the time of grace, or before a signal comes to this
// process, is killed.
func (s *Session) Stop(m *Manager, why string) error {
	defer s.Hold(why)
	now, cancel := context.WithCancel(context.Background())
	cancel()
	err := m.Await(now, s.options.grace())
	m.serving()
	if errors.Is(err, process.ErrGrace) {
		s.options.Handler.Handle(report.Warning{Text: "the manager was killed, since it did not stop within " + s.options.grace().String()})
	}
	return err
}

// Lines returns what brings the manager's log into the record of the cluster; nil if the cluster has none, as one that
// is not slipway's own.
func (s *Session) Lines(ctx context.Context, operator string) *clusterctl.Lines {
	if !s.own || s.options.Control == nil {
		return nil
	}
	lines, err := s.options.Control.OpenLines(ctx, s.home.Name, operator)
	if err != nil {
		return nil // the manager runs without it
	}
	return lines
}
