package codebase_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
)

// usual is where the generator puts the manager's role when nothing else is said.
const usual = "config/rbac"

// write writes a file of a project, and its folder.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generation is that of a project with this Makefile.
func generation(t *testing.T, makefile string) codebase.Generation {
	t.Helper()
	root := t.TempDir()
	write(t, root, "deploy/README.md", "")
	write(t, root, "Makefile", makefile)
	made, err := codebase.Read(fileview.Disk(root), func(string) string { return "" }).Generation()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestGeneration: a Makefile says where definitions and roles go, which header code has, and which code is read for
// roles.
func TestGeneration(t *testing.T) {
	for name, test := range map[string]struct {
		makefile, crds, roles, header string
		missed                        bool // the folder controllers/crew
	}{
		"none":            {"", "config/crd/bases", usual, "", false},
		"as layouts have": {"controller-gen rbac:roleName=r crd paths=./... output:crd:artifacts:config=config/crd/bases", "config/crd/bases", usual, "", false},
		"elsewhere": {
			`controller-gen crd rbac:roleName=r object:headerFile="hack/a.txt",year=2026 paths="./api/...;./controllers/..." output:crd:artifacts:config=m/crds output:rbac:dir=m/rbac`,
			"m/crds", "m/rbac", "hack/a.txt", false,
		},
		"in a folder":        {"cd deploy && controller-gen crd paths=./... output:dir=crds", "deploy/crds", usual, "", false},
		"also as usual":      {"controller-gen crd output:crd:dir=chart/crds\n\tcontroller-gen crd output:crd:dir=config/crd/bases", "config/crd/bases", usual, "", false},
		"other packages":     {"controller-gen rbac:roleName=r paths=./pkg/... output:rbac:dir=config/rbac", "config/crd/bases", usual, "", true},
		"this package alone": {"controller-gen rbac:roleName=r paths=./controllers/crew", "config/crd/bases", usual, "", false},
		"the one above":      {"controller-gen rbac:roleName=r paths=./controllers", "config/crd/bases", usual, "", true},
		"two calls":          {"controller-gen rbac:roleName=r paths=./pkg/...\n\tcontroller-gen rbac:roleName=r paths=./controllers/...", "config/crd/bases", usual, "", false},
		"outside":            {"controller-gen crd rbac:roleName=r output:dir=../elsewhere", "config/crd/bases", usual, "", false},
		"as the generator":   {"controller-gen crd rbac:roleName=r paths=./...", "config/crd", usual, "", false},
		"code elsewhere":     {"controller-gen crd output:crd:artifacts:config=m/crds,code=gen", "m/crds", usual, "", false},
		"the last rule":      {"controller-gen crd output:crd:artifacts:config=a output:crd:dir=b", "b", usual, "", false},
		"nothing":            {"controller-gen crd rbac:roleName=r paths=./... output:crd:none output:stdout", "", usual, "", false},
		"nothing twice":      {"controller-gen crd output:none\n\tcontroller-gen crd output:dir=a", "a", usual, "", false},
		"flags":              {"controller-gen --load-build-tags crd crd output:dir=a", "a", usual, "", false},
		"an old option":      {"controller-gen crd:trivialVersions output:dir=a", "a", usual, "", false},
		"refused":            {"controller-gen crd output:dir=a output:rbac:dir=b", "config/crd/bases", usual, "", false},
		"unclear":            {"controller-gen crd output:dir=$(shell uname)/crds", "config/crd/bases", usual, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			made := generation(t, "manifests:\n\t"+test.makefile+"\n")
			header := ""
			if all := made.Headers(); len(all) > 0 {
				header = all[0].File
			}
			if made.CRDFolder() != test.crds || made.RoleFolder(usual) != test.roles || header != test.header {
				t.Errorf("got %s, %s, %q", made.CRDFolder(), made.RoleFolder(usual), header)
			}
			if _, missed := made.Missed("rbac", "controllers/crew"); missed != test.missed {
				t.Errorf("missed is %v", missed)
			}
		})
	}
}

// TestMissed: each generator of a call reads what the call reads, and one call is enough.
func TestMissed(t *testing.T) {
	const content = "all:\n\tcontroller-gen object paths=./apis/...\n\tcontroller-gen crd rbac:roleName=r paths=./apis/...\n\tcontroller-gen crd paths=./api/v1\n"
	made := generation(t, content)
	for _, test := range []struct {
		generator, folder string
		line              int // of the call that misses it, or 0
	}{
		{"object", "api/v1", 2},
		{"object", "apis/v1", 0},
		{"crd", "api/v1", 0},
		{"crd", "api/v2", 3},
		{"rbac", "api/v1", 3},
		{"webhook", "api/v1", 0},
	} {
		if missed, is := made.Missed(test.generator, test.folder); is != (test.line > 0) || missed.Line != test.line {
			t.Errorf("%s of %s: got %v, line %d", test.generator, test.folder, is, missed.Line)
		}
	}
}

