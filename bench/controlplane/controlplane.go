// Package controlplane starts the control planes that benchmarks compare: slipway-cluster as `slipway` starts it, with
// controllers, scheduler and a node, and controller-runtime's envtest on stock programs, which is etcd and an API
// server.
//
//	plane, err := controlplane.Envtest{Folder: folder}.Start(ctx)
//	err = plane.Establish(ctx)       // a custom resource can be used
//	usage, err := plane.Processes.Usage()
//	err = plane.Stop()
//
// Only one control plane may be starting at a time: what is a child of this process afterwards and was none before is
// taken for the control plane's processes.
package controlplane

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/bench/process"
)

// A Plane is a control plane that runs.
type Plane struct {
	Config    *rest.Config // of an administrator, without client-side limits
	Processes process.Group
	stop      func() error
	kill      func() error // nil, as partner, when the process protocol is not spoken
	partner   *partner
}

// Stop ends the control plane and returns when its processes have ended.
func (p *Plane) Stop() error { return p.stop() }

// Kill ends the control plane as kill -9 does.
func (p *Plane) Kill() error {
	if p.kill == nil {
		return ErrNoProtocol
	}
	return p.kill()
}

// ErrNoProtocol says that a control plane does not speak the process protocol.
var ErrNoProtocol = errors.New("this control plane speaks no process protocol")

// Request asks for a method of the process protocol and decodes the answer into result, which may be nil.
func (p *Plane) Request(ctx context.Context, method string, params, result any) error {
	if p.partner == nil {
		return ErrNoProtocol
	}
	if err := p.partner.request(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// A Starter starts one kind of control plane.
type Starter interface {
	Start(context.Context) (*Plane, error)
}

// withProcesses runs start and notes which processes it has started.
func withProcesses(start func() (*Plane, error)) (*Plane, error) {
	before, err := process.Children()
	if err != nil {
		return nil, err
	}
	plane, err := start()
	if err != nil {
		return nil, err
	}
	plane.Config.QPS, plane.Config.Burst = -1, 0
	after, err := process.Children()
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	plane.Processes = after.Without(before)
	return plane, nil
}

// Open is the control plane that a kubeconfig leads to. The program that started it stops it.
func Open(kubeconfig string) (*Plane, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, 0
	return &Plane{Config: config, stop: func() error { return nil }}, nil
}
