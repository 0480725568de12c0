// Package features has the table of what a deployed project can switch on and off, and which lines of kustomizations
// that are: the same for the command that changes them and for charts, whose values replace them.
//
// A feature is a kustomize component in config/<name>, or some lines of the kustomizations that kubebuilder writes,
// which are in comments while the feature is off.
package features

import (
	"path"
	"slices"
	"strings"
)

// A Feature is a row of the table.
type Feature struct {
	Name  string // as a command has it, and of the folder of its component below config
	Value string // of a chart, under which it is switched
	What  string // is there with it, in a sentence

	// Entries are its lines in projects of kubebuilder. The first one that a project has says whether the feature is
	// on. A feature without any is the folder of its name, among the resources.
	Entries []Entry
	// Files have to be there for these lines to build.
	Files []string
	// Needs are the features without which it does not work: each of them that is on stays on with it, unless the one
	// that it excludes takes its place.
	Needs []string
	// ComponentNeeds are those that its component needs besides.
	ComponentNeeds []string
	// Excludes is the feature in whose place it is.
	Excludes string
	// ServesWebhooks has the manager's webhooks called: code that sets some up does not start or is not ready without
	// it.
	ServesWebhooks bool
}

// An Entry is an item of a list of a kustomization.
type Entry struct {
	List string // components, resources, patches, replacements or vars
	// Item matches it: a path, or kind and name of the object that a replacement or a variable reads. A * stands for
	// any text.
	Item   string
	Folder string // of the kustomization, below config; "" is config/default
	With   string // a feature without which the item is off: it is about that one, too
	// Mounts is the feature that makes the Secret which the item has mounted. Something else may make it as well, so it
	// is not switched on, but it is not switched off either while the item is listed.
	Mounts string
}

// Table lists the features in the order of their lines: a component sees what those above it made. Those that test and
// deliver a project are not deployed, so they are not here.
func Table() []Feature {
	return []Feature{
		{
			Name: "metrics", Value: "metrics", What: "The manager serves metrics over HTTPS to clients with the role metrics-reader.",
			Entries: []Entry{
				{List: "resources", Item: "*metrics_service.yaml"},
				{List: "patches", Item: "manager_metrics_patch.yaml"},
				{List: "patches", Item: "manager_auth_proxy_patch.yaml"}, // kubebuilder 2 and 3
				{List: "resources", Item: "auth_proxy_*.yaml", Folder: "rbac"},
				{List: "replacements", Item: "Service/*metrics-service", With: "metrics-tls"},
			},
		},
		{
			Name: "prometheus", Value: "prometheus", What: "Prometheus collects the metrics. This needs the Prometheus operator.",
			Needs: []string{"metrics"}, ComponentNeeds: []string{"metrics-tls"},
		},
		{Name: "alerts", Value: "alerts", What: "Prometheus raises alerts about the manager."},
		{Name: "dashboard", Value: "dashboard", What: "A Grafana dashboard for the manager's metrics."},
		{
			Name: "webhook", Value: "webhook", What: "The API server calls the manager's webhooks. They need a certificate.",
			Entries:        []Entry{{List: "resources", Item: "../webhook"}, {List: "patches", Item: "manager_webhook_patch.yaml", Mounts: "certmanager"}},
			ComponentNeeds: []string{"certmanager", "selfcert"}, ServesWebhooks: true,
		},
		{
			Name: "certmanager", Value: "certManager", What: "cert-manager issues the manager's certificate. This needs cert-manager in the cluster.",
			Entries: []Entry{
				{List: "resources", Item: "../certmanager"},
				{List: "patches", Item: "*webhookcainjection_patch.yaml", With: "webhook"},
				{List: "vars", Item: "Certificate/serving-cert", With: "webhook"},
				{List: "vars", Item: "Service/webhook-service", With: "webhook"},
				{List: "replacements", Item: "Service/*webhook-service", With: "webhook"},
				{List: "replacements", Item: "Certificate/*", With: "webhook"},
				{List: "replacements", Item: "Issuer/*", With: "webhook"},
				{List: "replacements", Item: "Service/*metrics-service", With: "metrics-tls"},
			},
			Excludes: "selfcert",
		},
		{Name: "selfcert", Value: "selfCert", What: "The manager issues its own certificate and keeps it in a Secret.", Excludes: "certmanager"},
		{
			Name: "metrics-tls", Value: "metrics.tls", What: "The manager serves metrics with the certificate of webhooks, which collectors can verify.",
			Entries: []Entry{
				{List: "patches", Item: "cert*_metrics_manager_patch.yaml"},
				{List: "patches", Item: "monitor_tls_patch.yaml", Folder: "prometheus", With: "prometheus"},
			},
			Files: []string{"config/default/cert_metrics_manager_patch.yaml", "config/certmanager/certificate-metrics.yaml"},
			Needs: []string{"metrics", "certmanager", "selfcert"},
		},
		{Name: "ha", Value: "ha", What: "Two managers run on different nodes: one is active, the other is on standby."},
		{Name: "pprof", Value: "pprof", What: "The manager serves profiles to users who may forward a port of its pod."},
		{Name: "network-policy", Value: "networkPolicy", What: "Only the API server, at the webhooks, and collectors of metrics reach the manager."},
		{Name: "egress", Value: "egress", What: "The manager reaches only DNS and the API server."},
		{Name: "tracing", Value: "tracing", What: "The manager sends spans to an OpenTelemetry collector."},
		{Name: "vap", Value: "vap", What: "ValidatingAdmissionPolicies check objects by the rules of their kinds."},
		{Name: "namespaced", Value: "namespaced", What: "The manager watches only the release's namespace and has permissions only there."},
	}
}

