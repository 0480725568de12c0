package simnode

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/version"
)

// registrations bounds the calls that are under way while many nodes register.
const registrations = 8

// registered is a node that the API server knows.
type registered struct {
	spec   node.Spec
	number int
	object *corev1.Node
}

// register makes the cluster's simulated nodes be those of specs, Ready and without the not-ready taint. The other ones
// stay as they are.
func register(ctx context.Context, client kubernetes.Interface, specs []node.Spec, others []string, now time.Time) ([]registered, error) {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	existing := make(map[string]*corev1.Node, len(list.Items))
	ranges := make(map[string]string, len(list.Items))
	for i := range list.Items {
		existing[list.Items[i].Name] = &list.Items[i]
		ranges[list.Items[i].Name] = list.Items[i].Spec.PodCIDR
	}
	specs = underFormerNames(specs, existing)
	numbers, err := node.NumberNodes(specs, ranges)
	if err != nil {
		return nil, err
	}
	nodes := make([]registered, len(specs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(registrations)
	for i, spec := range specs {
		group.Go(func() error {
			object, err := registerOne(ctx, client, spec, numbers[spec.Name], existing[spec.Name], now)
			if err != nil {
				return fmt.Errorf("register node %s: %w", spec.Name, err)
			}
			nodes[i] = registered{spec: spec, number: numbers[spec.Name], object: object}
			return nil
		})
	}
	for _, old := range node.Unnamed(specs, others, existing) {
		group.Go(func() error {
			err := client.CoreV1().Nodes().Delete(ctx, old, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("remove node %s: %w", old, err)
			}
			return nil
		})
	}
	return nodes, group.Wait()
}

// underFormerNames gives nodes back the name that an earlier version registered them with.
func underFormerNames(specs []node.Spec, existing map[string]*corev1.Node) []node.Spec {
	specs = slices.Clone(specs)
	for i, s := range specs {
		old := existing[s.Formerly]
		if old == nil || old.Labels[node.SimulatedLabel] == "" || existing[s.Name] != nil {
			continue
		}
		last := remembered(old)
		last.Name, last.Formerly = s.Name, s.Formerly
		if apiequality.Semantic.DeepEqual(last, s) {
			specs[i].Name = s.Formerly
		}
	}
	return specs
}

func registerOne(ctx context.Context, client kubernetes.Interface, spec node.Spec, number int, old *corev1.Node, now time.Time) (*corev1.Node, error) {
	nodes := client.CoreV1().Nodes()
	wanted, err := object(spec, number, now)
	if err != nil {
		return nil, err
	}
	if old == nil {
		created, err := nodes.Create(ctx, wanted, metav1.CreateOptions{})
		switch {
		case err == nil:
			old = created
		case !apierrors.IsAlreadyExists(err):
			return nil, err
		}
	}
	var result *corev1.Node
	err = retry.RetryOnConflict(node.Conflicts(), func() (err error) {
		if old == nil {
			if old, err = nodes.Get(ctx, spec.Name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		if result, err = bring(ctx, client, old, wanted, spec); err == nil {
			err = registerStorage(ctx, client, result)
		}
		old = nil // a retry starts from what the API server has by then
		return err
	})
	return result, err
}

// bring makes an existing Node like the wanted one, with the edits of others kept. Admission taints every new node as
// not ready, and it is the node lifecycle controller that takes the taint off in other clusters; here the node knows
// best.
func bring(ctx context.Context, client kubernetes.Interface, old, wanted *corev1.Node, spec node.Spec) (*corev1.Node, error) {
	n := configured(old, wanted, spec)
	var err error
	if !apiequality.Semantic.DeepEqual(old, n) {
		if n, err = client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
	}
	status := configuredStatus(old, wanted)
	if !sameBesideHeartbeat(old.Status, status) {
		n.Status = status
		return client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
	}
	return n, nil
}

func sameBesideHeartbeat(a, b corev1.NodeStatus) bool {
	return apiequality.Semantic.DeepEqual(withoutTimes(a), withoutTimes(b))
}

func withoutTimes(s corev1.NodeStatus) corev1.NodeStatus {
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].LastHeartbeatTime, s.Conditions[i].LastTransitionTime = metav1.Time{}, metav1.Time{}
	}
	return s
}

// object is the Node as a kubelet registers it.
func object(spec node.Spec, number int, now time.Time) (*corev1.Node, error) {
	remembered, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	labels := baseLabels(spec.Name)
	maps.Copy(labels, spec.Labels)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: spec.Name, Labels: labels, Annotations: map[string]string{configuration: string(remembered)},
	}}
	for _, t := range spec.Taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint(t))
	}
	n.Spec.ProviderID = "slipway://" + spec.Name
	n.Spec.PodCIDR = node.PodRange(number).String()
	n.Spec.PodCIDRs = []string{n.Spec.PodCIDR}
	n.Status = corev1.NodeStatus{
		Capacity:    spec.Advertised(),
		Allocatable: spec.Advertised(),
		Conditions:  conditions(now),
		Features:    &corev1.NodeFeatures{SupplementalGroupsPolicy: new(true)},
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: node.Address(number).String()},
			{Type: corev1.NodeHostName, Address: spec.Name},
		},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: spec.Name, SystemUUID: spec.Name, BootID: spec.Name,
			KernelVersion: "simulated", OSImage: "Slipway simulated node",
			ContainerRuntimeVersion: "slipway://" + version.Kubernetes,
			KubeletVersion:          node.KubeletVersion,
			OperatingSystem:         "linux", Architecture: runtime.GOARCH,
		},
	}
	return n, nil
}

// baseLabels are those that every node has.
func baseLabels(name string) map[string]string {
	return map[string]string{
		node.SimulatedLabel:            "true",
		corev1.LabelHostname:           name,
		corev1.LabelOSStable:           "linux",
		corev1.LabelArchStable:         runtime.GOARCH,
		corev1.LabelInstanceTypeStable: "simulated",
	}
}
