package project

import (
	"cmp"
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/inflection"
)

// Plural returns the usual plural of a kind: lower case, by English rules. It is
// the plural that controller-gen gives a CRD without a `path` of its own. Letters get
// lower case after the rules, which take them for hints where words begin: of ApiExampleA
// there are apiexampleas, though "apiexamplea" looks like a Latin plural.
func Plural(kind string) string {
	return strings.ToLower(inflection.Plural(kind))
}

// PluralName is the name of r's resource in URLs: "cronjobs".
func (r Resource) PluralName() string {
	if r.Plural != "" {
		return r.Plural
	}
	return Plural(r.Kind)
}

// HasOwnPlural says whether the plural is not the usual one.
func (r Resource) HasOwnPlural() bool { return r.PluralName() != Plural(r.Kind) }

// QualifiedGroup is the API group: "batch.example.com"; that of pods and the like has no name.
func (r Resource) QualifiedGroup() string {
	switch {
	case r.APIGroup != "":
		return r.APIGroup
	case r.Core && r.Group == "core":
		return ""
	case r.Group == "":
		return r.Domain
	case r.Domain == "":
		return r.Group
	}
	return r.Group + "." + r.Domain
}

// InAPIGroup is r with the API group that its types' package says; "" is none.
func (r Resource) InAPIGroup(group string) Resource {
	r.APIGroup = ""
	if group == "" || group == r.QualifiedGroup() {
		return r
	}
	r.APIGroup = group
	return r
}

// APIVersion is the group and version as objects name them: "batch.example.com/v1".
func (r Resource) APIVersion() string {
	if group := r.QualifiedGroup(); group != "" {
		return group + "/" + r.Version
	}
	return r.Version
}

// CRDName is the name of the CRD: "cronjobs.batch.example.com".
func (r Resource) CRDName() string { return r.PluralName() + "." + r.QualifiedGroup() }

// SingularName is the kind in lower case: "cronjob".
func (r Resource) SingularName() string { return strings.ToLower(r.Kind) }

// GroupPackage is the group as a part of a Go name: "batch"; dashes and dots go.
func (r Resource) GroupPackage() string { return packageName(r.Group) }

// ImportAlias is the name under which other packages import r's types: "batchv1".
func (r Resource) ImportAlias() string {
	pkg := r.GroupPackage()
	if pkg == "" || startsWithDigit(pkg) {
		pkg = "api" + pkg
	}
	return pkg + r.Version
}

// packageName makes a group a part of a Go name.
func packageName(group string) string {
	return strings.NewReplacer("-", "", ".", "").Replace(group)
}

// APIDir is the folder of r's types, with slashes, relative to the project: the recorded
// one, else the one that follows from the layout. With several groups, a group without a name has its versions in the
// folder of the groups: apis/v1 in an older layout.
func (p *Project) APIDir(r Resource) string {
	if dir, ok := strings.CutPrefix(r.Path, p.Repo+"/"); ok && p.Repo != "" {
		return dir
	}
	if p.MultiGroup {
		return path.Join(p.folders().groups, r.Group, r.Version)
	}
	return path.Join("api", r.Version)
}

// Own reports whether r's types are in the project's own module, or in a folder below it.
func (p *Project) Own(r Resource) bool {
	own := r.Path == "" || strings.HasPrefix(r.Path, p.Repo+"/")
	return r.API != nil && !r.Core && !r.External && own && fs.ValidPath(p.APIDir(r))
}

// ImportPath is the import path of r's types: the recorded one, else the one
// that follows from the layout.
func (p *Project) ImportPath(r Resource) string {
	if r.Path != "" {
		return r.Path
	}
	return path.Join(p.Repo, p.APIDir(r))
}

// ControllerDir is the folder of r's controller.
func (p *Project) ControllerDir(r Resource) string {
	if p.MultiGroup && r.Group != "" {
		return path.Join(p.folders().controllers, r.Group)
	}
	return p.folders().controllers
}

// ControllerPackage is the name of the Go package in [Project.ControllerDir].
func (p *Project) ControllerPackage(r Resource) string {
	if p.MultiGroup && r.Group != "" && !startsWithDigit(r.GroupPackage()) && !p.IsV2() {
		return r.GroupPackage()
	}
	return packageName(path.Base(p.folders().controllers))
}

