package makefile_test

import (
	"testing"
	"testing/fstest"

	"github.com/slipway-dev/slipway/internal/makefile"
)

const generatorPackage = "sigs.k8s.io/controller-tools/cmd/controller-gen"

func TestToolOf(t *testing.T) {
	files := fstest.MapFS{
		"go.mod":            {Data: []byte("module m\n\nrequire (\n\tsigs.k8s.io/controller-tools v0.21.0\n\tsigs.k8s.io v0.1.0\n)\n")},
		"hack/tools/go.mod": {Data: []byte("module tools\n\nrequire sigs.k8s.io/controller-tools v0.20.0\n")},
		"hack/tools.mod":    {Data: []byte("module tools\n\nrequire sigs.k8s.io/controller-tools v0.20.1\n")},
		"tool/go.mod":       {Data: []byte("module tool\n\ngo 1.26\n\ntool sigs.k8s.io/controller-tools/cmd/controller-gen\n\nrequire sigs.k8s.io/controller-tools v0.20.2\n")},
		"other/go.mod":      {Data: []byte("module other\n")},
	}
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
		"go run":   {"CONTROLLER_GEN := go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.18.0-rc.1\n", makefile.Tool{Name: "controller-gen", Version: "v0.18.0-rc.1"}},
		"go tool":  {"CONTROLLER_GEN ?= go tool controller-gen\n", makefile.Tool{Name: "controller-gen", Version: "v0.21.0"}},
		"a recipe": {"gen:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.18.0 crd\n", makefile.Tool{Version: "v0.18.0"}},
		"a condition": {
			"ifdef X\nV := v0.1.0\nendif\nget:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@$(V)\n", makefile.Tool{},
		},
		"latest":          {"get:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@latest\n", makefile.Tool{Moving: "latest"}},
		"another program": {"get:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen-like@v1.0.0\n", makefile.Tool{}},
		"installed as go.mod requires": {
			"LOCALBIN ?= $(shell pwd)/bin\nCONTROLLER_GEN ?= $(LOCALBIN)/controller-gen\n$(CONTROLLER_GEN): $(LOCALBIN)\n" +
				"\ttest -s $(LOCALBIN)/controller-gen || GOBIN=$(LOCALBIN) go install -mod=mod sigs.k8s.io/controller-tools/cmd/controller-gen\n",
			makefile.Tool{Name: "controller-gen", Version: "v0.21.0"},
		},
		"built as go.mod requires":           {"GO ?= go\nget:\n\t$(GO) build -o bin/controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen\n", makefile.Tool{Version: "v0.21.0"}},
		"run without a variable":             {"gen:\n\tgo tool controller-gen crd\n", makefile.Tool{Version: "v0.21.0"}},
		"a folder of tools":                  {"get:\n\tcd hack/tools && go install sigs.k8s.io/controller-tools/cmd/controller-gen\n", makefile.Tool{Version: "v0.20.0"}},
		"a folder by a flag":                 {"CONTROLLER_GEN = go -C hack/tools tool controller-gen\n", makefile.Tool{Name: "controller-gen", Version: "v0.20.0"}},
		"a file by a flag":                   {"CONTROLLER_GEN = go tool -modfile=hack/tools.mod controller-gen\n", makefile.Tool{Name: "controller-gen", Version: "v0.20.1"}},
		"a missing file by a flag":           {"CONTROLLER_GEN = go tool -modfile other.mod controller-gen\n", makefile.Tool{Name: "controller-gen"}},
		"a folder without a go.mod":          {"get:\n\tcd hack; go install sigs.k8s.io/controller-tools/cmd/controller-gen\n", makefile.Tool{Version: "v0.21.0"}},
		"a folder that only the shell knows": {"get:\n\tcd $$(mktemp -d) && go install sigs.k8s.io/controller-tools/cmd/controller-gen\n", makefile.Tool{}},
		"a folder within a larger command":   {"get:\n\t(cd hack/tools && go install sigs.k8s.io/controller-tools/cmd/controller-gen)\n", makefile.Tool{Version: "v0.20.0"}},
		"a folder that only make knows":      {"CONTROLLER_GEN = go -C $(shell pwd | head) tool controller-gen\n", makefile.Tool{Name: "controller-gen"}},
		"a folder elsewhere":                 {"CONTROLLER_GEN = go -C ../tools tool controller-gen\n", makefile.Tool{Name: "controller-gen"}},
		"not required":                       {"CONTROLLER_GEN = go -C other tool controller-gen\n", makefile.Tool{Name: "controller-gen"}},
		"all tools of go.mod":                {"get:\n\tgo install tool\n\tcd tool; go install tool\n", makefile.Tool{Version: "v0.20.2"}},
		"downloaded":                         {"get:\n\tgo get sigs.k8s.io/controller-tools/cmd/controller-gen\n", makefile.Tool{}},
		"two versions":                       {"get:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.15.0\ngen:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.17.3 crd\n", makefile.Tool{Version: "v0.15.0", Other: "v0.17.3"}},
		"itself":                             {"CONTROLLER_GEN = $(CONTROLLER_GEN)$(CONTROLLER_GEN)\n", makefile.Tool{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := makefile.ToolOf([]byte(c.content), generator, generatorPackage, func(string) string { return "" }, files); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
