package vet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/builtin"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// unserved are resources of Kubernetes' groups that roles name although no client has them: those of other API servers'
// definitions and of earlier versions, and names by which accounts may act as others or approve certificates.
var unserved = map[string][]string{
	"core":                  {"bindings", "users", "groups"},
	"authentication.k8s.io": {"userextras", "uids", "users", "groups", "serviceaccounts", "nodes"}, // the latter for impersonate:MODE
	"certificates.k8s.io":   {"signers"},
	"policy":                {"podsecuritypolicies"},
	"extensions":            {"podsecuritypolicies"},
	"resource.k8s.io":       {"podschedulingcontexts", "resourceclasses", "resourceclaimparameters", "resourceclassparameters"},
}

// permissions finds permissions for resources that do not exist in Kubernetes' own groups, and misspelt ones in those
// of the project's kinds, which may have other projects' too. What other groups have is not known.
func (v *vetting) permissions() {
	own := map[string][]string{}
	for _, k := range v.kinds {
		r := project.Resource{Kind: k.Name, Plural: k.Plural}
		own[k.Package.Group] = append(own[k.Package.Group], r.PluralName())
	}
	v.addWritten(own)
	for _, f := range v.files {
		for _, p := range source.Permissions(f.name, f.text) {
			v.permission(report.Position{File: f.name, Line: p.Line}, p.Value, own)
		}
	}
}

// addWritten adds definitions in those groups that no code declares, by the names of their files.
func (v *vetting) addWritten(own map[string][]string) {
	made, err := v.code.Generation()
	if err != nil {
		return // reported by what generates
	}
	for _, folder := range made.CRDSets() {
		entries, err := v.code.View().ReadDir(folder)
		if err != nil {
			continue // none is generated yet
		}
		for _, e := range entries {
			group, plural, is := strings.Cut(strings.TrimSuffix(e.Name(), ".yaml"), "_")
			if is && own[group] != nil {
				own[group] = append(own[group], plural)
			}
		}
	}
}

func (v *vetting) permission(at report.Position, p source.Permission, own map[string][]string) {
	groups := p.Groups
	if len(groups) == 0 {
		groups = []string{""}
	}
	for _, resource := range p.Resources {
		name, _, _ := strings.Cut(resource, "/")
		var known []string
		for _, group := range groups {
			there := resourcesOf(group, own)
			if there == nil || name == "*" || slices.Contains(there, name) {
				known = nil // it exists, or may exist, in one of the groups
				break
			}
			known = append(known, there...)
		}
		if known == nil {
			continue
		}
		suggestion := "write the plural that kubectl api-resources shows"
		near := nearest(name, known)
		if near == "" && slices.ContainsFunc(groups, isShared) {
			continue // another project's kind in the same group
		}
		var fix report.Fix
		if near != "" {
			resolved := near + strings.TrimPrefix(resource, name)
			suggestion, fix = "write resources="+resolved, v.argumentFix(at, "resources", resource, resolved)
		}
		v.found = append(v.found, report.Finding{Rule: report.RuleUnknownResource, Position: at, Suggestion: suggestion, Fix: fix,
			Message: fmt.Sprintf("there is no resource %s in the API %s: nothing is permitted", name, groupText(groups))})
	}
}

// isShared reports whether a group may have kinds of other projects too.
func isShared(group string) bool { return group != "" && builtin.Kinds(group) == nil }

// resourcesOf are the resources of a group, nil if they are not known.
func resourcesOf(group string, own map[string][]string) []string {
	if group == "" {
		group = "core"
	}
	all := slices.Clone(own[group])
	if known := builtin.Resources(group); known != nil {
		all = slices.Concat(all, known, unserved[group])
	}
	return all
}

func groupText(groups []string) string {
	var names []string
	for _, g := range groups {
		if g == "" {
			g = "core"
		}
		names = append(names, g)
	}
	if len(names) == 1 {
		return "group " + names[0]
	}
	return "groups " + strings.Join(names, " and ")
}

// nearest is the name that a misspelt one is likely to mean, or "".
func nearest(name string, known []string) string {
	const most = 3 // letters that differ
	best, least := "", most+1
	for _, k := range known {
		if d := spelling.Distance(strings.ToLower(name), k, most); d < least && d < len(k)/2 {
			best, least = k, d
		}
	}
	return best
}
