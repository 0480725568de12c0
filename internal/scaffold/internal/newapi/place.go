package newapi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// inExistingGroup is a kind of the project in the API group that the package of its types says or, for a new package,
// that of another version.
func inExistingGroup(p *plan.Plan, file *project.Project, r project.Resource) project.Resource {
	group := p.Code().Package(file.APIDir(r)).Group
	for _, o := range file.Resources {
		if o.Group != r.Group || !file.Own(o) {
			continue
		}
		if group = cmp.Or(group, o.QualifiedGroup()); group == o.QualifiedGroup() { // as PROJECT has it already
			r.Domain = o.Domain
			return r.InAPIGroup(group)
		}
	}
	if domain, ok := strings.CutPrefix(group, r.Group+"."); ok && r.Group != "" {
		r.Domain = domain
	} else if group == r.Group && group != "" {
		r.Domain = ""
	}
	return r.InAPIGroup(group)
}

// doubledDomain says what a group is called that has the project's domain in it already; "" if it has not.
func (a *planner) doubledDomain() string {
	group, domain := a.resource.Group, a.resource.Domain
	if a.resource.APIGroup != "" || domain == "" || group != domain && !strings.HasSuffix(group, "."+domain) {
		return ""
	}
	text := "the API group is " + a.resource.QualifiedGroup() + ": the project's domain follows the group"
	if short := strings.TrimSuffix(group, "."+domain); short != group {
		text += "; " + group + " has the flag --group " + short
	}
	return text
}

// withoutDot says that API servers refuse the group, if they do: that of a definition is a domain.
func (a *planner) withoutDot() string {
	group := a.resource.QualifiedGroup()
	if strings.Contains(group, ".") || !a.options.Resource {
		return ""
	}
	return fmt.Sprintf("the API group is %q, and API servers refuse a definition whose group has no dot: add a line such as domain: example.com to PROJECT, "+
		"or choose a group such as %s", group, strings.Trim(a.resource.Group+".example.com", "."))
}
