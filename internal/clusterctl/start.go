package clusterctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/image/reference"
	spawn "github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Start starts a cluster called name in the background, [DefaultName] if it is empty, and returns once it is ready and
// its context selected. If it runs already, nothing changes but that its context is selected again. When ctx ends
// before the cluster is ready, nothing stays behind.
func (c *Control) Start(ctx context.Context, name string, o Options) (*Status, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	cl, err := c.cluster(name)
	if err != nil {
		return nil, err
	}
	if err := cl.Prepare(); err != nil {
		return nil, err
	}
	release, err := cl.Hold(ctx, c.waiting(cl))
	if err != nil {
		return nil, err
	}
	defer release()
	defer cl.Tidy()
	if err := cl.Prepare(); err != nil { // whoever held it may have removed the folder
		return nil, err
	}
	s, err := c.inspect(ctx, cl)
	switch {
	case err != nil:
		return nil, err
	case s.State != Stopped && s.State != Died:
		return c.join(ctx, cl, s, o)
	}
	if err := cl.CheckSpace(); err != nil {
		return nil, err
	}
	keep, err := c.kept(cl, o.Durable)
	if err != nil {
		return nil, err
	}
	asked := o.Spec
	if err := errors.Join(freePort("--port", asked.Port), freePort("--registry-port", asked.RegistryPort)); err != nil {
		return nil, err
	}
	o = c.resume(cl, s, o)
	if err := clusterspec.CheckNeeds(asked, o.Spec, command("start", cl.Name)); err != nil {
		return nil, err
	}
	if s.State == Died {
		if err := c.forget(ctx, cl, keep); err != nil {
			return nil, err
		}
	}
	return c.create(ctx, cl, o)
}

// resume completes o with what is kept of an earlier start, and tells so.
func (c *Control) resume(cl state.Cluster, s *Status, o Options) Options {
	last, known, _ := cl.LastConfig() // that it cannot be read was told
	note := "cluster " + cl.Name
	switch {
	case s.State == Died && s.Durable:
		note += " died; it starts again with its data"
	case s.State == Died:
		note += " died; it starts again without its data"
	case !s.Durable:
		return o
	default:
		note += " continues with its data of an earlier start"
	}
	c.handler.Handle(report.Note{Text: note})
	if !known {
		return o
	}
	asked := o.Spec
	o.Spec = clusterspec.Resume(asked, last.Spec, o.Whole)
	return c.withPorts(asked, o)
}

// withPorts gives up ports that are only remembered when another program has taken them since.
func (c *Control) withPorts(asked Spec, o Options) Options {
	if asked.Port == 0 && freePort("--port", o.Port) != nil {
		c.handler.Handle(report.Note{Text: fmt.Sprintf("its former port %d is taken: it gets another one, so copies of its kubeconfig are out of date", o.Port)})
		o.Port = 0
	}
	if asked.RegistryPort == 0 && freePort("--registry-port", o.RegistryPort) != nil {
		c.handler.Handle(report.Note{Text: fmt.Sprintf("the former port %d of its image registry is taken: push images to its new port", o.RegistryPort)})
		o.RegistryPort = 0
	}
	return o
}

// keepPorts remembers the ports that a durable cluster got, so that copies of its kubeconfig and names of images stay
// good.
func keepPorts(cl state.Cluster, s *Status) error {
	last, known, err := cl.LastConfig()
	if err != nil || !known || !last.Durable {
		return err
	}
	last.Port, last.RegistryPort = portOf(s.Server), portOf("//"+s.Registry)
	return cl.WriteConfig(last)
}

func (c *Control) waiting(cl state.Cluster) func() {
	return func() {
		c.handler.Handle(report.Note{Text: "another slipway is starting or stopping cluster " + cl.Name + "; waiting for it"})
	}
}

// join is Start for a cluster that runs, though perhaps not ready yet: its starter was killed.
func (c *Control) join(ctx context.Context, cl state.Cluster, s *Status, o Options) (*Status, error) {
	if err := s.Problem(); err != nil {
		return nil, err
	}
	if is, known, err := cl.LastConfig(); err != nil {
		c.handler.Handle(report.Warning{Text: leftAlone(cl, err)})
	} else if known {
		if err := o.refuse(s, is.Spec); err != nil {
			return nil, err
		}
	}
	limit, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	conn, err := protocol.Dial(limit, cl.SocketPath())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer conn.Until(limit)()
	if _, _, err := c.quietly().follow(conn); err != nil {
		return nil, explain(ctx, cl, err)
	}
	run, _, err := cl.Run()
	if err != nil {
		return nil, err
	}
	if !o.NoContext {
		if err := c.adopt(ctx, cl, run); err != nil {
			return nil, err
		}
	}
	s, err = c.inspect(ctx, cl)
	if s != nil {
		s.Already = true
	}
	return s, err
}

// quietly is c for events that were told before.
func (c *Control) quietly() *Control {
	quiet := New(c.getenv, report.Discard)
	quiet.patience = c.patience
	return quiet
}

// recordBytes bounds the record of a cluster.
const recordBytes = 256 << 20

