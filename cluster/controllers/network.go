package controllers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
)

// Upstream: cmd/kube-controller-manager/app/core.go and discovery.go.

const (
	maxEndpointsPerSlice = 100
	endpointBatchPeriod  = 0 // write changes at once
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
