package apiserver

import (
	"context"
	"fmt"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/simnode/kubeletapi"
)

// joinNetwork makes the server reach Services, and the kubelets of simulated nodes, by way of package network.
// Webhooks, aggregated API servers and the proxy subresources all connect with the one transport. A user's own egress
// configuration is left alone. Upstream counterpart: CreateKubeAPIServerConfig in
// k8s.io/kubernetes/cmd/kube-apiserver/app.
func joinNetwork(ctx context.Context, config *app.Config, o Options) error {
	control := &config.KubeAPIs.ControlPlane
	if control.Generic.EgressSelector != nil {
		return nil
	}
	dialer, err := network.NewDialer(control.VersionedInformers, kubeletapi.New(ctx, o.Keys.Server, o.Keys.ServerKey), o.Inside)
	if err != nil {
		return fmt.Errorf("join the cluster's network: %w", err)
	}
	control.ProxyTransport.DialContext = dialer.Dial
	config.KubeAPIs.KubeletClientConfig.Lookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) {
		return dialer.Kubelet, nil
	}
	return nil
}
