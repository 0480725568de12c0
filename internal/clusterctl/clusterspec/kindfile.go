package clusterspec

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// kindGroups begin the apiVersion of kind's configuration files, see https://kind.sigs.k8s.io/docs/user/configuration.
// The second one is that of v1alpha3 and older, whose keys are among today's, except those that kindReader.file names.
var kindGroups = []string{"kind.x-k8s.io/", "kind.sigs.k8s.io/"}

// isKindFile reports whether a document is a configuration of kind.
func isKindFile(n *yaml.Node) bool {
	var head struct {
		APIVersion string `yaml:"apiVersion"`
	}
	return n.Kind == yaml.MappingNode && n.Decode(&head) == nil &&
		slices.ContainsFunc(kindGroups, func(group string) bool { return strings.HasPrefix(head.APIVersion, group) })
}

// kindReader reads a configuration of kind as far as an embedded cluster has a counterpart, and notes the rest.
type kindReader struct {
	*reader
	spec *protocol.Spec
}

// leave notes a value that has no effect, and what there is instead.
func (r *kindReader) leave(n *yaml.Node, at, instead string) {
	r.left = append(r.left, report.Finding{
		Rule:     report.RuleIgnoredSetting,
		Position: report.Position{File: r.path, Line: n.Line, Column: n.Column}, Message: at + " has no effect", Suggestion: instead,
	})
}

// without returns a function that notes a value without effect.
func (r *kindReader) without(instead string) func(*yaml.Node, string) {
	return func(n *yaml.Node, at string) { r.leave(n, at, instead) }
}

// passed is for values that change nothing.
func passed(*yaml.Node, string) {}

func (r *kindReader) file(n *yaml.Node) {
	patches := r.without("put the API server's flags under apiServer.flags of slipway's own file")
	r.mapping(n, "", fields{
		"apiVersion": passed,
		"kind":       passed,
		"name": func(n *yaml.Node, at string) {
			r.leave(n, at, "name the cluster on the command line: slipway cluster start "+r.text(n, at)+" --config FILE")
		},
		"nodes":                           r.nodes,
		"networking":                      r.networking,
		"featureGates":                    func(n *yaml.Node, at string) { r.spec.FeatureGates = r.bools(n, at) },
		"runtimeConfig":                   func(n *yaml.Node, at string) { r.spec.RuntimeConfig = r.texts(n, at) },
		"kubeadmConfigPatches":            func(n *yaml.Node, at string) { r.patches(n, at, nil) },
		"kubeadmConfigPatchesJSON6902":    patches,
		"kubeadmConfigPatchesJson6902":    patches, // in v1alpha3
		"containerdConfigPatches":         r.without("name registries in SLIPWAY_REGISTRIES"),
		"containerdConfigPatchesJSON6902": r.without("name registries in SLIPWAY_REGISTRIES"),
	})
}

func (r *kindReader) networking(n *yaml.Node, at string) {
	r.mapping(n, at, fields{
		"apiServerPort": func(n *yaml.Node, at string) { r.spec.Port = r.port(n, at) },
		"apiServerAddress": func(n *yaml.Node, at string) {
			if r.text(n, at) != "127.0.0.1" {
				r.leave(n, at, "the API server listens only at 127.0.0.1")
			}
		},
		"ipFamily": func(n *yaml.Node, at string) {
			if r.text(n, at) != "ipv4" {
				r.leave(n, at, "pods and Services have IPv4 addresses")
			}
		},
		"podSubnet":         r.without("the cluster chooses the addresses of pods"),
		"serviceSubnet":     r.without("use --api-server-flag service-cluster-ip-range=…"),
		"disableDefaultCNI": r.without("the nodes have their own network"),
		"kubeProxyMode":     r.without("the nodes have their own network"),
		"dnsSearch":         r.without("pods search the cluster's domains"),
	})
}

