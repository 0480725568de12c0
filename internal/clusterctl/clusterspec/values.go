package clusterspec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// ParseNode reads a node as a flag gives it: its name, and then settings with commas between them,
// `big,cpu=16,memory=64Gi,label=disk=ssd,taint=gpu=yes:NoSchedule`.
func ParseNode(text string) (protocol.Node, error) {
	name, settings, _ := strings.Cut(text, ",")
	node := protocol.Node{Name: name}
	for setting := range strings.SplitSeq(settings, ",") {
		if setting == "" {
			continue
		}
		if err := set(&node, setting); err != nil {
			return protocol.Node{}, err
		}
	}
	return node, CheckNode(node)
}

// FormatNode is the inverse of [ParseNode].
func FormatNode(node protocol.Node) string {
	text := node.Name
	for _, name := range slices.Sorted(maps.Keys(node.Capacity)) {
		text += "," + name + "=" + node.Capacity[name]
	}
	for _, key := range slices.Sorted(maps.Keys(node.Labels)) {
		text += ",label=" + key + "=" + node.Labels[key]
	}
	for _, taint := range node.Taints {
		text += ",taint=" + taint
	}
	return text
}

func set(node *protocol.Node, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return &mistake{fmt.Sprintf("unknown setting of a node %q", setting), "label=KEY=VALUE, taint=KEY=VALUE:EFFECT or RESOURCE=QUANTITY"}
	}
	switch key {
	case "label":
		label, text, _ := strings.Cut(value, "=")
		node.Labels = with(node.Labels, label, text)
		return checkLabel(label, text)
	case "taint":
		node.Taints = append(node.Taints, value)
		return checkTaint(value)
	}
	node.Capacity = with(node.Capacity, key, value)
	return checkCapacity(key, value)
}

func with[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// CheckNode refuses a node whose name no node can have.
func CheckNode(node protocol.Node) error {
	if node.Name == "" {
		return &mistake{"a node without a name", "a name like node-1"}
	}
	if problems := validation.IsDNS1123Subdomain(node.Name); len(problems) > 0 {
		return &mistake{fmt.Sprintf("invalid name of a node %q", node.Name), "lower-case letters, digits and inner hyphens or dots, like node-1"}
	}
	return nil
}

func checkLabel(key, value string) error {
	if len(validation.IsQualifiedName(key)) > 0 {
		return &mistake{fmt.Sprintf("invalid key of a label %q", key), "a name like disk or example.com/disk"}
	}
	if len(validation.IsValidLabelValue(value)) > 0 {
		return &mistake{fmt.Sprintf("invalid value of a label %q", value), "at most 63 letters, digits, and inner hyphens, dots or underscores"}
	}
	return nil
}

// effects are what a taint can do to pods that do not tolerate it.
var effects = []string{"NoExecute", "NoSchedule", "PreferNoSchedule"}

func checkTaint(text string) error {
	head, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(head, "=")
	switch {
	case !ok, len(validation.IsQualifiedName(key)) > 0, len(validation.IsValidLabelValue(value)) > 0:
		return &mistake{fmt.Sprintf("invalid taint %q", text), "KEY=VALUE:EFFECT or KEY:EFFECT, like gpu=yes:NoSchedule"}
	case !slices.Contains(effects, effect):
		return &mistake{fmt.Sprintf("unknown effect of a taint %q", effect), suggestion(effect, effects)}
	}
	return nil
}

// resources are those of Kubernetes' own that a node has; others have a domain.
var resources = []string{"cpu", "ephemeral-storage", "memory", "pods"}

func checkCapacity(name, quantity string) error {
	own := slices.Contains(resources, name) || strings.HasPrefix(name, "hugepages-")
	if !own && (!strings.Contains(name, "/") || len(validation.IsQualifiedName(name)) > 0) {
		return &mistake{fmt.Sprintf("unknown resource of a node %q", name), strings.TrimSuffix(suggestion(name, resources), "?") + "; others have a domain, like example.com/gpu"}
	}
	if q, err := resource.ParseQuantity(quantity); err != nil || q.Sign() < 0 {
		return &mistake{fmt.Sprintf("invalid quantity %q", quantity), "a number with an optional unit, like 16, 500m or 64Gi"}
	}
	return nil
}

// habits are what becomes of simulated pods whose annotations do not say it.
var habits = []string{"complete", "pending", "running"}

// checkHabit refuses what cannot become of simulated pods.
func checkHabit(habit string) error {
	if slices.Contains(habits, habit) {
		return nil
	}
	return &mistake{fmt.Sprintf("unknown phase of simulated pods %q", habit), suggestion(habit, habits)}
}

// expected says what would have been right instead of err; empty if that is not known.
func expected(err error) string {
	if m, ok := errors.AsType[*mistake](err); ok {
		return m.expected
	}
	return ""
}