// ControllerImportAlias is the name under which main.go imports the controller:
// the package's own name, or "batchcontroller" with several groups.
func (p *Project) ControllerImportAlias(r Resource) string {
	usual := packageName(path.Base(p.folders().controllers))
	switch {
	case !p.MultiGroup || r.Group == "":
		return usual
	case p.IsV2():
		usual = "controller"
	}
	return strings.TrimSuffix(r.ImportAlias(), r.Version) + usual
}

// TypesFile is the file of r's types.
func (p *Project) TypesFile(r Resource) string {
	return path.Join(p.APIDir(r), r.SingularName()+"_types.go")
}

// GroupVersionFile is the file that registers the types of r's group and version.
func (p *Project) GroupVersionFile(r Resource) string {
	return path.Join(p.APIDir(r), "groupversion_info.go")
}

// ControllerFile is the file of r's controller.
func (p *Project) ControllerFile(r Resource) string {
	return path.Join(p.ControllerDir(r), r.SingularName()+"_controller.go")
}

// ControllerTestFile is the file of that controller's tests.
func (p *Project) ControllerTestFile(r Resource) string {
	return path.Join(p.ControllerDir(r), r.SingularName()+"_controller_test.go")
}

// NamedControllerFile is the file of a controller for r with a name of its own.
func (p *Project) NamedControllerFile(r Resource, name string) string {
	return path.Join(p.ControllerDir(r), strings.ReplaceAll(name, "-", "_")+"_controller.go")
}

// NamedControllerTestFile is the file of that controller's tests.
func (p *Project) NamedControllerTestFile(r Resource, name string) string {
	return path.Join(p.ControllerDir(r), strings.ReplaceAll(name, "-", "_")+"_controller_test.go")
}

// SuiteTestFile is the file that starts the control plane for controller tests.
func (p *Project) SuiteTestFile(r Resource) string {
	return path.Join(p.ControllerDir(r), "suite_test.go")
}

// WebhookDir is the folder of the webhooks for r's version: beside its types in an older layout.
func (p *Project) WebhookDir(r Resource) string {
	if p.WebhooksBesideTypes(r) {
		return p.APIDir(r)
	}
	dir := cmp.Or(p.Folders.Webhooks, "internal/webhook")
	switch {
	case p.Folders.OneWebhooks:
		return dir
	case p.MultiGroup && r.Group != "" && !p.Folders.UngroupedWebhooks:
		return path.Join(dir, r.Group, r.Version)
	}
	return path.Join(dir, r.Version)
}

// WebhookFile is the file of r's webhooks.
func (p *Project) WebhookFile(r Resource) string {
	return path.Join(p.WebhookDir(r), r.SingularName()+"_webhook.go")
}

// WebhookTestFile is the file of their tests.
func (p *Project) WebhookTestFile(r Resource) string {
	return path.Join(p.WebhookDir(r), r.SingularName()+"_webhook_test.go")
}

// WebhookSuiteTestFile is the file that starts the control plane for those tests.
func (p *Project) WebhookSuiteTestFile(r Resource) string {
	return path.Join(p.WebhookDir(r), "webhook_suite_test.go")
}

// CRDFileName is the name that controller-gen gives the file of r's CRD, in the folder that the project has for CRDs.
func (p *Project) CRDFileName(r Resource) string {
	return r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// SampleFile is the file of r's sample object.
func (p *Project) SampleFile(r Resource) string {
	name := r.Version + "_" + r.SingularName() + ".yaml"
	if r.Group != "" {
		name = r.Group + "_" + name
	}
	return path.Join("config", "samples", name)
}

// RoleFile is the file of the role that gives people access to r; role is
// "admin", "editor" or "viewer".
func (p *Project) RoleFile(r Resource, role string) string {
	return path.Join("config", "rbac", p.RolePrefix(r)+"_"+role+"_role.yaml")
}

// RolePrefix begins the names of those roles' files: "cronjob", or "batch_cronjob"
// with several groups.
func (p *Project) RolePrefix(r Resource) string {
	if p.MultiGroup && r.Group != "" && !p.IsV2() {
		return r.Group + "_" + r.SingularName()
	}
	return r.SingularName()
}
