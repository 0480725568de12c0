package realnode

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/cluster/node"
)

// registered is a node that has been registered with the API server. A user may have deleted its Node since.
type registered struct {
	spec   node.Spec
	number int
	plain  bool
}

// register makes the Nodes for specs, each with its pod range, for the kubelets to report on. It removes Nodes of an
// earlier run, real or simulated, that neither specs nor others name.
func register(ctx context.Context, client kubernetes.Interface, specs []node.Spec, others []string, plain bool) ([]registered, error) {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	existing, ranges := map[string]*corev1.Node{}, map[string]string{}
	for i := range list.Items {
		n := &list.Items[i]
		existing[n.Name], ranges[n.Name] = n, n.Spec.PodCIDR
	}
	numbers, err := node.NumberNodes(specs, ranges)
	if err != nil {
		return nil, err
	}
	var all []registered
	for _, s := range specs {
		r := registered{s, numbers[s.Name], plain}
		if _, err := r.register(ctx, client, existing[s.Name], nil); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for _, name := range node.Unnamed(specs, others, existing) {
		if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("remove node %s: %w", name, err)
		}
	}
	return all, nil
}

// register creates the Node or updates the old one, and returns it. Labels and taints of others stay on the old one. A
// new Node starts with the status reported, if any: a running kubelet reports again only after seconds.
func (r registered) register(ctx context.Context, client kubernetes.Interface, old *corev1.Node, reported *corev1.NodeStatus) (*corev1.Node, error) {
	nodes := client.CoreV1().Nodes()
	var n *corev1.Node
	err := retry.RetryOnConflict(node.Conflicts(), func() (err error) {
		if old == nil {
			made := r.configured(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: r.spec.Name}})
			if reported != nil {
				made.Status = *reported
			}
			if n, err = nodes.Create(ctx, made, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
				return err
			}
			if old, err = nodes.Get(ctx, r.spec.Name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		n, err = nodes.Update(ctx, r.configured(old), metav1.UpdateOptions{})
		old = nil // a retry begins with the Node as it is then
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("register node %s: %w", r.spec.Name, err)
	}
	return n, nil
}

// configured returns a copy of the Node with the labels, taints and pod range of this node's configuration, and the
// kubelet's own labels.
func (r registered) configured(n *corev1.Node) *corev1.Node {
	n = n.DeepCopy()
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	maps.Copy(n.Labels, kubeletLabels(r.spec.Name))
	delete(n.Labels, node.SimulatedLabel)
	n.Labels[node.RealLabel] = "true"
	delete(n.Labels, node.PlainLabel)
	if r.plain {
		n.Labels[node.PlainLabel] = "true"
	}
	maps.Copy(n.Labels, r.spec.Labels)
	for _, t := range r.spec.Taints {
		n.Spec.Taints = withTaint(n.Spec.Taints, corev1.Taint(t))
	}
	if n.Spec.PodCIDR == "" {
		n.Spec.PodCIDR = node.PodRange(r.number).String()
		n.Spec.PodCIDRs = []string{n.Spec.PodCIDR}
	}
	return n
}

// kubeletLabels returns the labels that a kubelet sets when it registers its Node, once in its life.
func kubeletLabels(name string) map[string]string {
	return map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
		"beta.kubernetes.io/os": runtime.GOOS, "beta.kubernetes.io/arch": runtime.GOARCH,
	}
}

func withTaint(all []corev1.Taint, t corev1.Taint) []corev1.Taint {
	all = slices.DeleteFunc(slices.Clone(all), func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
	return append(all, t)
}

func withoutNotReady(all []corev1.Taint) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(all), func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	})
}

const (
	// nameService is the usual name of the cluster's DNS Service.
	nameService = "kube-dns"
	namePort    = 53
	// nameOffset is the position of the DNS Service's usual address in the range of Services.
	nameOffset = 10
)

// allocatorPoll is the interval of requests while the API server cannot allocate addresses yet.
const allocatorPoll = 10 * time.Millisecond

// ensureNameService makes the DNS Service and returns its address: the usual one, unless another Service has it. For a
// moment after its start an API server returns an internal error, because it cannot allocate addresses yet.
func ensureNameService(ctx context.Context, client kubernetes.Interface, services netip.Prefix) (netip.Addr, error) {
	for {
		service, err := nameServiceOf(ctx, client, services)
		if err == nil {
			return netip.ParseAddr(service.Spec.ClusterIP)
		}
		if !apierrors.IsInternalError(err) {
			return netip.Addr{}, fmt.Errorf("make the Service for names: %w", err)
		}
		select {
		case <-time.After(allocatorPoll):
		case <-ctx.Done():
			return netip.Addr{}, fmt.Errorf("make the Service for names: %w: %w", err, context.Cause(ctx))
		}
	}
}

func nameServiceOf(ctx context.Context, client kubernetes.Interface, services netip.Prefix) (*corev1.Service, error) {
	api := client.CoreV1().Services(metav1.NamespaceSystem)
	service, err := api.Get(ctx, nameService, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return service, err
	}
	address := services.Addr()
	for range nameOffset {
		address = address.Next()
	}
	service, err = api.Create(ctx, nameServiceAt(address.String()), metav1.CreateOptions{})
	if apierrors.IsInvalid(err) {
		service, err = api.Create(ctx, nameServiceAt(""), metav1.CreateOptions{})
	}
	return service, err
}

func nameServiceAt(address string) *corev1.Service {
	port := func(name string, protocol corev1.Protocol) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Protocol: protocol, Port: namePort, TargetPort: intstr.FromInt32(namePort)}
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: nameService, Labels: map[string]string{"k8s-app": nameService, "kubernetes.io/name": "CoreDNS"}},
		Spec: corev1.ServiceSpec{
			ClusterIP: address, Ports: []corev1.ServicePort{port("dns", corev1.ProtocolUDP), port("dns-tcp", corev1.ProtocolTCP)},
		},
	}
}