// Of is the row of a name; one that is not in the table has nothing but that.
func Of(name string) Feature {
	all := Table()
	if i := slices.IndexFunc(all, func(f Feature) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return Feature{Name: name}
}

// Component is the line of the feature's component.
func (f Feature) Component() Entry { return Entry{List: "components", Item: "../" + f.Name} }

// Lines are those of projects of kubebuilder: see [Feature.Entries].
func (f Feature) Lines() []Entry {
	if len(f.Entries) > 0 {
		return f.Entries
	}
	return []Entry{{List: "resources", Item: "../" + f.Name}}
}

// Without are the lines that go with it in projects of kubebuilder: its own, and those of others that are about it or
// need it.
func (f Feature) Without() []Entry {
	all := slices.Clone(f.Lines())
	for _, other := range Table() {
		for _, e := range other.Entries {
			if e.With == f.Name || e.With != "" && slices.Contains(Of(e.With).Needs, f.Name) || len(other.Files) > 0 && slices.Contains(other.Needs, f.Name) {
				all = append(all, e)
			}
		}
	}
	return all
}

// In reports whether a list of a kustomization may have the entry: older ones have others.
func (e Entry) In(list string) bool {
	return list == e.List || e.List == "resources" && list == "bases" || e.List == "patches" && list == "patchesStrategicMerge"
}

// Is reports whether an item of that list, as YAML has it, is the entry.
func (e Entry) Is(item any) bool {
	if text := PathOf(item); text != "" {
		return e.matches(text)
	}
	fields, _ := item.(map[string]any)
	for _, key := range []string{"source", "objref"} {
		if object, ok := fields[key].(map[string]any); ok {
			kind, _ := object["kind"].(string)
			name, _ := object["name"].(string)
			return e.matches(kind + "/" + name)
		}
	}
	return false
}

// PathOf is the file or folder that an item of a list names, or "".
func PathOf(item any) string {
	text, _ := item.(string)
	fields, _ := item.(map[string]any)
	if file, isPatch := fields["path"].(string); isPatch {
		text = file
	}
	if text == "" {
		return ""
	}
	return path.Clean(text)
}

func (e Entry) matches(text string) bool {
	if before, after, any := strings.Cut(e.Item, "*"); any {
		return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
	}
	return text == e.Item
}
