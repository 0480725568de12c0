package clusterctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// State is what a cluster is doing.
type State string

// The states of a cluster.
const (
	Running  State = "running"
	Starting State = "starting" // runs, and is not ready yet
	Busy     State = "busy"     // another process is starting or stopping it
	Stopped  State = "stopped"  // or never started
	Died     State = "died"     // ended without an order to
	Hung     State = "hung"     // runs, and does not answer
)

// Component is a part of a cluster and what it is doing.
type Component = protocol.Component

// Nodes reports about which kinds a cluster's nodes are.
type Nodes = protocol.NodeKinds

// Logical is a logical cluster in a cluster's process.
type Logical = protocol.LogicalCluster

// Address is where a Service or an Ingress answers on this machine.
type Address = protocol.Address

// Record reports about the record of what happens in a cluster.
type Record = protocol.RecordStatus

// Status is what is known of a cluster.
type Status struct {
	Name       string      `json:"name"`
	State      State       `json:"state"`
	Server     string      `json:"server,omitempty"` // URL of the API server
	Kubeconfig string      `json:"kubeconfig,omitempty"`
	Registry   string      `json:"registry,omitempty"` // host:port of the cluster's image registry
	Context    string      `json:"context,omitempty"`  // in the user's kubeconfig
	Kubernetes string      `json:"kubernetes,omitempty"`
	PID        int         `json:"pid,omitempty"`
	UptimeMs   int64       `json:"uptimeMs,omitempty"`
	RSSBytes   int64       `json:"rssBytes,omitempty"` // memory that the process takes
	Nodes      *Nodes      `json:"nodes,omitempty"`    // of which kinds they are
	Components []Component `json:"components,omitempty"`
	Logical    []Logical   `json:"logical,omitempty"`   // clusters in the same process
	Addresses  []Address   `json:"addresses,omitempty"` // of Services and Ingresses on this machine
	// MoreAddresses is how many there are that Addresses leaves out.
	MoreAddresses int `json:"moreAddresses,omitempty"`
	// Storage is left to [Control.Storage], which takes longer than the rest.
	Storage *Storage `json:"storage,omitempty"`
	Record  *Record  `json:"record,omitempty"` // of the main cluster
	Durable bool     `json:"durable"`          // the data outlive the cluster
	Log     string   `json:"log,omitempty"`
	Unknown string   `json:"unknown,omitempty"` // why it is not known whether the data are to outlive it; they do

	// Already is set by Start when there was nothing to do.
	Already bool `json:"already,omitempty"`
}

// Status reports what the cluster called name is doing. That it does not run is
// an answer and not an error; see [Status.Problem]. A start or stop that is under way it waits for, but only some
// seconds: then the answer is [Busy].
func (c *Control) Status(ctx context.Context, name string) (*Status, error) {
	limit, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	return c.settled(ctx, limit, name)
}

// settled is Status that waits for whoever starts or stops the cluster until limit is done.
func (c *Control) settled(ctx, limit context.Context, name string) (*Status, error) {
	cl, err := c.cluster(name)
	if err != nil {
		return nil, err
	}
	release, err := cl.Watch(limit, c.waiting(cl))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return busy(cl), nil
	}
	if err != nil {
		return nil, err
	}
	defer release()
	return c.inspect(ctx, cl)
}

// glance is Status that waits for nobody.
func (c *Control) glance(ctx context.Context, cl state.Cluster) (*Status, error) {
	release, free, err := cl.TryWatch()
	if err != nil {
		return nil, err
	}
	defer release()
	if !free {
		return busy(cl), nil
	}
	return c.inspect(ctx, cl)
}

func busy(cl state.Cluster) *Status { return &Status{Name: cl.Name, State: Busy, Log: cl.Log()} }

// List returns the status of every cluster that runs, died, or has kept its data.
func (c *Control) List(ctx context.Context) ([]*Status, error) {
	home, err := state.Locate(c.getenv)
	if err != nil {
		return nil, err
	}
	clusters, err := home.Clusters()
	if err != nil {
		return nil, err
	}
	all := []*Status{}
	for _, cl := range clusters {
		s, err := c.glance(ctx, cl)
		if err != nil {
			return nil, err
		}
		if s.State != Stopped || s.Durable {
			all = append(all, s)
		}
	}
	return all, nil
}

