// Package clusterctl starts, finds and stops embedded clusters.
//
// A cluster is a child process: the slipway-cluster program (package program finds
// or builds it), which slipway speaks the process protocol with (package protocol,
// docs/inside/protocol.md). There are two ways to have one:
//
//   - [Control.Start] runs it in the background under a name, for people. Its state is kept
//     in a folder (package state), its context is merged into the user's
//     kubeconfig (package kubecontext), and [Control.Stop] undoes all of that.
//   - [Control.Tie] runs one whose life is tied to the calling process, however that
//     ends, for tests and demonstrations.
//
// [Control.Assets] offers the same program to envtest, in a folder for KUBEBUILDER_ASSETS.
//
// The code that starts something ends it: a start that fails or is interrupted
// leaves no process behind. Whether a background cluster runs is decided by the
// lock that the program holds, so a crash, a reboot or a reused process id
// cannot deceive; a cluster that died is recognised, reported with the last lines
// of its log, and recovered from by the next start.
package clusterctl

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// DefaultName is the name of the cluster that is meant when none is given.
const DefaultName = "default"

// ContextName returns the name of the kubeconfig context of the cluster called name.
func ContextName(name string) string { return "slipway-" + name }

// Node is a node.
type Node = protocol.Node

// Control is the entrance to clusters: the environment that reports where things
// are, and the handler that is reported what happens.
type Control struct {
	getenv   func(string) string
	handler  report.Handler
	programs *program.Finder
	patience
}

// patience is how long a program is waited for.
type patience struct {
	stop   time.Duration // to stop before it is killed
	answer time.Duration // to answer a request
}

// ordinary is the patience with the real program: it stops within a second, by itself after five (stopLimit of
// cluster/serve) at the latest, and answers within milliseconds.
var ordinary = patience{stop: 8 * time.Second, answer: 5 * time.Second}

// New returns a Control that asks getenv for SLIPWAY_CLUSTER, SLIPWAY_SOURCE,
// SLIPWAY_CACHE, SLIPWAY_STATE, SLIPWAY_REGISTRIES, SLIPWAY_MIRROR, XDG_STATE_HOME and KUBECONFIG.
func New(getenv func(string) string, h report.Handler) *Control {
	return &Control{getenv: getenv, handler: h, programs: program.NewFinder(getenv, h), patience: ordinary}
}

// Program returns the path of the slipway-cluster program. It is built if there
// is none, which takes minutes and is reported by [report.Progress] events.
func (c *Control) Program(ctx context.Context) (string, error) {
	p, err := c.programs.Ensure(ctx)
	return p.Path, err
}

// NodeProgram returns the path of the slipway-node program, a real node; it is built like [Control.Program]'s.
func (c *Control) NodeProgram(ctx context.Context) (string, error) {
	return c.programs.EnsureNode(ctx)
}

// Kubectl returns the path of the kubectl that belongs to the cluster program; it is built like [Control.Program]'s.
func (c *Control) Kubectl(ctx context.Context) (string, error) {
	return c.programs.EnsureKubectl(ctx)
}

// FindKubectl is Kubectl for those who do not want to wait for a build.
func (c *Control) FindKubectl(ctx context.Context) (path string, ok bool, err error) {
	return c.programs.FindKubectl(ctx)
}

// cluster returns the state of the cluster called name; empty means the default one.
func (c *Control) cluster(name string) (state.Cluster, error) {
	home, err := state.Locate(c.getenv)
	if err != nil {
		return state.Cluster{}, err
	}
	if name == "" {
		name = DefaultName
	}
	cl, err := home.Cluster(name)
	cl.Remover = c.programs.ContainerPath
	return cl, err
}
