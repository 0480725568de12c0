package makefile_test

import (
	"os"
	"testing"

	"github.com/slipway-dev/slipway/internal/makefile"
)

const generatorPackage = "sigs.k8s.io/controller-tools/cmd/controller-gen"

func TestToolOf(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    makefile.Tool
	}{
		"none": {"all:\n\tgo build\n", makefile.Tool{}},
		"kubebuilder's": {
			"LOCALBIN ?= $(shell pwd)/bin\nCONTROLLER_GEN ?= $(LOCALBIN)/controller-gen\nCONTROLLER_TOOLS_VERSION ?= v0.20.1\n" +
				"$(CONTROLLER_GEN): $(LOCALBIN)\n\t$(call go-install-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_TOOLS_VERSION))\n",
			makefile.Tool{Name: "controller-gen", Version: "v0.20.1"},
		},
		"an older one": {
			"CONTROLLER_GEN = $(shell pwd)/bin/controller-gen\ncontroller-gen:\n\t$(call go-get-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen@v0.4.1)\n",
			makefile.Tool{Name: "controller-gen", Version: "v0.4.1"},
		},
		"a version in the name": {
			"ROOT := $(abspath .)\nVER := v0.19.0\nBIN := controller-gen\nCONTROLLER_GEN := $(abspath $(ROOT)/hack/tools/$(BIN)-$(VER))\nPKG := sigs.k8s.io/controller-tools/cmd/controller-gen\n" +
				"$(CONTROLLER_GEN):\n\tGOBIN=$(ROOT) $(GO_INSTALL) $(PKG) $(BIN) $(VER)\n",
			makefile.Tool{Name: "controller-gen-v0.19.0", Version: "v0.19.0"},
		},
		"go run":   {"CONTROLLER_GEN := go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.18.0-rc.1\n", makefile.Tool{Name: "controller-gen", Version: "v0.18.0-rc.1", ByGo: true}},
		"go tool":  {"CONTROLLER_GEN ?= go tool controller-gen\n", makefile.Tool{Name: "controller-gen", ByGo: true}},
		"a recipe": {"gen:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.18.0 crd\n", makefile.Tool{Version: "v0.18.0"}},
		"a condition": {
			"ifdef X\nV := v0.1.0\nendif\nget:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@$(V)\n", makefile.Tool{},
		},
		"latest":          {"get:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@latest\n", makefile.Tool{}},
		"another program": {"get:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen-like@v1.0.0\n", makefile.Tool{}},
		"itself":          {"CONTROLLER_GEN = $(CONTROLLER_GEN)$(CONTROLLER_GEN)\n", makefile.Tool{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := makefile.ToolOf([]byte(c.content), generator, generatorPackage, func(string) string { return "" }, os.DirFS(t.TempDir())); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