// create starts a cluster that does not run.
func (c *Control) create(ctx context.Context, cl state.Cluster, o Options) (*Status, error) {
	if !o.NoContext {
		if err := c.checkContexts(); err != nil {
			return nil, err
		}
	}
	path, err := c.Program(ctx)
	if err != nil {
		return nil, err
	}
	config, err := c.configure(ctx, o.Spec)
	if err != nil {
		return nil, err
	}
	if o.Record {
		config.RecordBytes = recordBytes
	}
	config.RegistryPort = cmp.Or(config.RegistryPort, clusterspec.DefaultRegistryPort)
	if o.Durable {
		if err := c.claimData(ctx, cl, path); err != nil {
			return nil, err
		}
	}
	last, known, _ := cl.LastConfig()
	keep, _ := cl.Keeps() // as it was before this start
	defer ending.Await(ctx, "cluster "+cl.Name)()
	s, err := c.launch(ctx, cl, path, config, o)
	if err == nil {
		return s, nil
	}
	err = explain(ctx, cl, err)
	if keep {
		err = suspectData(cl, err)
	}
	if keep && known {
		err = errors.Join(err, cl.WriteConfig(last)) // what did not start is not what to go on with
	}
	if e := c.forget(context.WithoutCancel(ctx), cl, keep); e != nil {
		err = errors.Join(err, e)
	}
	return nil, err
}

// configure returns the program's configuration for a cluster, without its place. Programs of real nodes are built like
// the cluster's; that of one which joins is not built for it, but may be while the cluster runs.
func (c *Control) configure(ctx context.Context, spec Spec) (protocol.Config, error) {
	config := protocol.Config{Protocol: protocol.Number, Spec: spec}
	var err error
	switch {
	case spec.NodeKind.RunContainers():
		config.NodeProgram, err = c.NodeProgram(ctx)
	case spec.Joins():
		config.NodeProgram = c.programs.NodePath()
	}
	if err != nil {
		return config, err
	}
	if config.Registries, err = c.registries(); err != nil {
		return config, err
	}
	config.Mirrors, err = reference.ParseMirrors(c.getenv(reference.MirrorVariable), reference.MirrorVariable)
	return config, err
}

// launch starts the program, waits until it is ready and selects its context.
// If any of that fails, the program is ended.
func (c *Control) launch(ctx context.Context, cl state.Cluster, path string, config protocol.Config, o Options) (s *Status, err error) {
	config.Name, config.Dir = cl.Name, cl.Dir
	if config.Socket, err = cl.PrepareSocket(); err != nil {
		return nil, err
	}
	if err := cl.WriteConfig(config); err != nil {
		return nil, err
	}
	p, err := background(path, cl)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = p.Stop(c.grace(o.Durable))
		}
	}()
	run := state.Run{Program: path, PID: p.PID(), Socket: config.Socket, Started: time.Now()}
	if err := cl.WriteRun(run); err != nil {
		return nil, err
	}
	synced := make(chan error, 1)
	go func() { synced <- cl.Sync() }() // which takes a disk some milliseconds, and the program a second
	limit, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	conn, err := p.dial(limit, config.Socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, _, err := c.await(limit, p, conn); err != nil {
		return nil, err
	}
	if !o.NoContext {
		err = c.adopt(ctx, cl, run)
	}
	if err := errors.Join(err, <-synced); err != nil {
		return nil, err
	}
	if s, err = c.inspect(ctx, cl); err != nil {
		return nil, err
	}
	return s, errors.Join(s.Problem(), keepPorts(cl, s))
}

// grace is how long a program may take to stop whose start is given up: none
// if it has no data to save.
func (c *Control) grace(durable bool) time.Duration {
	if durable {
		return c.stop
	}
	return 0
}

// background starts the program so that it outlives this process, its output going to the log.
func background(program string, cl state.Cluster) (*process, error) {
	log, err := os.OpenFile(cl.Log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd, err := spawn.Command(program, "serve", "--config", cl.Config())
	if err != nil {
		return nil, err
	}
	cmd.Dir = cl.Dir
	cmd.Stdout, cmd.Stderr = log, log
	return begin(cmd)
}

// freePort refuses a port that is taken. That another process takes it in the
// meantime is for the program to tell.
func freePort(flag string, port int) error {
	if port == 0 {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if e, ok := errors.AsType[*os.SyscallError](err); ok {
			err = e.Err
		}
		return &report.Error{What: fmt.Sprintf("port %d cannot be used", port), Where: flag, Err: err, Code: 1,
			Hint: "name a free port of 127.0.0.1; without " + flag + " slipway picks one"}
	}
	return l.Close()
}

// suspectData adds what to do if the data of a durable cluster are what keeps it from starting.
func suspectData(cl state.Cluster, err error) error {
	told, isTold := errors.AsType[*failed](err)
	e, ok := errors.AsType[*report.Error](err)
	if !ok || cl.DiskFull() || isTold && told.event.Component != "etcd" || !isTold && !errors.Is(err, errExited) {
		return err
	}
	e.Hint = strings.TrimPrefix(e.Hint+"\nif its data are damaged, `"+command("delete", cl.Name)+"` removes them", "\n")
	e.Next = command("delete", cl.Name)
	return err
}

// explain makes err, for which cluster cl did not become ready, something its user understands.
func explain(ctx context.Context, cl state.Cluster, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*report.Error](err); ok {
		return err
	}
	e := &report.Error{What: "cluster " + cl.Name + " did not start", Where: cl.Log(), Err: err, Hint: lastLines(cl)}
	told, isTold := errors.AsType[*failed](err)
	_, foreign := errors.AsType[otherProtocol](err)
	switch {
	case isTold && told.event.Hint != "":
		e.Hint = told.event.Hint
	case foreign:
		e.Hint = "use a slipway-cluster of the same version as slipway"
	case errors.Is(err, context.DeadlineExceeded):
		e.Class, e.Err = report.Timeout, errors.New("it was not ready in time")
	}
	if cl.DiskFull() {
		e.Where, e.Hint = cl.Dir, "the disk is full: free space, or set SLIPWAY_STATE to a folder on another disk"
	}
	return e
}
