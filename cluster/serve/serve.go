// Package serve is the program's verb `serve`: a cluster as a child process or a
// service, which speaks the process protocol of docs/inside/protocol.md.
//
// [Run] owns a cluster's life. It begins with the lock on the state folder and ends with
// whatever comes first: the end of stdin (with Stdio), a signal, a request, the
// failure of a component. The end is bounded: when components hang, the process
// ends nevertheless. Nothing is lost by that, since etcd has what it acknowledged.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/logs"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/registry"
	"github.com/slipway-dev/slipway/cluster/version"
)

// Options are the verb's flags and surroundings.
type Options struct {
	ConfigFile string
	Stdio      bool // speak on Stdin and Stdout, and end with Stdin
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
	Started    time.Time // when the program started
	// Exit ends the process. It is called when a part of Kubernetes decides that it
	// cannot go on, and when the cluster does not end in time.
	Exit func(status int)
}

// The exit statuses of Run.
const (
	statusOK     = 0
	statusFailed = 1
)

const (
	// tellGrace is how long clients get to read the last events.
	tellGrace = 200 * time.Millisecond
	// stopLimit is the hard stop: what has not ended by then ends with the process. The command waits a little longer
	// (its patience, in internal/clusterctl) before it kills.
	stopLimit = 5 * time.Second
)

// session is one run of the verb.
type session struct {
	Options
	config  protocol.Config
	log     *protocol.Log
	status  *status
	host    atomic.Pointer[engine.Host]       // once it is ready
	store   atomic.Pointer[registry.Registry] // since before that
	stop    context.CancelCauseFunc           // with a stopReason or a failure
	flushed chan struct{}                     // closed when the partner on stdout has everything
	logs    *logs.Folder
	giveUp  func(component string, err error)
	memory  memory
	joining joining

	lock    *flock.Flock // held until the process ends
	socket  net.Listener // nil without a socket
	clients *protocol.Listener
}

// registryToken is the file in the state folder that has the token with which images are pushed.
const registryToken = "registry-token"

// stopReason is why a cluster that runs is to stop.
type stopReason protocol.Reason

func (r stopReason) Error() string { return "stop by " + string(r) }

// Run runs a cluster until it is reported to stop, and returns the exit status. The end
// of signals means that the process got one.
func Run(signals context.Context, o Options) int {
	keepPrivate()
	config, err := readConfig(o.ConfigFile)
	ctx, stop := context.WithCancelCause(context.WithoutCancel(signals))
	defer stop(nil)
	context.AfterFunc(signals, func() { stop(stopReason(protocol.BySignal)) })
	s := &session{Options: o, config: config, log: protocol.NewLog(), status: newStatus(o.Started), stop: stop, flushed: make(chan struct{})}
	context.AfterFunc(ctx, s.hardStop(ctx))
	s.speakOnStdio(ctx)
	s.log.Publish(protocol.Hello{
		Protocol: protocol.Number, Version: version.Program(), Kubernetes: version.Kubernetes, PID: os.Getpid(),
	})
	if err == nil {
		err = s.run(ctx)
	}
	return s.end(err)
}

// hardStop ends the process when, long after it was to stop, it still has not.
func (s *session) hardStop(ctx context.Context) func() {
	return func() {
		time.AfterFunc(stopLimit, func() { s.Exit(s.end(context.Cause(ctx))) })
	}
}

func readConfig(file string) (protocol.Config, error) {
	f, err := os.Open(file)
	if err != nil {
		return protocol.Config{}, fmt.Errorf("%w: %w", protocol.ErrConfig, err)
	}
	defer f.Close()
	return protocol.ReadConfig(f)
}

// run is everything between hello and the last event.
func (s *session) run(ctx context.Context) error {
	var err error
	if s.lock, err = openState(s.config.Dir); err != nil {
		return err
	}
	if err := s.openLog(ctx); err != nil {
		return err
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	images, err := s.startRegistry()
	if err != nil {
		return err
	}
	defer images.Close() // the end of the process ends it anyway

	host, err := s.start(ctx, images)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case err := <-host.Failed():
		s.stop(err)
	}
	host.Stop()
	return context.Cause(ctx)
}

// startRegistry starts the registry of the cluster and its logical clusters.
func (s *session) startRegistry() (*registry.Registry, error) {
	token, err := registry.Token(filepath.Join(s.config.Dir, registryToken))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	r, err := registry.Start(registry.Options{
		Dir: filepath.Join(s.config.Dir, "registry"), Durable: s.config.Durable, Port: s.config.RegistryPort, Token: token,
		Images: s.images,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errState, err)
	}
	return r, nil
}

// errStarting is why it is not known which images pods have.
var errStarting = errors.New("the cluster is starting")

// images are the names of the images of all pods.
func (s *session) images(ctx context.Context) ([]string, error) {
	host := s.host.Load()
	if host == nil {
		return nil, errStarting
	}
	return host.Images(ctx)
}

func (s *session) start(ctx context.Context, images *registry.Registry) (*engine.Host, error) {
	main, err := s.mainSpec(images)
	if err != nil {
		return nil, err
	}
	done := s.memory.start(startGC)
	host, err := engine.Start(ctx, engine.Options{
		Dir: s.config.Dir, Durable: s.config.Durable, Main: main, Images: images,
		Logger: s.logs.Logger, Klog: s.logs.Klog, Fatal: s.giveUp, Progress: s.progress, Note: s.note, Large: s.memory.rush,
	})
	done()
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // stopped while it started
		}
		return nil, err
	}
	s.store.Store(images)
	s.host.Store(host)
	s.joinWithImages(ctx, images)
	cluster := host.Main()
	ready := protocol.Ready{Server: cluster.Server(), Kubeconfig: cluster.Kubeconfig(), Registry: images.Address(), ElapsedMs: s.elapsed()}
	s.status.ready(ready)
	s.log.Publish(ready)
	return host, nil
}

func (s *session) progress(component string, state protocol.State) {
	s.status.set(component, state)
	s.log.Publish(protocol.Progress{Component: component, State: state, ElapsedMs: s.elapsed()})
}

func (s *session) note(component, text string) {
	s.log.Publish(protocol.Note{Component: component, Text: text})
}

func (s *session) elapsed() int64 { return time.Since(s.Started).Milliseconds() }

// end publishes the last event, lets the partner read it and gives the exit status.
func (s *session) end(err error) int {
	status := statusOK
	var reason stopReason
	switch {
	case errors.As(err, &reason):
		s.log.Publish(protocol.Stopped{Reason: protocol.Reason(reason)})
	default:
		status = statusFailed
		s.fail(failure(err))
	}
	s.log.Close()
	s.waitTold()
	return status
}

// fail publishes a failure, which also people read who started the program by hand.
func (s *session) fail(f protocol.Failed) {
	s.log.Publish(f)
	fmt.Fprintf(s.Stderr, "slipway-cluster: %s: %s\n", f.Component, f.Error)
	if f.Hint != "" {
		fmt.Fprintf(s.Stderr, "  %s\n", f.Hint)
	}
}
