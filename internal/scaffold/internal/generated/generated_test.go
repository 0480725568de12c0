package generated_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/generated"
)

// TestRead: a Makefile says where definitions and roles go, which header code has, and which code is read for roles.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		makefile, crds, roles, header string
		missed                        bool // the folder controllers/crew
	}{
		"none":            {"", "config/crd/bases", "usual", "", false},
		"as layouts have": {"controller-gen rbac:roleName=r crd paths=./... output:crd:artifacts:config=config/crd/bases", "config/crd/bases", "usual", "", false},
		"elsewhere": {
			`controller-gen crd rbac:roleName=r object:headerFile="hack/a.txt",year=2026 paths="./api/...;./controllers/..." output:crd:artifacts:config=m/crds output:rbac:dir=m/rbac`,
			"m/crds", "m/rbac", "hack/a.txt", false,
		},
		"in a folder":        {"cd deploy && controller-gen crd paths=./... output:dir=crds", "deploy/crds", "usual", "", false},
		"also as usual":      {"controller-gen crd output:crd:dir=chart/crds\n\tcontroller-gen crd output:crd:dir=config/crd/bases", "config/crd/bases", "usual", "", false},
		"other packages":     {"controller-gen rbac:roleName=r paths=./pkg/... output:rbac:dir=usual", "config/crd/bases", "usual", "", true},
		"this package alone": {"controller-gen rbac:roleName=r paths=./controllers/crew", "config/crd/bases", "usual", "", false},
		"the one above":      {"controller-gen rbac:roleName=r paths=./controllers", "config/crd/bases", "usual", "", true},
		"two calls":          {"controller-gen rbac:roleName=r paths=./pkg/...\n\tcontroller-gen rbac:roleName=r paths=./controllers/...", "config/crd/bases", "usual", "", false},
		"outside":            {"controller-gen crd rbac:roleName=r output:dir=../elsewhere", "config/crd/bases", "usual", "", false},
		"unclear":            {"controller-gen crd output:dir=$(shell uname)/crds", "config/crd/bases", "usual", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte("manifests:\n\t"+test.makefile+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			places := generated.Read(root)
			header := ""
			if all := places.Headers(); len(all) > 0 {
				header = all[0]
			}
			if places.Definitions() != test.crds || places.Roles("usual") != test.roles || header != test.header {
				t.Errorf("got %s, %s, %q", places.Definitions(), places.Roles("usual"), header)
			}
			if _, missed := places.Missed("controllers/crew"); missed != test.missed {
				t.Errorf("missed is %v", missed)
			}
		})
	}
}
