package node

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Spec describes one node. Its JSON form is an element of `nodes` in the process protocol's configuration.
type Spec struct {
	// Name is the node's name and hostname, a DNS subdomain.
	Name string `json:"name"`
	// Labels are added to those that every node has (kubernetes.io/hostname, os, arch).
	Labels map[string]string `json:"labels,omitempty"`
	// Taints keep pods away that do not tolerate them.
	Taints []Taint `json:"taints,omitempty"`
	// Capacity replaces the default amounts of cpu, memory, ephemeral-storage and pods, and adds further resources.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Formerly is the name that earlier versions gave this node. A durable cluster that has a Node of that name and of
	// this configuration keeps it, and with it the pods that are bound to it.
	Formerly string `json:"-"`
}

// Taint is a node's taint; its text form is `key=value:Effect` or `key:Effect`, as kubectl takes it.
type Taint corev1.Taint

// Errors by which callers decide.
var (
	ErrInvalid = errors.New("invalid node") // marks what is wrong with a [Spec]
	ErrUnknown = errors.New("unknown node") // marks the name of a node that the cluster does not have
)

// roleLabel is how kubeadm, and so kind, mark the node with the control plane; kubectl shows it as the node's role.
const roleLabel = "node-role.kubernetes.io/control-plane"

// Names of the nodes that a configuration does not name: a number follows. Pods show the name, so it reports about what
// kind the node is.
const (
	Simulated = "simulated-"
	Joined    = "real-" // a real node that joins simulated ones
	Real      = "node-" // where nodes are real from the start
)

// Default is the node of a cluster whose configuration names none, where nodes are simulated.
func Default() []Spec {
	s := first(Simulated)
	s.Formerly = Real + "1"
	return []Spec{s}
}

// DefaultReal is the node of a cluster whose configuration names none, where nodes are real.
func DefaultReal() []Spec { return []Spec{first(Real)} }

func first(kind string) Spec {
	return Spec{Name: kind + "1", Labels: map[string]string{roleLabel: ""}}
}

// UnmarshalText reads `key=value:Effect` or `key:Effect`.
func (t *Taint) UnmarshalText(text []byte) error {
	head, effect, ok := strings.Cut(string(text), ":")
	if !ok || head == "" {
		return fmt.Errorf("%w: taint %q: expected key=value:Effect or key:Effect", ErrInvalid, text)
	}
	key, value, _ := strings.Cut(head, "=")
	*t = Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	return t.validate()
}

// MarshalText writes the form that UnmarshalText reads.
func (t Taint) MarshalText() ([]byte, error) {
	if t.Value == "" {
		return fmt.Appendf(nil, "%s:%s", t.Key, t.Effect), nil
	}
	return fmt.Appendf(nil, "%s=%s:%s", t.Key, t.Value, t.Effect), nil
}

func (t Taint) validate() error {
	problems := append(validation.IsQualifiedName(t.Key), validation.IsValidLabelValue(t.Value)...)
	switch t.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		problems = append(problems, fmt.Sprintf("effect %q: expected NoSchedule, PreferNoSchedule or NoExecute", t.Effect))
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: taint %s=%s:%s: %s", ErrInvalid, t.Key, t.Value, t.Effect, strings.Join(problems, "; "))
	}
	return nil
}

// Validate reports everything in specs that the API server would refuse or that has no place in the network; each error
// is an [ErrInvalid].
func Validate(specs []Spec) error {
	var errs []error
	seen := map[string]bool{}
	for i, s := range specs {
		if problems := validation.IsDNS1123Subdomain(s.Name); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("%w: nodes[%d]: name %q: %s", ErrInvalid, i, s.Name, strings.Join(problems, "; ")))
		}
		if seen[s.Name] {
			errs = append(errs, fmt.Errorf("%w: nodes[%d]: name %q is used twice", ErrInvalid, i, s.Name))
		}
		seen[s.Name] = true
		errs = append(errs, s.validate())
	}
	if len(specs) > maxNodes {
		errs = append(errs, fmt.Errorf("%w: %d nodes: at most %d can have a pod range", ErrInvalid, len(specs), maxNodes))
	}
	return errors.Join(errs...)
}

func (s Spec) validate() error {
	var errs []error
	for key, value := range s.Labels {
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("%w: %s: label %s=%s: %s", ErrInvalid, s.Name, key, value, strings.Join(problems, "; ")))
		}
	}
	for _, t := range s.Taints {
		if err := t.validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	for name, amount := range s.Capacity {
		if problems := validation.IsQualifiedName(string(name)); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("%w: %s: capacity %s: %s", ErrInvalid, s.Name, name, strings.Join(problems, "; ")))
		}
		if amount.Sign() < 0 {
			errs = append(errs, fmt.Errorf("%w: %s: capacity %s is negative", ErrInvalid, s.Name, name))
		}
	}
	if pods := s.Capacity[corev1.ResourcePods]; pods.Value() > MaxPods {
		errs = append(errs, fmt.Errorf("%w: %s: capacity of %s pods: at most %d", ErrInvalid, s.Name, &pods, MaxPods))
	}
	return errors.Join(errs...)
}
