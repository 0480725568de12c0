package dockerfile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/image/dockerfile"
)

// TestWords: the words of commands are those that a shell makes of variables.
func TestWords(t *testing.T) {
	for name, c := range map[string]struct {
		run   string
		flags []string
		pkg   string
		why   string // of the first line that is left
	}{
		"several words":          {"ARG ARGS=\"-tags strict\"\nRUN go build ${ARGS} -o /m ./cmd", []string{"-tags=strict"}, "./cmd", ""},
		"in quotes they are one": {"ARG ARGS=\"strict netgo\"\nRUN go build -tags \"${ARGS}\" -o /m ./cmd", []string{"-tags=strict netgo"}, "./cmd", ""},
		"variables of env":       {"ARG ENVS=\"GOOS=linux GOFLAGS=-tags=strict\"\nRUN env ${ENVS} go build -o /m ./cmd", []string{"-tags=strict"}, "./cmd", ""},
		"C code by env":          {"ARG ENVS=\"GOOS=linux CGO_ENABLED=1\"\nRUN env ${ENVS} go build -o /m ./cmd", nil, "./cmd", "a program with C code needs libraries, which the image does not have"},
		"only for that command":  {"RUN env CGO_ENABLED=1 go version && go build -o /m ./cmd", nil, "./cmd", ""},
		"export":                 {"RUN export GOFLAGS=-tags=strict; (cd / && GOFLAGS= go version) && go build -o /m ./cmd", []string{"-tags=strict"}, "./cmd", ""},
		"go env -w":              {"RUN go env -w GOFLAGS=-tags=strict\nRUN go build -o /m ./cmd", []string{"-tags=strict"}, "./cmd", ""},
		"an output":              {"RUN go build -ldflags \"-s -X main.v=$(git describe)\" -o /m ./cmd", []string{"-ldflags=-s"}, "./cmd", "slipway does not run commands for their output"},
		"moved":                  {"RUN go build -o bin/x ./cmd && mv bin/x /m", nil, "./cmd", ""},
		"installed":              {"RUN GOBIN=/ go install ./m", nil, "./m", ""},
		"packages":               {"RUN go build -o / ./m ./tool", nil, "./m", ""},
		"braces":                 {"RUN go build -o /m ./{a,b}{a,b}{a,b}", nil, "", "slipway does not know this expansion"},
		"a replacement":          {"ENV A=${PATH//u/v}\nRUN go build -o /m ./cmd", nil, "./cmd", "slipway does not know this expansion"},
		"nested too deep":        {"RUN " + strings.Repeat("( ", 5000) + "go build -o /m ./cmd" + strings.Repeat(" )", 5000), nil, "", "slipway does not understand this command"},
		"too long":               {"RUN go build -o /m ./cmd && echo" + strings.Repeat(" \\\n"+strings.Repeat("x", 1000), 70), nil, "", "slipway does not understand this command"},
		"another shell":          {"SHELL [\"pwsh\"]\nRUN go build -o /m ./cmd", nil, "", "slipway does not understand this command"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "FROM go AS b\n"+c.run+"\nFROM scratch\nCOPY --from=b /m /m\n", dockerfile.Options{})
			why := ""
			if len(r.Left) > 0 {
				why = r.Left[0].Why
			}
			if diff := cmp.Diff(c.flags, program(r).Flags); diff != "" || program(r).Package != c.pkg || why != c.why {
				t.Errorf("package %q, left %q %s", program(r).Package, why, diff)
			}
		})
	}
}

