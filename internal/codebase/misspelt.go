package codebase

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/builtin"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// NearestKind returns the resource of which exactly the kind or the group is misspelt, or nil. The version must match.
func NearestKind(there []project.Resource, group, version, kind string) *project.Resource {
	const mayDiffer = 2
	best, distance := (*project.Resource)(nil), mayDiffer+1
	for _, r := range there {
		d := spelling.Distance(strings.ToLower(kind), strings.ToLower(r.Kind), mayDiffer)
		if r.Kind == kind {
			d = spelling.Distance(group, r.Group, mayDiffer)
		}
		if d < distance && (r.Kind == kind) != (r.Group == group) && r.Version == version {
			best, distance = &r, d
		}
	}
	return best
}

// NearestGroup returns the Kubernetes group whose name differs from this one in one letter, or "".
func NearestGroup(group string) string {
	best, distance := "", 2
	for _, core := range project.CoreGroups() {
		if d := spelling.Distance(group, core, distance); d > 0 && d < distance {
			best, distance = core, d
		}
	}
	return best
}

func builtinKinds() (all []project.Resource) {
	for _, group := range project.CoreGroups() {
		r := project.Resource{Group: group, Core: true}
		r.Domain, _ = project.CoreDomain(group)
		name := group
		if qualified := r.QualifiedGroup(); qualified != "" {
			name = qualified
		}
		for _, k := range builtin.Kinds(name) {
			r.Version, r.Kind = k.Version, k.Name
			all = append(all, r)
		}
	}
	return all
}

// CheckBuiltin refuses a kind that Kubernetes does not have in the group. Its error suggests the likely kind, with the
// command from again. Slipway knows the kinds of one Kubernetes release. If go.mod requires libraries of another, only
// a misspelt name is refused, and unknown says what was not checked.
func (v Versions) CheckBuiltin(r project.Resource, again func(project.Resource) string) (unknown string, err error) {
	all := builtinKinds()
	var named []project.Resource // with this kind in any group
	var kinds []string           // in this group
	for _, o := range all {
		switch {
		case o.Group == r.Group && o.Version == r.Version && o.Kind == r.Kind:
			return "", nil
		case o.Group == r.Group && o.Kind == r.Kind:
			named = slices.Insert(named, 0, o)
		case o.Kind == r.Kind:
			named = append(named, o)
		case o.Group == r.Group:
			kinds = append(kinds, o.Kind)
		}
	}
	near := NearestKind(all, r.Group, r.Version, r.Kind)
	if release := semver.MajorMinor(v.types); near == nil && release != builtin.Release() {
		return fmt.Sprintf("not checked whether Kubernetes has the kind %s in %s: go.mod requires libraries of %s, and slipway knows the kinds of %s",
			r.Kind, r.APIVersion(), cmp.Or(release, "another release"), builtin.Release()), nil
	}
	refusal := &report.Error{What: fmt.Sprintf("Kubernetes has no kind %s in %s", r.Kind, r.APIVersion()), Where: fmt.Sprintf("--group %s --version %s --kind %s", r.Group, r.Version, r.Kind)}
	if near == nil && len(named) > 0 {
		near = &named[0]
	}
	if near != nil {
		refusal.Hint = fmt.Sprintf("nothing was changed; did you mean %s in %s?", near.Kind, near.APIVersion())
		refusal.Next = again(*near)
		return "", refusal
	}
	slices.Sort(kinds)
	refusal.Hint = "nothing was changed; the kinds of this group are " + strings.Join(slices.Compact(kinds), ", ")
	return "", refusal
}
