package makefile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/makefile"
)

// toolsOf are those of a Makefile beside a go.mod.
func toolsOf(content, goMod string) makefile.Tools {
	files := fstest.MapFS{"go.mod": &fstest.MapFile{Data: []byte(goMod)}}
	return makefile.ToolsOf([]byte(content), func(string) string { return "" }, files)
}

// TestVersions reads the versions that a Makefile asks for.
func TestVersions(t *testing.T) {
	for name, test := range map[string]struct {
		makefile, goMod string
		want            map[string]string
		unknown         string
	}{
		"no Makefile":              {"", "", map[string]string{}, ""},
		"as kubebuilder writes it": {"KUSTOMIZE_VERSION ?= v5.7.1\nCONTROLLER_TOOLS_VERSION ?= v0.19.0\n", "", map[string]string{"kustomize": "v5.7.1", "controller-gen": "v0.19.0"}, ""},
		"otherwise":                {"export KUSTOMIZE_VERSION := v$(M).7.1 # newest\nM = 5\nOTHER_VERSION = v1\n", "", map[string]string{"kustomize": "v5.7.1"}, ""},
		"computed from go.mod": {"ENVTEST_VERSION ?= $(shell go list -m -f \"{{ .Version }}\" sigs.k8s.io/controller-runtime | awk -F'[v.]' '{printf \"release-%d.%d\", $$2, $$3}')\n",
			"module m\n\nrequire sigs.k8s.io/controller-runtime v0.22.4\n", map[string]string{"setup-envtest": "release-0.22"}, ""},
		"computed from a go.mod without it": {"ENVTEST_VERSION ?= $(shell go list -m sigs.k8s.io/controller-runtime)\n", "module m\n", map[string]string{}, "ENVTEST_VERSION"},
		"computed otherwise":                {"KUSTOMIZE_VERSION = $(shell cat version)\n", "", map[string]string{}, "KUSTOMIZE_VERSION"},
		"a path":                            {"KUSTOMIZE_VERSION = ../../x\n", "", map[string]string{}, "KUSTOMIZE_VERSION"},
		"empty":                             {"KUSTOMIZE_VERSION =\n", "", map[string]string{}, ""},
	} {
		got := toolsOf(test.makefile, test.goMod)
		if cmp.Diff(test.want, got.Versions) != "" || strings.Join(got.Unknown, ",") != test.unknown {
			t.Errorf("%s: got %v, unknown %v, want %v, %v", name, got.Versions, got.Unknown, test.want, test.unknown)
		}
	}
}

// TestObstacles: recipes that always install, and tools of PATH; not those that look for the tool first, nor those that
// make a file.
func TestObstacles(t *testing.T) {
	for name, test := range map[string]struct {
		makefile string
		want     []makefile.Obstacle
	}{
		"always": {"controller-gen: ## Get it.\n\tGOBIN=$(PROJECT_DIR)/bin go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\n\n" +
			"kustomize:\n\tGOBIN=bin $(GO) install sigs.k8s.io/kustomize/kustomize/v4@v4.5.7\n" +
			"tools:\n\t@{ \\\n\tcd x ;\\\n\tgo get sigs.k8s.io/controller-runtime/tools/setup-envtest@latest ;\\\n\t}\n",
			[]makefile.Obstacle{{"Makefile", 2, "controller-gen", "controller-gen"}, {"Makefile", 5, "kustomize", "kustomize"}, {"Makefile", 7, "setup-envtest", "tools"}}},
		"looks first": {"controller-gen:\n\ttest -s bin/controller-gen || go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\n" +
			"kustomize:\n\t@[ -f bin/kustomize ] || { \\\n\tgo install sigs.k8s.io/kustomize/kustomize/v5@v5.0.0 ;\\\n\t}\n", nil},
		"a file":         {"$(CONTROLLER_GEN): $(LOCALBIN)\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.14.0\nbin/kustomize:\n\tgo install sigs.k8s.io/kustomize/kustomize/v5@latest\n", nil},
		"another tool":   {"lint:\n\tgo install example.com/cmd/lint@latest\nX = controller-gen\n", nil},
		"a list of make": {"TOOLS := controller-gen kustomize\nKUSTOMIZE ?= $(LOCALBIN)/kustomize\n", nil},
		"of PATH": {"controller-gen:\nifeq (, $(shell which controller-gen))\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.2.5\n" +
			"CONTROLLER_GEN=$(GOBIN)/controller-gen\nelse\nCONTROLLER_GEN=$(shell which controller-gen)\nendif\nKUSTOMIZE ?= kustomize # mine\n",
			[]makefile.Obstacle{{"Makefile", 6, "controller-gen", ""}, {"Makefile", 8, "kustomize", ""}}},
	} {
		if diff := cmp.Diff(test.want, toolsOf(test.makefile, "").Obstacles); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestInspects finds where a Makefile asks the go command about a tool's file.
func TestInspects(t *testing.T) {
	if line := toolsOf("define install\n@[ -x $(1) ] && go version -m $(1) || go install $(2)\nendef\n", "").Inspects; line != 2 {
		t.Errorf("got line %d, want 2", line)
	}
}
