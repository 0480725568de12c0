// Package devloop is the dev loop of an operator: on each save what follows from it is generated, installed, built and
// started.
package devloop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/dev/loop"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/filewatch"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// quiet is how long files must stay unchanged before a save counts: editors write several files at once.
const quiet = 40 * time.Millisecond

// A Loop is how to run the dev loop.
type Loop struct {
	Manager
	Samples        bool // apply them, and again when they change
	Test           bool // run the tests of changed packages after each save
	Keep           bool // leave a cluster running that the loop started
	Poll           bool // look at files in intervals
	PauseDeployed  bool // have a deployed copy of the operator do nothing until the end
	Force          bool // apply CRDs that break objects in the cluster
	ForceConflicts bool // take over fields of CRDs that other managers own

	Commands <-chan Command // what the user asks for by keys; may be nil
}

// A Command is what a user asks a loop for while it runs.
type Command string

// The commands.
const (
	Restart      Command = "restart"
	ApplySamples Command = "apply samples"
	RunTests     Command = "run tests"
	Debug        Command = "debug"     // restart the manager under Delve, or without it
	LogLevel     Command = "log level" // restart the manager with the next of logLevels
	AddMarker    Command = "add marker"
	Pause        Command = "pause deployed" // operators
	Page         Command = "page"           // show its link again
)

// requests are the user's commands, and those of a cluster that has lost what the loop needs there, until ctx ends.
func (p *project) requests(ctx context.Context) <-chan loop.Request {
	requests := make(chan loop.Request)
	ask := func(r loop.Request) {
		select {
		case requests <- r:
		case <-ctx.Done():
		}
	}
	go p.watchCluster(ctx, ask)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case c := <-p.settings.Commands:
				ask(p.request(c))
			}
		}
	}()
	return requests
}

// request is what a command asks for.
func (p *project) request(c Command) loop.Request {
	switch c {
	case ApplySamples:
		return loop.Request{Work: loop.Samples}
	case RunTests:
		return loop.Request{Work: loop.Test}
	case AddMarker:
		return loop.Request{Do: p.addMarkers}
	case Debug:
		p.debug.Store(!p.debug.Load())
	case Page:
		p.linkPage()
		return loop.Request{}
	case LogLevel:
		p.nextLogLevel()
		return loop.Request{Work: loop.Restart}
	case Pause:
		if p.settings.As != AsManager {
			p.handler.Handle(report.Warning{Text: onlyAsManager})
			return loop.Request{}
		}
		p.pausing.Store(true)
		p.pauseAsked.Store(true)
		p.owe(due{access: true})
		return loop.Request{Work: loop.Install}
	}
	return loop.Request{Work: loop.Build | loop.Restart}
}

// onlyAsManager is why nothing is paused: what is deployed is looked at for the rights of its ServiceAccount.
const onlyAsManager = "a deployed operator is paused with --as manager only"

