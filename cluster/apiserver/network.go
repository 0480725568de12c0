package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
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
	dialer.Explain(func(ctx context.Context, namespace string, selector labels.Selector) ([]corev1.Pod, error) {
		return listPods(ctx, control.Generic.LoopbackClientConfig, namespace, selector)
	})
	control.ProxyTransport.DialContext = dialer.Dial
	config.KubeAPIs.KubeletClientConfig.Lookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) {
		return dialer.Kubelet, nil
	}
	return nil
}

// maxPods bounds how many of a Service's pods are looked at for a refusal.
const maxPods = 100

// listPods asks for pods when a refusal is to name them, so that nothing has to follow them all the time.
func listPods(ctx context.Context, config *rest.Config, namespace string, selector labels.Selector) ([]corev1.Pod, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String(), Limit: maxPods, ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
