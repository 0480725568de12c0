package toollink_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/toollink"
)

// TestObstacles: recipes that always install, and tools of PATH; not those that look for the tool first, nor those that
// make a file.
func TestObstacles(t *testing.T) {
	for name, test := range map[string]struct {
		makefile string
		want     []toollink.Obstacle
	}{
		"always": {"controller-gen: ## Get it.\n\tGOBIN=$(PROJECT_DIR)/bin go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\n\n" +
			"kustomize:\n\tGOBIN=bin go install sigs.k8s.io/kustomize/kustomize/v4@v4.5.7\n" +
			"tools:\n\t@{ \\\n\tcd x ;\\\n\tgo get sigs.k8s.io/controller-runtime/tools/setup-envtest@latest ;\\\n\t}\n",
			[]toollink.Obstacle{{2, "controller-gen", "controller-gen"}, {5, "kustomize", "kustomize"}, {9, "setup-envtest", "tools"}}},
		"looks first": {"controller-gen:\n\ttest -s bin/controller-gen || go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\n" +
			"kustomize:\n\t@[ -f bin/kustomize ] || { \\\n\tgo install sigs.k8s.io/kustomize/kustomize/v5@v5.0.0 ;\\\n\t}\n", nil},
		"a file":         {"$(CONTROLLER_GEN): $(LOCALBIN)\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\nbin/kustomize:\n\tgo install sigs.k8s.io/kustomize/kustomize/v5@latest\n", nil},
		"another tool":   {"lint:\n\tgo install example.com/cmd/lint@latest\nX = controller-gen\n", nil},
		"a list of make": {"TOOLS := controller-gen kustomize\nKUSTOMIZE ?= $(LOCALBIN)/kustomize\n", nil},
		"of PATH": {"controller-gen:\nifeq (, $(shell which controller-gen))\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.2.5\n" +
			"CONTROLLER_GEN=$(GOBIN)/controller-gen\nelse\nCONTROLLER_GEN=$(shell which controller-gen)\nendif\nKUSTOMIZE ?= kustomize # mine\n",
			[]toollink.Obstacle{{6, "controller-gen", ""}, {8, "kustomize", ""}}},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "Makefile"), test.makefile, 0o644)
		if diff := cmp.Diff(test.want, toollink.Obstacles(dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if found := toollink.Obstacles(t.TempDir()); found != nil {
		t.Errorf("without a Makefile: %v", found)
	}
}