// Run runs the dev loop until ctx ends, and then takes back what it changed in the cluster.
func Run(ctx context.Context, s *operation.Session, l Loop) (err error) {
	root, err := s.ReadRoot()
	if err != nil {
		return err
	}
	if err := s.Codebase(root).Choose(l.Manager.Manager); err != nil {
		return err
	}
	if l.PauseDeployed && l.As != AsManager {
		return &report.Error{What: onlyAsManager, Where: "--pause-deployed", Next: "slipway dev --pause-deployed"}
	}
	release, err := alone(root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	p := &project{root: root, session: operation.Apart(s), builds: operation.Apart(s), starts: operation.Apart(s), saves: operation.Apart(s), asks: operation.Apart(s), life: ctx, settings: l, handler: s.Handler, due: everything, writes: writes{}, rest: time.AfterFunc(restAfter, debug.FreeOSMemory)}
	p.handler = p.recording(s.Handler)
	p.session.Handler = withoutResults(s.Handler)
	p.debug.Store(l.Manager.Debug)
	p.looked.Store(1)
	p.pausing.Store(l.PauseDeployed)
	defer dev.Withstand()()
	defer ending.Await(ctx, "the dev loop")()
	end, err := p.startCluster(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := p.prepare(); err != nil {
		return err
	}
	around, err := dev.Open(ctx, p.options, l.Args)
	if err != nil {
		return err
	}
	p.around.Store(around)
	p.recordLines(ctx)
	defer p.endLines()
	p.showPage(ctx)
	defer p.closePage()
	defer func() { err = errors.Join(err, p.close()) }()
	watching, stop := context.WithCancel(ctx)
	saves, watched, ready := make(chan []string), make(chan error, 1), make(chan struct{})
	go func() { watched <- p.watch(watching, saves, func() { close(ready) }) }()
	defer func() {
		stop()
		if ended := <-watched; err == nil && ctx.Err() == nil {
			err = ended
		}
	}()
	select { // what is saved from then on is seen, and what was saved before is read
	case <-ready:
	case ended := <-watched:
		watched <- nil
		return ended
	}
	o := loop.Options{Project: p, Saves: saves, Requests: p.requests(watching), Handler: s.Handler, First: loop.First | p.sampled()}
	if l.Test {
		o.Always |= loop.Test
	}
	return loop.Run(ctx, o)
}

// withoutResults passes on all events but results: those of the operations that the loop consists of are not the
// command's.
func withoutResults(h report.Handler) report.Handler {
	return report.HandlerFunc(func(e report.Event) {
		if _, is := e.(report.Result); !is {
			h.Handle(e)
		}
	})
}

// withoutSteps passes on all events but steps: the loop has its own.
func withoutSteps(h report.Handler) report.Handler {
	return report.HandlerFunc(func(e report.Event) {
		if _, is := e.(report.Step); !is {
			h.Handle(e)
		}
	})
}

// watch hands on the files that are saved after ready was called, until ctx ends.
func (p *project) watch(ctx context.Context, saves chan<- []string, ready func()) error {
	o := filewatch.Options{Folders: p.folders, Quiet: quiet, Poll: p.settings.Poll, Handler: p.handler, Matters: p.matters,
		Skip: func(folder string) bool { return skipped(filepath.Base(folder)) }}
	return filewatch.Watch(ctx, o, ready, func(files []string) {
		select {
		case saves <- files:
		case <-ctx.Done():
		}
	})
}

// prepare sets the options of sessions.
func (p *project) prepare() error {
	o, err := p.settings.options(p.session, p.root)
	if err != nil {
		return err
	}
	p.output = process.NewLines(func(line string) { p.handler.Handle(report.Output{Part: report.ManagerPart, Text: line}) })
	o.Stdout, o.Stderr, o.Request = p.output, p.output, p.asked
	if p.settings.As == AsManager {
		o.Account = func(context.Context, *ship.Cluster) (string, error) { return p.access.Name(), nil } // Install has granted its rights
	}
	p.options = o
	return nil
}

// target is the cluster that the loop works on.
func (p *project) target() ship.Kubeconfig {
	return ship.Kubeconfig{Path: p.settings.Kubeconfig, List: p.session.Getenv("KUBECONFIG")}
}

// code is the facts of the project as its files are now.
func (p *project) code(s *operation.Session) *codebase.Codebase {
	code := s.Codebase(p.root)
	_ = code.Choose(p.settings.Manager.Manager) // checked at the start
	return code
}

// alone has no other dev loop of the user work on the project until release is called: both would build the same
// program. The system releases the lock when the process ends.
func alone(root string) (release func() error, err error) {
	dir, err := userdirs.Locks()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock the project for the dev loop: %w", err)
	}
	sum := sha256.Sum256([]byte(root))
	lock := flock.New(filepath.Join(dir, "dev-"+hex.EncodeToString(sum[:16])), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the project for the dev loop: %w", err)
	}
	if !held {
		return nil, &report.Error{Class: report.Conflict, What: "another slipway dev of this project runs", Where: root, Hint: "go on in its terminal, or end it there with Ctrl-C"}
	}
	return lock.Unlock, nil
}