// TestMake: a recipe of the Makefile is read as the shell would get it, and what is not plain is named with its line.
func TestMake(t *testing.T) {
	const makefile = `CONTROLLER_GEN ?= $(CURDIR)/bin/controller-gen
VERSION ?= dev
LDFLAGS := -X main.version=$(VERSION)
GIT = $(shell git describe)
export GOFLAGS = -tags=strict

.PHONY: all
all: build

build: manifests fmt bin/manager
manifests: controller-gen
	"$(CONTROLLER_GEN)" crd paths=./...
controller-gen:
	curl -o bin/controller-gen https://example.com
fmt:
	go fmt ./...
bin/manager: $(shell find . -name '*.go')
	@mkdir -p bin
	$(GO_ENV) go build -ldflags "$(LDFLAGS)" -o $@ ./cmd/manager
git:
	go build -ldflags "-s -X main.version=$(GIT)" -o bin/manager ./cmd/manager
ifdef FAST
fast:
	go build -o bin/manager ./cmd/manager
endif
assets:
	npm run build
cgo:
	$(MAKE) bin/manager GO_ENV='CGO_ENABLED=${CGO}'
own: VERSION = 2
own: bin/manager
`
	files := fstest.MapFS{"Makefile": {Data: []byte(makefile)}, "go.mod": {Data: []byte("module x\n")}, "cmd/manager/main.go": {Data: []byte("package main\n")}}
	version := func(v string) []string { return []string{"-tags=strict", "-ldflags=-X main.version=" + v} }
	for run, c := range map[string]struct {
		flags []string
		left  []string
	}{
		"make":                                  {version("dev"), nil},
		"make -j4 build VERSION=1":              {version("1"), nil},
		"VERSION=2 make build":                  {version("2"), nil},
		"make git":                              {[]string{"-tags=strict", "-ldflags=-s"}, nil},
		"make fast":                             {nil, []string{"Makefile:23", "Makefile:24"}},
		"make assets bin/manager":               {version("dev"), []string{"Makefile:27"}},
		"CGO=1 make cgo":                        {version("dev"), nil},
		"make cgo \"CGO=0 GOARCH=$TARGETARCH\"": {version("dev"), nil},
		"make bin/manager \"GO_ENV=GOARCH=$TARGETARCH\"": {version("dev"), nil},
		"make bin/manager \"VERSION=$TARGETARCH\"":       {nil, []string{"Makefile:19"}},
		"make own":                            {version("dev"), []string{"Makefile:30"}},
		"make none":                           {nil, []string{"Makefile:1"}},
		"make -C hack":                        {nil, []string{"Dockerfile:5"}},
		"make bin/manager 'VERSION=${OTHER}'": {version(""), nil},
	} {
		t.Run(run, func(t *testing.T) {
			r := read(t, "FROM go AS b\nARG OTHER\nWORKDIR /w\nCOPY . .\nRUN "+run+"\nFROM scratch\nCOPY --from=b /w/bin/manager /m\n", dockerfile.Options{Files: files})
			var places []string
			for _, l := range left(r) {
				file, rest, _ := strings.Cut(l, ":")
				line, _, _ := strings.Cut(rest, ":")
				places = append(places, file+":"+line)
			}
			if diff := cmp.Diff(c.left, places) + cmp.Diff(c.flags, program(r).Flags); diff != "" {
				t.Errorf("%+v\n%s", r.Left, diff)
			}
		})
	}
}

// TestTools: a recipe that only installs the tools of the project has no part in an image. One that also does something
// else is named.
func TestTools(t *testing.T) {
	const v3 = `LOCALBIN ?= $(shell pwd)/bin
CONTROLLER_GEN ?= $(LOCALBIN)/controller-gen
KUSTOMIZE ?= $(LOCALBIN)/kustomize
build: manifests bin/manager
bin/manager:
	go build -ldflags "-X main.v=$(shell git describe)" -o $@ ./cmd
manifests: controller-gen
	$(CONTROLLER_GEN) crd
$(LOCALBIN):
	mkdir -p $(LOCALBIN)
controller-gen: $(CONTROLLER_GEN)
$(CONTROLLER_GEN): $(LOCALBIN)
	test -s $(LOCALBIN)/controller-gen && $(LOCALBIN)/controller-gen --version | grep -q $(V) || \
	GOBIN=$(LOCALBIN) go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(V)
kustomize: $(KUSTOMIZE)
$(KUSTOMIZE): $(LOCALBIN)
	@if test -x $(LOCALBIN)/kustomize; then \
		rm -rf $(LOCALBIN)/kustomize; \
	fi
	test -s $(LOCALBIN)/kustomize || { curl -Ss https://example.com/install.sh | bash -s -- 5 $(LOCALBIN); }
lint:
ifeq (, $(shell which lint))
	@{ cd $$(mktemp -d); $(GO) get example.com/lint@v1; }
endif
assets: lint
	GOBIN=/x go install example.com/pack@v1
	pack assets
own:
	go install example.com/pack@v1 && GOBIN=/x go install ./own || true
`
	const v4 = `LOCALBIN ?= $(shell pwd)/bin
KUSTOMIZE ?= $(LOCALBIN)/kustomize
CONTROLLER_GEN ?= $(LOCALBIN)/controller-gen
CONTROLLER_TOOLS_VERSION ?= v0.20.1
$(LOCALBIN):
	mkdir -p "$(LOCALBIN)"
kustomize: $(KUSTOMIZE) ## Download kustomize locally if necessary.
$(KUSTOMIZE): $(LOCALBIN)
	$(call go-install-tool,$(KUSTOMIZE),sigs.k8s.io/kustomize/kustomize/v5,$(KUSTOMIZE_VERSION))
controller-gen: $(CONTROLLER_GEN)
$(CONTROLLER_GEN): $(LOCALBIN)
	$(call go-install-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen,$(CONTROLLER_TOOLS_VERSION))
define go-install-tool
@[ -f "$(1)-$(3)" ] || GOBIN="$(LOCALBIN)" go install $(2)@$(3)
endef
build:
	go build -o bin/manager ./cmd
other:
	$(call other-macro,x)
`
	for run, c := range map[string]struct{ makefile, left string }{
		"make controller-gen kustomize && make build": {v3, ""},
		"make controller-gen && make kustomize build": {v4, ""},
		"make lint build":   {v3, ""},
		"make assets build": {v3, "Makefile:27: pack assets: slipway runs only go build"},
		"make own build":    {v3, "Makefile:29: go install example.com/pack@v1 && GOBIN=/x go install ./own …: slipway does not understand this command"},
		"make other build":  {v4, "Makefile:19: $(call other-macro,x): slipway does not understand this command"},
	} {
		t.Run(run, func(t *testing.T) {
			files := fstest.MapFS{"Makefile": {Data: []byte(c.makefile)}, "go.mod": {Data: []byte("module x\n")}}
			r := read(t, "FROM go AS b\nWORKDIR /w\nCOPY . .\nRUN "+run+"\nFROM scratch\nCOPY --from=b /w/bin/manager /m\n", dockerfile.Options{Files: files})
			if diff := cmp.Diff(c.left, strings.Join(left(r), "\n")); diff != "" || program(r).Package != "cmd" {
				t.Errorf("%+v\n%s", program(r), diff)
			}
		})
	}
}