// inspect is Status for those who hold or watch the cluster.
func (c *Control) inspect(ctx context.Context, cl state.Cluster) (*Status, error) {
	alive, err := cl.Alive()
	if err != nil {
		return nil, err
	}
	run, started, err := cl.Run()
	if err != nil {
		return nil, err
	}
	keep, unknown := cl.Keeps()
	s := &Status{Name: cl.Name, PID: run.PID, Log: cl.Log(), Durable: keep}
	if unknown != nil {
		s.Unknown = leftAlone(cl, unknown)
	}
	if len(run.Contexts) > 0 {
		s.Context = ContextName(cl.Name)
	}
	if alive {
		if alive, err = c.ask(ctx, cl, s); err != nil {
			return nil, err
		}
	}
	switch {
	case alive:
		return s, nil
	case started:
		s.State = Died
		return s, nil
	}
	return &Status{Name: cl.Name, State: Stopped, Durable: s.Durable, Unknown: s.Unknown}, nil
}

// askPoll is how often a program that gives no answer is asked again.
const askPoll = 20 * time.Millisecond

// ask completes s with what the program says, which was alive a moment ago. A program
// that has just begun does not answer yet, and one that was killed keeps its lock until
// the system has taken it apart: it is hung if it neither answers nor
// goes away in time. ask reports whether it is still alive.
func (c *Control) ask(ctx context.Context, cl state.Cluster, s *Status) (alive bool, err error) {
	limit, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	for {
		var answer protocol.Status
		if err := request(limit, cl.SocketPath(), "status", nil, &answer); err == nil {
			s.take(answer)
			return true, nil
		}
		if alive, err := cl.Alive(); err != nil || !alive {
			return false, err
		}
		select {
		case <-limit.Done():
			s.State = Hung
			return true, ctx.Err()
		case <-time.After(askPoll):
		}
	}
}

// take completes s with the program's answer.
func (s *Status) take(answer protocol.Status) {
	s.State = Starting
	if answer.Ready {
		s.State = Running
	}
	s.Server, s.Kubeconfig, s.Kubernetes = answer.Server, answer.Kubeconfig, answer.Kubernetes
	s.Registry = answer.Registry
	if answer.Ready {
		s.Nodes = &answer.Nodes
	}
	s.PID, s.UptimeMs, s.RSSBytes = answer.PID, answer.UptimeMs, answer.RSSBytes
	s.Components, s.Logical = answer.Components, answer.Logical
	s.Addresses, s.MoreAddresses = answer.Addresses, answer.MoreAddresses
	s.Record = answer.Record
}

// shownLines is how many of a log's last lines an error shows.
const shownLines = 8

// Problem returns the error that keeps the cluster from being used, with what to do
// about it, or nil if it runs.
func (s *Status) Problem() error {
	switch s.State {
	case Running, Starting:
		return nil
	case Busy:
		return &report.Error{Class: report.Conflict, What: "another slipway is starting or stopping cluster " + s.Name, Next: command("status", s.Name)}
	case Hung:
		return &report.Error{What: "cluster " + s.Name + " runs but does not answer", Where: s.Log, Next: command("stop", s.Name)}
	case Died:
		return s.died()
	}
	return &report.Error{What: "cluster " + s.Name + " is not running", Hint: s.Unknown, Next: command("start", s.Name)}
}

// died tells how the cluster came to its end, as far as that is known.
func (s *Status) died() error {
	cl := state.Cluster{Name: s.Name, Dir: dirOf(s.Log)}
	e := &report.Error{What: "cluster " + s.Name + " died", Where: s.Log, Hint: lastLines(cl), Next: command("start", s.Name)}
	if cl.DiskFull() {
		e.Where, e.Err = cl.Dir, errors.New("the disk is full")
		e.Hint = "free space and start the cluster again"
		if s.Durable {
			e.Hint += "; acknowledged data are kept"
		}
	}
	if s.Unknown != "" {
		e.Hint += "\n" + s.Unknown
	}
	return e
}

// lastLines quotes the end of a cluster's log.
func lastLines(cl state.Cluster) string {
	lines := cl.LastLines(shownLines)
	if len(lines) == 0 {
		return "it logged no error, as if it was killed; `" + command("logs --name", cl.Name) + "` shows the logs of its components"
	}
	return "its last log lines:\n" + strings.Join(lines, "\n")
}

// command returns the command line of a verb for the cluster called name.
func command(verb, name string) string {
	if name == DefaultName {
		return "slipway cluster " + strings.TrimSuffix(verb, " --name")
	}
	return "slipway cluster " + verb + " " + name
}

// Kubeconfig returns the path and the content of the kubeconfig of a running cluster.
func (c *Control) Kubeconfig(ctx context.Context, name string) (path string, text []byte, err error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return "", nil, err
	}
	text, err = os.ReadFile(s.Kubeconfig)
	if err != nil {
		return "", nil, fmt.Errorf("read the kubeconfig of cluster %s: %w", s.Name, errors.Unwrap(err))
	}
	return s.Kubeconfig, text, nil
}
