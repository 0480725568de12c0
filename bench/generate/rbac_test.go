package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestMutatedPermissions draws packages with permissions and compares the roles
// that both programs make of them.
func TestMutatedPermissions(t *testing.T) {
	b := &tempPackages{programs: testPrograms(t), dir: t.TempDir(), generator: "rbac:roleName=manager"}
	writeFiles(t, b.dir, map[string]string{"go.mod": "module example.org/permissions\n\ngo 1.26\n"})
	b.fill(t, int(*seedFlag), int(*mutantsFlag), rbacPackage)
	failing, crashing := b.peerFails(t, b.pkgs)
	if len(crashing) > 0 {
		t.Errorf("controller-gen crashes on %v", slices.Sorted(maps.Keys(crashing)))
	}
	good := b.check(t, failing)
	variants := b.peerRoles(t, good)
	if o := b.run(t, b.slipway, good, "controller-gen"); o.code != 0 {
		b.tellWrongFailures(t, good, true)
		return
	}
	lossy := 0
	ours := b.takeRoles(t)
	for name, document := range ours {
		switch {
		case slices.Contains(variants[name], document):
		case keepsAll(t, document, variants[name]):
			lossy++
		default:
			pkg := regexp.MustCompile(`p\d{4,}`).FindString(name)
			t.Errorf("%s: other bytes than each of %d variants:\n%s\n%s", name, len(variants[name]),
				diffText(t, []byte(strings.Join(variants[name], "")), []byte(document)), describeFiles(b.files[pkg]))
		}
	}
	for name := range variants {
		if ours[name] == "" {
			t.Errorf("%s is not written by us", name)
		}
	}
	t.Logf("%d roles the same, %d of which controller-gen loses permissions by chance and we none, %d packages failed with both", len(ours)-lossy, lossy, len(failing))
	if len(ours) == 0 || len(failing) == 0 {
		t.Error("the draw is of no use: both kinds of packages must occur")
	}
}

// peerRoles runs controller-gen until its chance orders have shown themselves.
func (b *tempPackages) peerRoles(t *testing.T, good []string) map[string][]string {
	t.Helper()
	const runs = 6
	all := make(map[string][]string)
	for range runs {
		if o := b.run(t, b.peer, good); o.code != 0 {
			t.Fatalf("controller-gen fails on what it did not fail on:\n%s", o.output)
		}
		for name, document := range b.takeRoles(t) {
			if !slices.Contains(all[name], document) {
				all[name] = append(all[name], document)
			}
		}
	}
	return all
}

var roleName = regexp.MustCompile(`(?m)^  name(?:space)?: (.*)$`)

// takeRoles removes the manifest and returns its documents by namespace and name.
func (b *tempPackages) takeRoles(t *testing.T) map[string]string {
	t.Helper()
	path := filepath.Join(b.dir, "config", "rbac", "role.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	roles := make(map[string]string)
	for document := range strings.SplitSeq(strings.TrimPrefix(string(content), "---\n"), "\n---\n") {
		name := ""
		for _, m := range roleName.FindAllStringSubmatch(document, -1) {
			name = m[1] + "/" + name
		}
		roles[name] = strings.TrimSuffix(document, "\n") + "\n"
	}
	return roles
}

// keepsAll reports whether controller-gen wrote several variants and the
// document permits what any of them does.
func keepsAll(t *testing.T, document string, variants []string) bool {
	t.Helper()
	ours := permitted(t, document)
	return len(variants) > 1 && !slices.ContainsFunc(variants, func(variant string) bool {
		for p := range permitted(t, variant) {
			every := p
			every.verb = "*"
			if !ours[p] && !ours[every] {
				return true
			}
		}
		return false
	})
}

// permit is one verb on one thing.
type permit struct{ group, resource, name, url, verb string }

// permitted takes a role apart.
func permitted(t *testing.T, document string) map[permit]bool {
	t.Helper()
	var role struct {
		Rules []struct{ APIGroups, Resources, ResourceNames, NonResourceURLs, Verbs []string }
	}
	if err := yaml.Unmarshal([]byte(document), &role); err != nil {
		t.Fatal(err)
	}
	orNone := func(values []string) []string {
		if len(values) == 0 {
			return []string{"none"}
		}
		return values
	}
	all := make(map[permit]bool)
	for _, r := range role.Rules {
		for _, group := range orNone(r.APIGroups) {
			for _, resource := range orNone(r.Resources) {
				for _, name := range orNone(r.ResourceNames) {
					for _, url := range orNone(r.NonResourceURLs) {
						for _, verb := range r.Verbs {
							all[permit{group, resource, name, url, verb}] = true
						}
					}
				}
			}
		}
	}
	return all
}