// TestManyExported: the variables that a Makefile exports are not copied for each of any number of lines.
func TestManyExported(t *testing.T) {
	var makefile strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&makefile, "export A%d = x\n", i)
	}
	makefile.WriteString("all:\n" + strings.Repeat("\ttrue\n", 100))
	files := fstest.MapFS{"Makefile": {Data: []byte(makefile.String())}}
	r := read(t, "FROM go AS b\nCOPY . /src\nWORKDIR /src\nRUN make\nFROM scratch\nCOPY --from=b /src/Makefile /\n", dockerfile.Options{Files: files})
	if got := left(r); len(got) == 0 || !strings.Contains(got[0], "too many commands") {
		t.Errorf("%q are left", got)
	}
}

// TestFolders: the last stage may make empty folders, and give them to users whose numbers are known.
func TestFolders(t *testing.T) {
	for run, c := range map[string]struct {
		folders []dockerfile.Folder
		left    bool
	}{
		"RUN set -eux; mkdir -p /log /tmp && chown -R nobody:nobody /log && apk --no-cache add ca-certificates tzdata": {[]dockerfile.Folder{{"/log", 65534, 65534}}, false},
		"RUN mkdir /a /a/b /ab && chown -R 7:8 /a/":  {[]dockerfile.Folder{{"/a", 7, 8}, {"/a/b", 7, 8}, {"/ab", 0, 0}}, false},
		"RUN mkdir -p /a /a/b\nRUN chown 7 /a":       {[]dockerfile.Folder{{"/a", 7, 0}, {"/a/b", 0, 0}}, false},
		"RUN mkdir /a && chown op /a":                {[]dockerfile.Folder{{"/a", 0, 0}}, true},
		"RUN mkdir /a && rm -r /a":                   {[]dockerfile.Folder{{"/a", 0, 0}}, true},
		"RUN mkdir /a\nCOPY x /a\nRUN chown -R 7 /a": {[]dockerfile.Folder{{"/a", 0, 0}}, true},
		"RUN mkdir -m 700 /a":                        {nil, true},
		"RUN mkdir a":                                {nil, true},
		"RUN mkdir -p /var/tmp":                      {nil, true},
		"RUN chown nobody /":                         {nil, true},
		"USER 7\nRUN mkdir /a":                       {nil, true},
		"RUN mkdir /a && chmod 777 /a":               {[]dockerfile.Folder{{"/a", 0, 0}}, true},
		"RUN mkdir $(x)":                             {nil, true},
	} {
		r := read(t, "FROM go AS b\nRUN mkdir /own && go build -o /m ./cmd\nFROM alpine\nCOPY --from=b /m /m\n"+run+"\n", dockerfile.Options{})
		if diff := cmp.Diff(c.folders, r.Folders); diff != "" || len(left(r)) > 0 != c.left {
			t.Errorf("%s: left %q\n%s", run, left(r), diff)
		}
	}
	r := read(t, "FROM alpine\nRUN mkdir /a\nCOPY run.sh /a\n", dockerfile.Options{})
	if len(r.Files) != 1 || r.Files[0].To != "/a/run.sh" {
		t.Errorf("a file in a folder that was made: %+v", r.Files)
	}
}