// nodes reads the nodes: they get the names that kind gives them, without the cluster's before it. They are real ones,
// since those of kind run pods.
func (r *kindReader) nodes(n *yaml.Node, at string) {
	seen := map[string]int{}
	for i, item := range r.sequence(n, at) {
		node, role := r.kindNode(item, index(at, i))
		seen[role]++
		node.Name = role
		if seen[role] > 1 {
			node.Name = fmt.Sprintf("%s%d", role, seen[role])
		}
		r.check(item, index(at, i), CheckNode(node))
		r.spec.Nodes = append(r.spec.Nodes, node)
	}
	if len(seen) > 0 {
		r.spec.NodeKind, r.spec.IsolatedOnly = protocol.RealNodes, true
	}
	r.taintControlPlanes(seen[controlPlane] > 0 && seen[worker] > 0)
}

const (
	controlPlane      = "control-plane"
	worker            = "worker"
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
)

// taintControlPlanes gives control planes beside workers kubeadm's taint, except those that list their taints. An empty
// list has served its purpose then.
func (r *kindReader) taintControlPlanes(besideWorkers bool) {
	for i := range r.spec.Nodes {
		node := &r.spec.Nodes[i]
		if _, is := node.Labels[controlPlaneLabel]; is && besideWorkers && node.Taints == nil {
			node.Taints = []string{controlPlaneLabel + ":NoSchedule"}
		}
		if len(node.Taints) == 0 {
			node.Taints = nil
		}
	}
}

func (r *kindReader) kindNode(n *yaml.Node, at string) (node protocol.Node, role string) {
	role = controlPlane
	r.mapping(n, at, fields{
		"role": func(n *yaml.Node, at string) {
			if role = r.text(n, at); role != controlPlane && role != worker {
				r.fail(n, fmt.Sprintf("%s: unknown role of a node %q", at, role), suggestion(role, []string{controlPlane, worker}), nil)
			}
		},
		"image":                        r.without("the cluster has one version of Kubernetes: slipway version prints it"),
		"labels":                       func(n *yaml.Node, at string) { node.Labels = r.checked(n, at, checkLabel) },
		"extraMounts":                  r.without("nodes cannot mount folders of this machine: use a PersistentVolumeClaim"),
		"extraPortMappings":            r.portMappings,
		"kubeadmConfigPatches":         func(n *yaml.Node, at string) { r.patches(n, at, &node) },
		"kubeadmConfigPatchesJSON6902": r.without("write labels and taints into slipway's own file"),
	})
	if role == controlPlane {
		node.Labels = with(node.Labels, controlPlaneLabel, "")
	}
	return node, role
}

// portMappings notes ports of the machine that lead to another port of a node: NodePorts are on the machine's loopback
// under their own numbers.
func (r *kindReader) portMappings(n *yaml.Node, at string) {
	for i, item := range r.sequence(n, at) {
		var containerPort, hostPort int
		r.mapping(item, index(at, i), fields{
			"containerPort": func(n *yaml.Node, at string) { containerPort = r.port(n, at) },
			"hostPort":      func(n *yaml.Node, at string) { hostPort = r.port(n, at) },
			"listenAddress": func(n *yaml.Node, at string) {
				if r.text(n, at) != "127.0.0.1" {
					r.leave(n, at, "ports of nodes answer only at 127.0.0.1")
				}
			},
			"protocol": passed,
		})
		if containerPort != hostPort {
			r.leave(item, index(at, i), insteadOfMapping(containerPort))
		}
	}
}

// firstNodePort and lastNodePort bound the API server's default range of NodePorts.
const firstNodePort, lastNodePort = 30000, 32767

// insteadOfMapping is where a port of a node answers on this machine. In kind, ports outside of the range of NodePorts
// lead to the hostPort of an ingress controller as a rule.
func insteadOfMapping(port int) string {
	if port >= firstNodePort && port <= lastNodePort {
		return fmt.Sprintf("a NodePort %d answers at 127.0.0.1:%d; slipway kubectl port-forward opens others", port, port)
	}
	return fmt.Sprintf("a hostPort %d answers at 127.0.0.1:%d, Ingresses and Services of the type LoadBalancer where slipway cluster status says", port, port)
}

