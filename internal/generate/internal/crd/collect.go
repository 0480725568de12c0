package crd

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

const namespaced = "Namespaced"

// collector makes the definitions of one pass.
type collector struct {
	pass     *generator.Pass
	options  schema.Options
	printing printing
	builder  *schema.Builder
}

func newCollector(pass *generator.Pass, options schema.Options, printing printing) *collector {
	c := &collector{pass: pass, options: options, printing: printing}
	c.builder = c.newBuilder()
	return c
}

func (c *collector) newBuilder() *schema.Builder {
	return schema.NewBuilder(c.pass.Loader, c.options)
}

// collect makes the definitions of all groups but those whose files can stay, which it keeps.
func (c *collector) collect() ([]printed, groups) {
	packages := apiPackages(c.pass.Roots)
	kinds := sortedKinds(packages, c.kindsOf)
	groups := c.groupsOf(kinds, packages)
	standing := groups.standing()
	all := c.defineAll(kinds, packages, standing)
	if mixed := groups.anyOf(c.reached()); mixed && len(standing) > 0 {
		c.builder = c.newBuilder() // which has reached nothing yet
		return c.defineAll(kinds, packages, nil), groups
	}
	for name := range standing {
		groups[name].Keep()
	}
	return all, groups
}

// defineAll makes the definitions of the kinds whose groups do not stand, each of which is printed while the next is
// made.
func (c *collector) defineAll(kinds []kind, packages []apiPackage, standing map[string]bool) []printed {
	press := c.printing.start()
	for _, k := range kinds {
		if standing[k.group] {
			continue
		}
		if d := c.define(k, c.withReached(packages)); d != nil {
			press.print(d)
		}
	}
	return press.end()
}

// withReached adds the packages that are no roots and that types of kinds so far
// refer to. Like controller-gen, what comes after looks for versions of its kinds
// there too.
func (c *collector) withReached(roots []apiPackage) []apiPackage {
	reached := slices.DeleteFunc(c.builder.Reached(), func(p *load.Package) bool { return p.Root })
	return slices.Concat(roots, apiPackages(reached))
}

// apiPackages are those that may declare kinds.
func apiPackages(all []*load.Package) []apiPackage {
	var packages []apiPackage
	for _, root := range all {
		values := root.Markers()
		group, ok := marker.Get[string](values, "groupName")
		nameless := !ok && !root.Loader().Edition().Schemas.Grouped
		if root.Broken() || values.Has("kubebuilder:skip") || nameless {
			readMarkers(root)
			continue
		}
		p := apiPackage{Package: root}
		if ok {
			p.group, p.version = group, root.Name()
			if version, ok := marker.Get[string](values, "versionName"); ok {
				p.version = version
			}
		}
		packages = append(packages, p)
	}
	return packages
}

// readMarkers reads the markers of all types of a package that is passed over: what
// is wrong with one of them is wrong.
func readMarkers(p *load.Package) {
	for _, d := range p.Decls() {
		d.Markers()
	}
}

// isKind reports whether a type embeds metav1's TypeMeta and ObjectMeta. Those of metav1 itself are no kinds.
func isKind(d *load.TypeDecl) bool {
	d.Markers() // what is wrong with them is reported, be it a kind or not
	return d.Package.Path != source.MetaPath && source.IsKind(d.Spec, func(expr ast.Expr) bool {
		t := d.TypeOf(expr)
		return t.Kind == load.Named && t.Decl.Package.Path == source.MetaPath
	})
}

// define makes the definition of a kind, or nil when no version is left of it.
func (c *collector) define(k kind, packages []apiPackage) *definition {
	d := &definition{
		Group:    k.group,
		Kind:     k.name,
		Plural:   project.Plural(k.name),
		Singular: strings.ToLower(k.name),
		Scope:    namespaced,
	}
	var decls []*load.TypeDecl // of each version
	for _, p := range packages {
		if p.group != k.group {
			continue
		}
		if decl := p.Decl(k.name); decl != nil {
			flat := c.builder.Flat(decl)
			if size := c.builder.Extent(flat); size > largest {
				c.fail(decl.File.Position(decl.Spec.Pos()), "the schema of %s is too large: about %.2g bytes; API servers accept a few million", k.name, size)
				return nil
			}
			d.Versions = append(d.Versions, &version{Name: p.version, Served: true, Schema: withPlainMetadata(flat), decl: decl})
			decls = append(decls, decl)
		}
	}
	for i, decl := range decls {
		c.apply(decl, d, d.named(d.Versions[i].Name))
	}
	d.skip()
	if len(d.Versions) == 0 {
		return nil
	}
	slices.SortStableFunc(d.Versions, func(a, b *version) int { return strings.Compare(a.Name, b.Name) })
	c.checkVersions(d, decls[len(decls)-1])
	return d
}

// largest is the size from which a schema is not written: a hundred times what
// an API server takes.
const largest = 150 << 20

func (c *collector) apply(decl *load.TypeDecl, d *definition, v *version) {
	values := decl.Markers()
	for i := range values {
		m, ok := modifierOf(values[i].Data)
		if !ok {
			continue
		}
		if err := m.modify(d, v); err != nil {
			c.fail(decl.File.Position(values[i].Pos), "+%s: %v", values[i].Definition.Name, err)
		}
	}
}

// checkVersions settles which version is stored, and that one is served.
func (c *collector) checkVersions(d *definition, decl *load.TypeDecl) {
	if len(d.Versions) == 1 {
		d.Versions[0].Storage = true
	}
	at := decl.File.Position(decl.Spec.Pos())
	if !slices.ContainsFunc(d.Versions, func(v *version) bool { return v.Storage }) {
		c.fail(at, "%s has several versions but no storage version; add +kubebuilder:storageversion to one", d.Kind)
	}
	if !slices.ContainsFunc(d.Versions, func(v *version) bool { return v.Served }) {
		c.fail(at, "%s has no served version; remove +kubebuilder:unservedversion from one", d.Kind)
	}
}

func (c *collector) fail(at report.Position, format string, args ...any) {
	c.pass.Report(report.Finding{Rule: report.RuleInvalidKind, Position: at, Message: fmt.Sprintf(format, args...), Fatal: true})
}

// withPlainMetadata is s with nothing said about its metadata: the API server
// knows better.
func withPlainMetadata(s *schema.Schema) *schema.Schema {
	if s.Properties["metadata"] == nil {
		return s
	}
	out := *s
	out.Properties = maps.Clone(s.Properties)
	out.Properties["metadata"] = &schema.Schema{Type: "object"}
	return &out
}
