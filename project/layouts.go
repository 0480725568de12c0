package project

import (
	"cmp"
	"slices"
	"strings"
)

// olderLayouts are the layouts before [Layout], as kubebuilder's and operator-sdk's PROJECT files name them.
var olderLayouts = []string{"go.kubebuilder.io/v2", "go.kubebuilder.io/v3", "go.kubebuilder.io/v3-alpha"}

// IsV2 reports whether the file is of version 1 or 2. Version 2 records of a kind its group, version and name alone,
// and version 1 records no kinds. Neither names a layout: it is that of go.kubebuilder.io/v2, or before it.
func (p *Project) IsV2() bool { return p.Version == "1" || p.Version == "2" }

// Older reports whether the project has the folders of go.kubebuilder.io/v2 and v3: main.go in the project's own
// folder, controllers/, apis/ with several groups, and webhooks beside the types.
func (p *Project) Older() bool {
	return p.IsV2() || slices.ContainsFunc(p.Layout, func(l string) bool { return slices.Contains(olderLayouts, l) })
}

// KnownLayout reports whether the project's layout is one whose folders this package knows.
func (p *Project) KnownLayout() bool {
	return p.Older() || slices.ContainsFunc(p.Layout, func(l string) bool { return strings.HasPrefix(l, Layout) })
}

// WebhooksBesideTypes reports whether r's webhooks are in the package of its types. Types of other modules have no
// place for them in any layout.
func (p *Project) WebhooksBesideTypes(r Resource) bool {
	return p.Older() && !r.Core && !r.External && p.Folders.Webhooks == ""
}

// MainFile is the file with the manager's main function, where the layout has it.
func (p *Project) MainFile() string { return p.folders().main }

// folders are where a layout has things.
type folders struct {
	groups      string // the folders of several groups' types
	controllers string
	main        string
}

func (p *Project) folders() folders {
	f := folders{groups: "api", controllers: "internal/controller", main: "cmd/main.go"}
	if p.Older() {
		f = folders{groups: "apis", controllers: "controllers", main: "main.go"}
	}
	f.controllers = cmp.Or(p.Folders.Controllers, f.controllers)
	return f
}

// Line is the line of a key at the top of the file that the project was read from, or of the key's first value if that
// is a list; 0 without one.
func (p *Project) Line(key string) int {
	if p.doc == nil {
		return 0
	}
	node, ok := lookup(p.doc.Content[0], key)
	if !ok {
		return 0
	}
	return node.Line
}
