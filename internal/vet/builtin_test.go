package vet

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite builtin.txt")

// TestBuiltin: the resources are those that client-go has clients for.
func TestBuiltin(t *testing.T) {
	resources := map[string][]string{}
	clients := filesOf(t, folderOf(t, "k8s.io/client-go/kubernetes"), "typed/*/*/*.go")
	apis := folderOf(t, "k8s.io/api/core/v1")
	apis = filepath.Dir(filepath.Dir(apis))
	constructor := regexp.MustCompile(`gentype\.New[A-Za-z]*\[(?s:.*?)\]\(\s*"([a-z]+)",`)
	for _, file := range clients {
		text := read(t, file)
		for _, found := range constructor.FindAllStringSubmatch(text, -1) {
			api := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), filepath.Dir(filepath.Dir(filepath.Dir(file)))+string(filepath.Separator)))
			if strings.HasPrefix(api, "apiserverinternal") {
				continue
			}
			group := groupOf(t, filepath.Join(apis, filepath.FromSlash(api)))
			resources[group] = append(resources[group], found[1])
		}
	}
	var lines []string
	for group, names := range resources {
		slices.Sort(names)
		lines = append(lines, strings.Join(append([]string{group}, slices.Compact(names)...), " ")+"\n")
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("builtin.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, "builtin.txt"); got != want {
		t.Errorf("builtin.txt is not up to date, run this test with -update:\n%s", got)
	}
	for _, resource := range []string{"core pods", "core secrets", "apps deployments", "batch cronjobs", "coordination.k8s.io leases", "rbac.authorization.k8s.io clusterroles"} {
		group, name, _ := strings.Cut(resource, " ")
		if !slices.Contains(resources[group], name) {
			t.Errorf("%s is not among them", resource)
		}
	}
}

// groupOf is the name of the group whose types the package of a folder has; core is that without a name.
func groupOf(t *testing.T, dir string) string {
	t.Helper()
	name := regexp.MustCompile(`const GroupName = "([^"]*)"`)
	found := name.FindStringSubmatch(read(t, filepath.Join(dir, "register.go")))
	if found == nil {
		t.Fatalf("%s has no GroupName", dir)
	}
	return cmp.Or(found[1], "core")
}

// folderOf is the folder of a package.
func folderOf(t *testing.T, path string) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}

// filesOf are the files below a folder that match a pattern.
func filesOf(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no %s: %v", dir, pattern, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
