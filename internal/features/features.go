// Package features has the table of what a project can switch on and off: [Table]. One row has all that commands and
// charts know about a feature: its lines in kustomizations, the features and the manager's Deployment and code that it
// needs, and the code that it adds. Charts read the same rows; their values replace the lines.
//
// A deployed feature is a kustomize component in config/<name>. In projects of kubebuilder it is some lines of
// kubebuilder's kustomizations instead, which are commented while the feature is off. A feature that tests or delivers
// the project is code alone.
package features

import "slices"

// A Name is a feature's name in commands, and that of its component's folder below config.
type Name string

const (
	Metrics       Name = "metrics"
	Prometheus    Name = "prometheus"
	Alerts        Name = "alerts"
	Dashboard     Name = "dashboard"
	WebhookServer Name = "webhook"
	CertManager   Name = "certmanager"
	SelfCert      Name = "selfcert"
	MetricsTLS    Name = "metrics-tls"
	HA            Name = "ha"
	PProf         Name = "pprof"
	NetworkPolicy Name = "network-policy"
	Egress        Name = "egress"
	Tracing       Name = "tracing"
	Policies      Name = "vap"
	Namespaced    Name = "namespaced"
	Migration     Name = "storage-migration"
	EndToEnd      Name = "e2e"
	Workflow      Name = "ci"
)

// A Feature is a row of the table.
type Feature struct {
	Name  Name
	Value string // the chart's value that switches it; "" for a feature that is not deployed
	What  string // what the feature provides, in a sentence

	// Entries are the lines in projects of kubebuilder. The first one that a project has decides whether the feature is
	// on. Without entries, the line is the feature's folder in resources.
	Entries []Entry
	// Files must exist for these lines to build.
	Files []string
	// Needs are features that this one depends on: it is enabled with them, and they cannot be disabled while it is on.
	// Of two that exclude each other, one is enough.
	Needs []Name
	// ComponentNeeds are further needs of the component, which kubebuilder's lines do not have.
	ComponentNeeds []Name
	// Excludes is the alternative to this feature: at most one of them is on.
	Excludes Name
	// ServesWebhooks means that the API server calls the manager's webhooks. Without such a feature, a manager that
	// sets up webhooks does not start or is never ready.
	ServesWebhooks bool

	// Deployment is how the feature's files depend on the manager's Deployment.
	Deployment Relation
	// Objects means that the feature has objects in the manager's namespace.
	Objects bool
	// MetricsService means that the feature selects the Service of the manager's metrics.
	MetricsService bool
	// Names means that the feature needs the files in config/default that build compound names.
	Names bool
	// Requires is what the manager's code must have.
	Requires Requirements
	// Adds is the code that the feature adds to the project.
	Adds Code
	// Generated means that generators write something for the feature, such as permissions of its code.
	Generated bool
}

// A Relation is how a feature's files depend on the manager's Deployment.
type Relation int

// Each relation includes those before it.
const (
	Unrelated Relation = iota
	Selects            // files name the Deployment, or select its pods
	Patches            // files change the Deployment
)

// Requirements are what the manager's code needs to start with the feature and to serve it.
type Requirements struct {
	Flags []Flag // that the component passes
	// Option is a field of the manager's options that the code must set, and OptionCode shows how. WithoutOption
	// describes the problem if it does not.
	Option, OptionCode, WithoutOption string
}

// A Flag is a command-line flag of the manager.
type Flag struct {
	Name string
	Code string // defines and uses the flag, for users to add
}

// Code is what a feature adds to the project's code. Disabling the feature removes it.
type Code struct {
	Files []File
	// Call is the function of internal/manager that main.go calls with the manager, and Doing describes it in errors.
	// If ForOthers is set, the manager must be one of `slipway init`: others are refused with it and OthersHint.
	Call, Doing, ForOthers, OthersHint string
	// Modules are the modules that the code imports. If Pinned is set, a new project does not require the first one.
	Modules []string
	Pinned  bool
}

// A File is a template and its path in the project. Both may be folders.
type File struct{ Template, Path string }

// Deployed reports whether the feature is a part of what is deployed. Another feature is code alone, and is on while
// its code exists.
func (f Feature) Deployed() bool { return f.Value != "" }

// IssuesCertificates reports whether the feature issues the manager's certificate.
func (f Feature) IssuesCertificates() bool { return f.Excludes != "" }

// Folder is the layouts' folder for the feature's component.
func (f Feature) Folder() string { return "config/" + string(f.Name) }

// Component is the line of the feature's component.
func (f Feature) Component() Entry { return Entry{List: "components", Item: "../" + string(f.Name)} }

// Lines returns the feature's lines in projects of kubebuilder: see [Feature.Entries].
func (f Feature) Lines() []Entry {
	if len(f.Entries) > 0 {
		return f.Entries
	}
	return []Entry{{List: "resources", Item: "../" + string(f.Name)}}
}

// Without returns the lines that are off in projects of kubebuilder while the feature is off: its own, and those of
// other features that depend on it or need it.
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

// Deployed returns the rows of features that are deployed.
func Deployed() []Feature {
	return slices.DeleteFunc(Table(), func(f Feature) bool { return !f.Deployed() })
}

// Names returns the names of all features in the order of the table.
func Names() (names []Name) {
	for _, row := range Table() {
		names = append(names, row.Name)
	}
	return names
}

// Parse returns the feature with this name. It also accepts cert-manager, as that project spells itself.
func Parse(name string) (Name, bool) {
	if name == "cert-manager" {
		return CertManager, true
	}
	return Name(name), slices.Contains(Names(), Name(name))
}

// Of returns the row of a feature; an unknown one has only its name.
func Of(name Name) Feature {
	all := Table()
	if i := slices.IndexFunc(all, func(f Feature) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return Feature{Name: name}
}
