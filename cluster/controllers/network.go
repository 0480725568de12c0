package controllers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
	"k8s.io/kubernetes/pkg/controller/servicecidrs"
)

// Upstream: cmd/kube-controller-manager/app/core.go, discovery.go and networking.go.

const (
	maxEndpointsPerSlice = 100
	maxMirrored          = 1000 // endpoints of one subset
	endpointBatchPeriod  = 0    // write changes at once
)

func newEndpoints(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("endpoint-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, endpointBatchPeriod)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func newEndpointSlice(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("endpointslice-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), d.Informers.Discovery().V1().EndpointSlices(),
		maxEndpointsPerSlice, client, endpointBatchPeriod)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// newEndpointSliceMirroring makes slices for Endpoints that users write themselves.
func newEndpointSliceMirroring(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("endpointslicemirroring-controller")
	if err != nil {
		return nil, err
	}
	core := d.Informers.Core().V1()
	c := endpointslicemirroring.NewController(ctx, core.Endpoints(), d.Informers.Discovery().V1().EndpointSlices(), core.Services(),
		maxMirrored, client, endpointBatchPeriod)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// newServiceCIDR says which ranges of Service addresses are ready, and keeps those in use.
func newServiceCIDR(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("service-cidrs-controller")
	if err != nil {
		return nil, err
	}
	networking := d.Informers.Networking().V1()
	c := servicecidrs.NewController(ctx, networking.ServiceCIDRs(), networking.IPAddresses(), client)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}
