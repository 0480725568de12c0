package generate

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
	if testing.Short() {
		t.Skip("long: make test-long-mutants")
	}
	b := &tempPackages{Programs: testPrograms(t), dir: t.TempDir(), generator: "rbac:roleName=manager"}
	writeFiles(t, b.dir, map[string]string{"go.mod": "module example.org/permissions\n\ngo 1.26\n"})
	b.fill(t, int(*seedFlag), int(*mutantsFlag), rbacPackage)
	failing, crashing := b.peerFails(t, b.pkgs)
	if len(crashing) > 0 {
		t.Errorf("controller-gen crashes on %v", slices.Sorted(maps.Keys(crashing)))
	}
	good := b.check(t, failing)
	variants := make(map[string][]string)
	b.addPeerRoles(t, good, variants)
	if o := b.run(t, b.Slipway, good, "controller-gen"); o.code != 0 {
		b.tellWrongFailures(t, good, true)
		return
	}
	ours := b.takeRoles(t)
	differing := differingRoles(t, ours, variants)
	const patience = 20
	for run := 0; run < patience && len(differing) > 0; run++ { // some chances are small
		b.addPeerRoles(t, packagesOf(differing), variants)
		differing = differingRoles(t, ours, variants)
	}
	for _, name := range differing {
		t.Errorf("%s: other bytes than each of %d variants:\n%s\n%s", name, len(variants[name]),
			diffText(t, []byte(strings.Join(variants[name], "")), []byte(ours[name])), describeFiles(b.files[packageOf(name)]))
	}
	lossy := 0
	for name, document := range ours {
		if !slices.Contains(variants[name], document) {
			lossy++
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

// addPeerRoles runs controller-gen a few times, for its chance orders to show themselves, and adds the variants of
// roles that are new.
func (b *tempPackages) addPeerRoles(t *testing.T, packages []string, variants map[string][]string) {
	t.Helper()
	const runs = 6
	for range runs {
		if o := b.run(t, b.Peer, packages); o.code != 0 {
			t.Fatalf("controller-gen fails on what it did not fail on:\n%s", o.output)
		}
		for name, document := range b.takeRoles(t) {
			if !slices.Contains(variants[name], document) {
				variants[name] = append(variants[name], document)
			}
		}
	}
}

// differingRoles are the names of our roles that are none of the variants, and do not permit what all of several
// variants do.
func differingRoles(t *testing.T, ours map[string]string, variants map[string][]string) []string {
	t.Helper()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if !slices.Contains(variants[name], ours[name]) && !keepsAll(t, ours[name], variants[name]) {
			names = append(names, name)
		}
	}
	return names
}

// packageOf is the package that a role comes from, as its name says.
func packageOf(role string) string { return regexp.MustCompile(`p\d{4,}`).FindString(role) }

func packagesOf(roles []string) []string {
	var packages []string
	for _, role := range roles {
		packages = append(packages, packageOf(role))
	}
	slices.Sort(packages)
	return slices.Compact(packages)
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