// patches reads what kubeadm's documents say of a node's labels and taints, and notes flags of the API server.
func (r *kindReader) patches(n *yaml.Node, at string, node *protocol.Node) {
	for i, item := range r.sequence(n, at) {
		decoder := yaml.NewDecoder(strings.NewReader(r.text(item, index(at, i))))
		for {
			var patch kubeadmPatch
			err := decoder.Decode(&patch)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				r.fail(item, index(at, i)+" is not valid YAML", "a document of kubeadm", err)
				return
			}
			r.patch(item, index(at, i), patch, node)
		}
	}
}

// kubeadmPatch is what can be taken over from a document of kubeadm.
type kubeadmPatch struct {
	Kind      string
	APIServer struct {
		ExtraArgs extraArgs `yaml:"extraArgs"`
	} `yaml:"apiServer"`
	NodeRegistration struct {
		KubeletExtraArgs extraArgs `yaml:"kubeletExtraArgs"`
		Taints           []struct{ Key, Value, Effect string }
	} `yaml:"nodeRegistration"`
	Rest map[string]yaml.Node `yaml:",inline"`
}

// extraArgs are flags by name; kubeadm writes them as a mapping or, since v1beta4, as a list.
type extraArgs map[string]string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (a *extraArgs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		var args map[string]string
		err := n.Decode(&args)
		*a = args
		return err
	}
	var list []struct{ Name, Value string }
	if err := n.Decode(&list); err != nil {
		return err
	}
	*a = extraArgs{}
	for _, arg := range list {
		(*a)[arg.Name] = arg.Value
	}
	return nil
}

func (r *kindReader) patch(n *yaml.Node, at string, patch kubeadmPatch, node *protocol.Node) {
	for _, name := range slices.Sorted(maps.Keys(patch.APIServer.ExtraArgs)) {
		flag, err := parseFileFlag(name + "=" + patch.APIServer.ExtraArgs[name])
		if err != nil { // in kind's node it does no harm, here it could
			r.leave(n, at+": the API server's flag "+name, expected(err))
			continue
		}
		r.spec.APIServerFlags = append(r.spec.APIServerFlags, flag)
	}
	for _, key := range slices.Sorted(maps.Keys(patch.Rest)) {
		if key != "apiVersion" && key != "metadata" {
			r.leave(n, at+": "+key+" of "+patch.Kind, "only labels and taints of nodes have an effect")
		}
	}
	if node == nil {
		if patch.NodeRegistration.Taints != nil || len(patch.NodeRegistration.KubeletExtraArgs) > 0 {
			r.leave(n, at+": nodeRegistration of "+patch.Kind, "write it under kubeadmConfigPatches of a node")
		}
		return
	}
	if taints := patch.NodeRegistration.Taints; taints != nil {
		node.Taints = []string{} // as in kubeadm, a list replaces what is so without one or by an earlier patch
		for _, taint := range taints {
			node.Taints = append(node.Taints, strings.TrimSuffix(taint.Key+"="+taint.Value, "=")+":"+taint.Effect)
			r.check(n, at, checkTaint(node.Taints[len(node.Taints)-1]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(patch.NodeRegistration.KubeletExtraArgs)) {
		r.kubeletFlag(n, at, name, patch.NodeRegistration.KubeletExtraArgs[name], node)
	}
}

func (r *kindReader) kubeletFlag(n *yaml.Node, at, name, value string, node *protocol.Node) {
	if name != "node-labels" {
		r.leave(n, at+": the kubelet's flag "+name, "")
		return
	}
	for label := range strings.SplitSeq(value, ",") {
		key, text, _ := strings.Cut(label, "=")
		r.check(n, at, checkLabel(key, text))
		node.Labels = with(node.Labels, key, text)
	}
}
