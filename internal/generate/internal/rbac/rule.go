package rbac

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/edition"
)

// rule is a policy rule as Kubernetes' API writes it. Its lists are sorted sets.
type rule struct {
	Groups        []string `json:"apiGroups,omitempty"`
	URLs          []string `json:"nonResourceURLs,omitempty"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	Verbs         []string `json:"verbs"`
}

// rulesOf is a permission as rules for one resource each, or one rule when it
// names none.
func rulesOf(p permission, e edition.Roles) []*rule {
	groups := p.Groups
	if e.CoreFirst {
		groups = groupNames(groups)
	}
	one := func(resources ...string) *rule {
		return &rule{
			Groups:        set(groups),
			URLs:          set(p.URLs),
			ResourceNames: set(p.ResourceNames),
			Resources:     resources,
			Verbs:         set(p.Verbs),
		}
	}
	switch {
	case !e.Split:
		return []*rule{one(set(p.Resources)...)}
	case len(p.Resources) == 0 && e.KeepURLs:
		return []*rule{one()}
	}
	var rules []*rule
	for _, resource := range p.Resources {
		rules = append(rules, one(resource))
	}
	return rules
}

// groupNames replaces "core", which people write for the group without a name.
func groupNames(groups []string) []string {
	names := slices.Clone(groups)
	for i, name := range names {
		if name == "core" {
			names[i] = ""
		}
	}
	return names
}

// set is the sorted set of the strings; without any it is nil.
func set(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// merge says the same with as few rules as the oracle does, in its order.
func merge(rules []*rule, e edition.Roles) []*rule {
	rules = unite(rules, verbs)
	for _, name := range e.Merged {
		rules = unite(rules, fields[name])
		rules = unite(rules, verbs)
	}
	slices.SortStableFunc(rules, func(a, b *rule) int { return strings.Compare(a.order(), b.order()) })
	for _, r := range rules {
		if e.AnyVerb && slices.Contains(r.Verbs, "*") {
			r.Verbs = []string{"*"}
		}
		r.Groups = groupNames(r.Groups)
	}
	return rules
}

// field is one of a rule's lists.
type field func(*rule) *[]string

func groups(r *rule) *[]string    { return &r.Groups }
func resources(r *rule) *[]string { return &r.Resources }
func names(r *rule) *[]string     { return &r.ResourceNames }
func urls(r *rule) *[]string      { return &r.URLs }
func verbs(r *rule) *[]string     { return &r.Verbs }

// fields are the lists by which rules are merged.
var fields = map[string]field{"resources": resources, "groups": groups, "urls": urls}

// unite makes one rule of those that differ in the given list only.
func unite(rules []*rule, list field) []*rule {
	first := make(map[string]*rule)
	var united []*rule
	for _, r := range rules {
		key := r.keyWithout(list)
		into := first[key]
		if into == nil {
			first[key] = r
			united = append(united, r)
			continue
		}
		*list(into) = set(slices.Concat(*list(into), *list(r)))
	}
	return united
}

// keyWithout identifies what r says besides the given list. The oracle joins the
// values just so, and tells neither no group from the one without a name nor "a&b"
// from a and b.
func (r *rule) keyWithout(list field) string {
	var key strings.Builder
	for _, other := range []field{groups, resources, names, urls, verbs} {
		if other(r) == list(r) {
			continue
		}
		key.WriteString(strings.Join(*other(r), "&") + " + ")
	}
	return key.String()
}

// order is what the oracle sorts rules by.
func (r *rule) order() string {
	return strings.Join([]string{
		strings.Join(r.Groups, "&"), strings.Join(r.Resources, "&"),
		strings.Join(r.ResourceNames, "&"), strings.Join(r.URLs, "&"),
	}, " + ")
}
