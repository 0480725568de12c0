package rbac

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/edition"
)

func TestMerge(t *testing.T) {
	tests := []struct {
		name        string
		permissions []permission
		want        []*rule
	}{
		{"none", nil, nil},
		{
			"verbs of the same resource",
			[]permission{
				{Groups: []string{"g"}, Resources: []string{"r"}, Verbs: []string{"list", "get"}},
				{Groups: []string{"g"}, Resources: []string{"r"}, Verbs: []string{"get", "watch"}},
			},
			[]*rule{{Groups: []string{"g"}, Resources: []string{"r"}, Verbs: []string{"get", "list", "watch"}}},
		},
		{
			"resources, then groups",
			[]permission{
				{Groups: []string{"g"}, Resources: []string{"b", "a"}, Verbs: []string{"get"}},
				{Groups: []string{"f"}, Resources: []string{"a"}, Verbs: []string{"get"}},
				{Groups: []string{"f"}, Resources: []string{"b"}, Verbs: []string{"get"}},
			},
			[]*rule{{Groups: []string{"f", "g"}, Resources: []string{"a", "b"}, Verbs: []string{"get"}}},
		},
		{
			"every verb",
			[]permission{{Groups: []string{"core"}, Resources: []string{"r"}, Verbs: []string{"get", "*"}}},
			[]*rule{{Groups: []string{""}, Resources: []string{"r"}, Verbs: []string{"*"}}},
		},
		{
			"names keep rules apart",
			[]permission{
				{Resources: []string{"r"}, ResourceNames: []string{"n"}, Verbs: []string{"get"}},
				{Resources: []string{"r"}, Verbs: []string{"get"}},
			},
			[]*rule{
				{Resources: []string{"r"}, Verbs: []string{"get"}},
				{Resources: []string{"r"}, ResourceNames: []string{"n"}, Verbs: []string{"get"}},
			},
		},
		{
			"no group and the group without a name are one to the oracle",
			[]permission{
				{Resources: []string{"r"}, Verbs: []string{"get"}},
				{Groups: []string{"core"}, Resources: []string{"r"}, Verbs: []string{"list"}},
			},
			[]*rule{{Resources: []string{"r"}, Verbs: []string{"get", "list"}}},
		},
		{
			"nothing is lost when groups meet",
			[]permission{
				{Groups: []string{"f"}, Resources: []string{"r"}, Verbs: []string{"get"}},
				{Groups: []string{"g"}, Resources: []string{"r"}, Verbs: []string{"get"}},
				{Groups: []string{"f", "g"}, Resources: []string{"r"}, Verbs: []string{"list"}},
			},
			[]*rule{{Groups: []string{"f", "g"}, Resources: []string{"r"}, Verbs: []string{"get", "list"}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, merged(test.permissions)); diff != "" {
				t.Errorf("rules differ (-want +got):\n%s", diff)
			}
		})
	}
}

func merged(permissions []permission) []*rule {
	newest := edition.For(edition.Newest).Roles
	var rules []*rule
	for _, p := range permissions {
		rules = append(rules, rulesOf(p, newest)...)
	}
	return merge(rules, newest)
}

// TestMergeKeepsMeaning: random permissions are all granted by the merged rules,
// nothing else is, and their order does not matter.
func TestMergeKeepsMeaning(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) []string {
		random.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		return from[:1+random.IntN(len(from))]
	}
	for range 300 {
		var permissions []permission
		for range 1 + random.IntN(8) {
			permissions = append(permissions, permission{
				Groups: pick("f", "g", ""), Resources: pick("r", "s", "t"), Verbs: pick("get", "list", "watch"),
			})
		}
		want := granted(permissions)
		first := merged(permissions)
		if diff := cmp.Diff(want, grantedBy(first)); diff != "" {
			t.Fatalf("%v: grants differ (-want +got):\n%s", permissions, diff)
		}
		slices.Reverse(permissions)
		if diff := cmp.Diff(first, merged(permissions)); diff != "" {
			t.Fatalf("%v: the order matters (-first +reversed):\n%s", permissions, diff)
		}
	}
}

type grant struct{ group, resource, verb string }

func granted(permissions []permission) map[grant]bool {
	var rules []*rule
	for _, p := range permissions {
		rules = append(rules, rulesOf(p, edition.For(edition.Newest).Roles)...)
	}
	return grantedBy(rules)
}

func grantedBy(rules []*rule) map[grant]bool {
	grants := make(map[grant]bool)
	for _, r := range rules {
		for _, g := range r.Groups {
			for _, resource := range r.Resources {
				for _, v := range r.Verbs {
					grants[grant{g, resource, v}] = true
				}
			}
		}
	}
	return grants
}