// TestRoleFile: the manager's role is where layouts have it, unless all calls have it elsewhere.
func TestRoleFile(t *testing.T) {
	for makefile, want := range map[string]string{
		"": "config/rbac/role.yaml",
		"controller-gen rbac:roleName=r paths=./...":                                                                           "config/rbac/role.yaml",
		"controller-gen rbac:roleName=r,fileName=manager.yaml paths=./...":                                                     "config/rbac/manager.yaml",
		"cd deploy && controller-gen rbac:roleName=r output:rbac:dir=rbac":                                                     "deploy/rbac/role.yaml",
		"controller-gen rbac:roleName=r output:rbac:dir=.":                                                                     "role.yaml",
		"controller-gen rbac:roleName=r output:none\n\tcontroller-gen rbac:roleName=r output:rbac:dir=m":                       "m/role.yaml",
		"controller-gen rbac:roleName=r output:dir=m\n\tcontroller-gen rbac:roleName=r,fileName=x.yaml output:dir=config/rbac": "config/rbac/x.yaml",
		"controller-gen rbac:roleName=r output:stdout":                                                                         "config/rbac/role.yaml",
	} {
		made := generation(t, "manifests:\n\t"+makefile+"\n")
		if got := made.RoleFile(); got != want {
			t.Errorf("%s: got %s, want %s", makefile, got, want)
		}
	}
}

// TestWebhooks: a Makefile says where configurations of webhooks go, and which code is read for them.
func TestWebhooks(t *testing.T) {
	for name, test := range map[string]struct {
		makefile, file string
		missed         bool // the folder api/v1
	}{
		"none":            {"", "config/webhook/manifests.yaml", false},
		"no webhooks":     {"controller-gen rbac:roleName=r paths=./pkg/... output:dir=m", "config/webhook/manifests.yaml", false},
		"as layouts have": {"controller-gen webhook paths=./...", "config/webhook/manifests.yaml", false},
		"elsewhere":       {"controller-gen webhook paths=./pkg/... output:webhook:artifacts:config=m/hooks", "m/hooks/manifests.yaml", true},
		"also as usual":   {"controller-gen webhook paths=./pkg/... output:dir=m\n\tcontroller-gen webhook paths=./api/...", "config/webhook/manifests.yaml", false},
		"nothing":         {"controller-gen webhook paths=./... output:none", "config/webhook/manifests.yaml", false},
	} {
		t.Run(name, func(t *testing.T) {
			made := generation(t, "manifests:\n\t"+test.makefile+"\n")
			if _, missed := made.Missed("webhook", "api/v1"); missed != test.missed || made.WebhookFile() != test.file {
				t.Errorf("got %s, missed is %v", made.WebhookFile(), missed)
			}
		})
	}
}

// TestWebhookFiles: folders outside of the project, which a stranger's Makefile may name, are not looked into.
func TestWebhookFiles(t *testing.T) {
	made := generation(t, "manifests:\n\tcontroller-gen webhook output:webhook:dir=m\n\tcontroller-gen webhook output:webhook:dir=../beside\n\tcontroller-gen webhook output:webhook:dir=/etc\n")
	if got := made.WebhookFiles(); !slices.Equal(got, []string{"m/manifests.yaml"}) {
		t.Errorf("got %v", got)
	}
}

// TestGenerators: each generator that a Makefile may run is known.
func TestGenerators(t *testing.T) {
	var names []string
	for _, g := range generate.Generators() {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	if !slices.Equal(codebase.Generators(), names) {
		t.Errorf("there are %q, but %q are known", names, codebase.Generators())
	}
}

// TestToolsOfRecipes: the version of controller-gen that only a recipe or go.mod has is that of the tool, unless the
// usual variable is there.
func TestToolsOfRecipes(t *testing.T) {
	const install = "get:\n\tGOBIN=$(LOCALBIN) go install sigs.k8s.io/controller-tools/cmd/controller-gen"
	for makefile, want := range map[string]string{
		install + "\n": "v0.21.0",
		"GEN_VERSION = v0.20.1\n" + install + "@$(GEN_VERSION)\n":                    "v0.20.1",
		"CONTROLLER_TOOLS_VERSION = $(shell cat version)\n" + install + "@v0.20.1\n": "",
	} {
		root := t.TempDir()
		write(t, root, "Makefile", makefile)
		write(t, root, "go.mod", "module m\n\nrequire sigs.k8s.io/controller-tools v0.21.0\n")
		tools, err := codebase.Read(fileview.Disk(root), func(string) string { return "" }).Tools()
		if got := tools.Versions["controller-gen"]; got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", makefile, got, err, want)
		}
	}
}
