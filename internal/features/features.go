// Package features has the table of what a project can switch on and off: [Table]. One row says all that the commands
// and charts must know about a feature: its lines in kustomizations, what it needs of other features, of the manager's
// Deployment and of the manager's code, and what it adds to that code. Charts read the same rows: their values replace
// the lines.
//
// A deployed feature is a kustomize component in config/<name>, or some lines of the kustomizations that kubebuilder
// writes, which are in comments while the feature is off. A feature that tests or delivers the project is code alone.
package features

import "slices"

// A Name is a feature's in commands, and that of the folder of its component below config.
type Name string

// The features.
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
	EndToEnd      Name = "e2e"
	Workflow      Name = "ci"
)

// A Feature is a row of the table.
type Feature struct {
	Name  Name
	Value string // under which a chart switches it; "" for a feature that is not deployed
	What  string // what is there with it, in a sentence

	// Entries are its lines in projects of kubebuilder. The first one that a project has says whether the feature is
	// on. A feature without any is the folder of its name, among the resources.
	Entries []Entry
	// Files have to be there for these lines to build.
	Files []string
	// Needs are the features without which it does not work: each of them that is on stays on with it, unless the one
	// that it excludes takes its place.
	Needs []Name
	// ComponentNeeds are those that its component needs besides.
	ComponentNeeds []Name
	// Excludes is the feature in whose place it is.
	Excludes Name
	// ServesWebhooks has the manager's webhooks called: code that sets some up does not start or is not ready without
	// it.
	ServesWebhooks bool

	// Deployment is what its files have to do with the manager's Deployment.
	Deployment Relation
	// Objects reports whether it has objects in the manager's namespace.
	Objects bool
	// MetricsService reports whether it selects the Service of the manager's metrics.
	MetricsService bool
	// Names reports whether it needs the files in config/default that put names together.
	Names bool
	// Requires is what the manager's code must have.
	Requires Requirements
	// Adds is what it adds to the code of the project.
	Adds Code
}

// A Relation is that of a feature's files to the manager's Deployment.
type Relation int

// Relations, each of which includes those before it.
const (
	Unrelated Relation = iota
	Selects            // they name it, or select its pods
	Patches            // they change it
)

// Requirements are what a manager needs to have so that it starts with the feature, and serves what it is for.
type Requirements struct {
	Flags []Flag // that the component passes
	// Option is a field that the code must set, in what it makes the manager with; WithoutOption is what is wrong
	// otherwise.
	Option, OptionCode, WithoutOption string
}

// A Flag is one of the manager's.
type Flag struct {
	Name string
	Code string // defines it and uses its value, for people to add
}

// Code is what a feature adds to the project's code, which goes when the feature is switched off.
type Code struct {
	Files []File
	// Call is the function of the package internal/manager that main.go calls with the manager; Doing describes it in
	// errors. The manager must be one of `slipway init`: ForOthers is the refusal of others, and OthersHint what to do.
	Call, Doing, ForOthers, OthersHint string
	// Modules are those that the code imports. The first one is not among those of a new project if Pinned is set.
	Modules []string
	Pinned  bool
}

// A File is one that a template has, or a folder that a folder of templates has.
type File struct{ Template, Path string }

// Deployed reports whether the feature is a part of what is deployed. One that is not consists of code alone: it is on
// while that is there.
func (f Feature) Deployed() bool { return f.Value != "" }

// IssuesCertificates reports whether the feature is one of those that have the manager's certificate issued.
func (f Feature) IssuesCertificates() bool { return f.Excludes != "" }

// Folder is where layouts have the files of its component.
func (f Feature) Folder() string { return "config/" + string(f.Name) }

// Component is the line of the feature's component.
func (f Feature) Component() Entry { return Entry{List: "components", Item: "../" + string(f.Name)} }

// Lines are those of projects of kubebuilder: see [Feature.Entries].
func (f Feature) Lines() []Entry {
	if len(f.Entries) > 0 {
		return f.Entries
	}
	return []Entry{{List: "resources", Item: "../" + string(f.Name)}}
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

// Deployed are the rows of those that are deployed.
func Deployed() []Feature {
	return slices.DeleteFunc(Table(), func(f Feature) bool { return !f.Deployed() })
}

// Names lists the names of all features in the order of the table.
func Names() (names []Name) {
	for _, row := range Table() {
		names = append(names, row.Name)
	}
	return names
}

// Parse returns the feature of a name; cert-manager may be spelt as its project does.
func Parse(name string) (Name, bool) {
	if name == "cert-manager" {
		return CertManager, true
	}
	return Name(name), slices.Contains(Names(), Name(name))
}

// Of is the row of a name; one that is not in the table has nothing but that.
func Of(name Name) Feature {
	all := Table()
	if i := slices.IndexFunc(all, func(f Feature) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return Feature{Name: name}
}
