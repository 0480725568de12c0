package model

import (
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// A Feature is a part of what is deployed that can be switched off.
type Feature struct {
	Name    string // of its folder below config
	Value   string // of what switches it on, such as metrics
	What    string // what is there with it, in a sentence
	entries []entry
}

// On is the condition that the feature is switched on.
func (f Feature) On() tree.Condition { return tree.If(".Values." + f.Value + ".enable") }

// known are the features of Slipway's own scaffold, in the order in which values are shown.
// The entries are those that projects of kubebuilder have instead of a component.
var known = []Feature{
	{Name: "metrics", Value: "metrics", What: "The manager serves metrics over HTTPS to clients with the role metrics-reader.", entries: []entry{
		{"resources", "metrics_service.yaml"}, {"patches", "manager_metrics_patch.yaml"}, {"replacements", "Service/controller-manager-metrics-service"},
	}},
	{Name: "metrics-tls", Value: "metrics.tls", What: "The manager serves metrics with the certificate of webhooks, which collectors can verify.", entries: []entry{
		{"patches", "cert_metrics_manager_patch.yaml"},
	}},
	{Name: "prometheus", Value: "prometheus", What: "Prometheus collects the metrics. This needs the Prometheus operator.", entries: []entry{
		{"resources", "../prometheus"},
	}},
	{Name: "alerts", Value: "alerts", What: "Prometheus raises alerts about the manager."},
	{Name: "dashboard", Value: "dashboard", What: "A Grafana dashboard for the manager's metrics."},
	{Name: "webhook", Value: "webhook", What: "The API server calls the manager's webhooks. They need a certificate.", entries: []entry{
		{"resources", "../webhook"}, {"patches", "manager_webhook_patch.yaml"}, {"replacements", "Service/webhook-service"},
	}},
	{Name: "certmanager", Value: "certManager", What: "cert-manager issues the manager's certificate. This needs cert-manager in the cluster.", entries: []entry{
		{"resources", "../certmanager"}, {"replacements", "Certificate"}, {"replacements", "Issuer"},
		{"replacements", "Service/webhook-service"}, {"replacements", "Service/controller-manager-metrics-service"},
	}},
	{Name: "selfcert", Value: "selfCert", What: "The manager issues its own certificate and keeps it in a Secret."},
	{Name: "ha", Value: "ha", What: "Two managers run on different nodes: one is active, the other is on standby."},
	{Name: "pprof", Value: "pprof", What: "The manager serves profiles to users who may forward a port of its pod."},
	{Name: "network-policy", Value: "networkPolicy", What: "Only the API server, at the webhooks, and collectors of metrics reach the manager.", entries: []entry{
		{"resources", "../network-policy"},
	}},
	{Name: "egress", Value: "egress", What: "The manager reaches only DNS and the API server."},
	{Name: "tracing", Value: "tracing", What: "The manager sends spans to an OpenTelemetry collector."},
	{Name: "vap", Value: "vap", What: "ValidatingAdmissionPolicies check objects by the rules of their kinds."},
	{Name: "namespaced", Value: "namespaced", What: "The manager watches only the release's namespace and has permissions only there."},
}

// features are those that a kustomization has: each of its components, and in projects of
// kubebuilder what stands for one.
func features(kustomization map[string]any) []Feature {
	components := components(kustomization)
	var all []Feature
	for _, f := range known {
		if i := slices.IndexFunc(components, func(c string) bool { return path.Base(c) == f.Name }); i >= 0 {
			f.entries = []entry{{"components", components[i]}}
			components = slices.Delete(components, i, i+1)
			all = append(all, f)
			continue
		}
		if slices.ContainsFunc(f.entries, func(e entry) bool { return e.list != "replacements" && e.in(kustomization) }) {
			all = append(all, f)
		}
	}
	for _, c := range components {
		name := path.Base(c)
		all = append(all, Feature{Name: name, Value: valueOf(name), What: "The objects of config/" + name + ".", entries: []entry{{"components", c}}})
	}
	return all
}

// components are the paths of components.
func components(kustomization map[string]any) []string {
	var paths []string
	list, _ := kustomization["components"].([]any)
	for _, item := range list {
		if name, ok := item.(string); ok {
			paths = append(paths, path.Clean(name))
		}
	}
	return paths
}

// taken are keys of values that are no features.
var taken = []string{"manager", "serviceAccount", "crd", "rbacHelpers", "nameOverride", "fullnameOverride", "global"}

// valueOf is the key of values for a component in a folder of a name: the name in one word.
func valueOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, w := range words {
		if i > 0 {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	key := strings.Join(words, "")
	isKnown := slices.ContainsFunc(known, func(f Feature) bool { return f.Value == key })
	if key == "" || isKnown || slices.Contains(taken, key) || key[0] <= '9' {
		key = "feature" + strings.ToUpper(key[:min(1, len(key))]) + key[min(1, len(key)):]
	}
	return key
}
