package makefile_test

import (
	"fmt"
	"io/fs"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
)

var generator = recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}

// calls are those of the generator in a Makefile.
func calls(content string, getenv func(string) string, files fs.FS) []recipe.Call {
	return recipe.Calls(makefile.Texts([]byte(content), getenv, files, generator), generator, files)
}

func TestCalls(t *testing.T) {
	year := time.Now().Format("2006")
	for name, c := range map[string]struct {
		content string
		want    []recipe.Call
	}{
		"plain": {
			"LOCALBIN ?= $(shell pwd)/bin\nCONTROLLER_GEN ?= $(LOCALBIN)/controller-gen\n\nmanifests: controller-gen ## Generate.\n\t\"$(CONTROLLER_GEN)\" rbac:roleName=manager-role crd paths=\"./...\" \\\n\t  output:crd:artifacts:config=config/crd/bases\n",
			[]recipe.Call{{File: "Makefile", Line: 5, Target: "manifests", Arguments: []string{"rbac:roleName=manager-role", "crd", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}}},
		},
		"options in a variable": {
			"CRD_OPTIONS ?= \"crd:trivialVersions=true,preserveUnknownFields=false\"\nmanifests:\n\t$(CONTROLLER_GEN) $(CRD_OPTIONS) paths=./...\n",
			[]recipe.Call{{File: "Makefile", Line: 3, Target: "manifests", Arguments: []string{"crd:trivialVersions=true,preserveUnknownFields=false", "paths=./..."}}},
		},
		"from the environment": {
			"MAX ?= 1\ngen:\n\t@bin/controller-gen crd:maxDescLen=$(MAX)\n",
			[]recipe.Call{{File: "Makefile", Line: 3, Target: "gen", Arguments: []string{"crd:maxDescLen=7"}}},
		},
		"the year": {
			"YEAR ?= $(shell date +%Y)\ngen:\n\t${CONTROLLER_GEN} object:headerFile=\"hack/b.txt\",year=$(YEAR)\n",
			[]recipe.Call{{File: "Makefile", Line: 3, Target: "gen", Arguments: []string{"object:headerFile=hack/b.txt,year=" + year}}},
		},
		"go run": {
			"gen:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 crd\n",
			[]recipe.Call{{File: "Makefile", Line: 2, Target: "gen", Arguments: []string{"crd"}, Version: "v0.23.0"}},
		},
		"two commands": {
			"gen:\n\t$(CONTROLLER_GEN) crd\n\techo done\n\t$(CONTROLLER_GEN) object\n",
			[]recipe.Call{{File: "Makefile", Line: 2, Target: "gen", Arguments: []string{"crd"}}, {File: "Makefile", Line: 4, Target: "gen", Arguments: []string{"object"}}},
		},
		"the recipe goes on": {
			"H ?= ./hack/headers.sh\ngen:\n\t$(CONTROLLER_GEN) crd\n\t@# a comment\n\t@echo done\n\t@$(H) \\\n\t  config\n\tmv a b\nother:\n\t$(CONTROLLER_GEN) rbac\nnext:\n\tmv a b\n",
			[]recipe.Call{
				{File: "Makefile", Line: 3, Target: "gen", Arguments: []string{"crd"}, Then: []recipe.Step{{File: "Makefile", Line: 6, Text: "./hack/headers.sh config"}}},
				{File: "Makefile", Line: 10, Target: "other", Arguments: []string{"rbac"}},
			},
		},
		"it removes what was made": {
			"F := b.yaml\ngen:\n\t$(CONTROLLER_GEN) crd\n\trm -f config/a.yaml ./config/$(F) config/*.yaml ../c.yaml /d.yaml $(shell pwd)/e $(shell ls)/i\n\t@rm 'f g.yaml' && true\nother:\n\trm h\n",
			[]recipe.Call{{File: "Makefile", Line: 3, Target: "gen", Arguments: []string{"crd"}, Removed: []string{"config/a.yaml", "config/b.yaml", "e", "f g.yaml"},
				Then: []recipe.Step{{File: "Makefile", Line: 4, Text: "rm -f config/a.yaml ./config/$(F) config/*.yaml ../c.yaml /d.yaml $(shell pwd)/e $(shell ls)/i"}}}},
		},
		"it goes on with what only make knows": {
			"gen:\n\t$(CONTROLLER_GEN) crd\n\techo $@ > log\n",
			[]recipe.Call{{File: "Makefile", Line: 2, Target: "gen", Arguments: []string{"crd"}, Then: []recipe.Step{{File: "Makefile", Line: 3, Text: "echo $@ > log"}}}},
		},
		"asking for the version is no call": {
			"gen:\n\ttest -s x && $(CONTROLLER_GEN) --version | grep -q v1 || go install x\n\t$(CONTROLLER_GEN) --version\n", nil,
		},
		"included": {
			"DIR := tools\n-include gone.mk $(DIR)/kube.mk # a comment\ngen:\n\t$(CONTROLLER_GEN) $(OPT) rbac\n",
			[]recipe.Call{
				{File: "tools/kube.mk", Line: 4, Target: "manifests", Arguments: []string{"crd"}, Then: []recipe.Step{{File: "tools/kube.mk", Line: 5, Text: "mv a b"}}},
				{File: "Makefile", Line: 4, Target: "gen", Arguments: []string{"crd", "rbac"}},
			},
		},
		"a folder of its own": {
			"gen:\n\tcd api && $(CONTROLLER_GEN) crd\n\tcd api; $(CONTROLLER_GEN) rbac; $(CONTROLLER_GEN) --version\n\tcd $(shell pwd) && $(CONTROLLER_GEN) webhook\n",
			[]recipe.Call{
				{File: "Makefile", Line: 2, Target: "gen", Dir: "api", Arguments: []string{"crd"}},
				{File: "Makefile", Line: 3, Target: "gen", Dir: "api", Arguments: []string{"rbac"}},
				{File: "Makefile", Line: 4, Target: "gen", Arguments: []string{"webhook"}},
			},
		},
		"a provider of a larger project": { // cluster-api's Makefile has this form
			"TEST_DIR := test\nD := $(abspath $(TEST_DIR)/../test/infrastructure/docker)\ngen: $(CONTROLLER_GEN)\n\tcd $(D); $(CONTROLLER_GEN) \\\n\t\tpaths=./ \\\n\t\tcrd\n\t$(CONTROLLER_GEN) object\n",
			[]recipe.Call{
				{File: "Makefile", Line: 4, Target: "gen", Dir: "test/infrastructure/docker", Arguments: []string{"paths=./", "crd"}},
				{File: "Makefile", Line: 7, Target: "gen", Arguments: []string{"object"}},
			},
		},
		"a folder outside of the project": {
			"gen:\n\tcd ../other; $(CONTROLLER_GEN) crd\n\tcd ~/x && $(CONTROLLER_GEN) crd\n\tcd / && $(CONTROLLER_GEN) crd\n",
			[]recipe.Call{
				{File: "Makefile", Line: 2, Target: "gen", Unclear: "its folder is outside of the project"},
				{File: "Makefile", Line: 3, Target: "gen", Unclear: "its folder is outside of the project"},
				{File: "Makefile", Line: 4, Target: "gen", Unclear: "its folder is outside of the project"},
			},
		},
		"a folder that only the shell knows": {
			"gen:\n\tcd $$(git root) && $(CONTROLLER_GEN) crd\n\tcd a b; $(CONTROLLER_GEN) crd\n\tcd a* && $(CONTROLLER_GEN) crd\n\tcd a || $(CONTROLLER_GEN) crd\n\tcd a && $(CONTROLLER_GEN) crd > x\n",
			[]recipe.Call{
				{File: "Makefile", Line: 2, Target: "gen", Unclear: "its folder depends on what only make or the shell know"},
				{File: "Makefile", Line: 3, Target: "gen", Unclear: "cd has not one folder"},
				{File: "Makefile", Line: 4, Target: "gen", Unclear: "its folder depends on what only make or the shell know"},
				{File: "Makefile", Line: 5, Target: "gen", Unclear: "it is part of a larger shell command"},
				{File: "Makefile", Line: 6, Target: "gen", Unclear: "it is part of a larger shell command"},
			},
		},
		"a command's output": {
			"gen:\n\t$(CONTROLLER_GEN) crd paths=$(shell go list ./...)\n",
			[]recipe.Call{{File: "Makefile", Line: 2, Target: "gen", Unclear: "an argument depends on a value that only make or the shell knows"}},
		},
		"a condition": {
			"ifeq ($(X),1)\nOPT = a\nelse\nOPT = b\nendif\ngen:\n\t$(CONTROLLER_GEN) crd $(OPT)\n",
			[]recipe.Call{{File: "Makefile", Line: 7, Target: "gen", Unclear: "an argument depends on a value that only make or the shell knows"}},
		},
		"installing it is no call": {
			"controller-gen: $(CONTROLLER_GEN)\n$(CONTROLLER_GEN): $(LOCALBIN)\n\t$(call go-install-tool,$(CONTROLLER_GEN),sigs.k8s.io/controller-tools/cmd/controller-gen,$(V))\n\ttest -s $(LOCALBIN)/controller-gen || GOBIN=x go install sigs.k8s.io/controller-tools/cmd/controller-gen@v1\n\tln -sf a $(CONTROLLER_GEN)\n",
			nil,
		},
		"a variable of itself": {
			"A = $(A)$(A)$(A)$(A)\ngen:\n\t$(CONTROLLER_GEN) $(A)\n",
			[]recipe.Call{{File: "Makefile", Line: 3, Target: "gen", Unclear: "an argument depends on a value that only make or the shell knows"}},
		},
		"inside of define": {"define x\n\t$(CONTROLLER_GEN) crd\nendef\n", nil},
		"none":             {"all:\n\tslipway generate\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"tools/kube.mk": {Data: []byte("include tools/*.mk\nOPT = crd\nmanifests:\n\t$(CONTROLLER_GEN) $(OPT)\n\tmv a b\n")}}
			getenv := func(name string) string { return map[string]string{"MAX": "7"}[name] }
			got := calls(c.content, getenv, files)
			for i := range got {
				if command := "make " + got[i].Target; got[i].Command != command {
					t.Errorf("it is run by %q, not %q", got[i].Command, command)
				}
				got[i].Command = ""
				if then := got[i].Then; then != nil {
					got[i].Then = []recipe.Step{{File: then[0].File, Line: then[0].Line, Text: then[0].Text}}
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestLongReferences: what a few references make very long is not known, and is not built to find that out.
func TestLongReferences(t *testing.T) {
	content := "A = " + strings.Repeat("a", 64<<10) + "\nB = " + strings.Repeat("$(A)", 2000) + "\nC = " + strings.Repeat("$(B)", 2) +
		"\nCONTROLLER_GEN = $(C)\nfirst:\n\tcontroller-gen crd\ngen:\n\tcontroller-gen $(C)\n"
	none := func(string) string { return "" }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := calls(content, none, nil)
	tool := makefile.ToolOf([]byte(content), generator, generatorPackage, none, nil)
	runtime.ReadMemStats(&after)
	if len(calls) != 2 || calls[0].Unclear != "" || calls[1].Unclear == "" || tool != (makefile.Tool{}) {
		t.Errorf("found %d calls and %+v", len(calls), tool)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("it took %d MiB", used>>20)
	}
}

// allocated are the MiB that a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// TestManyNeeds: a head that repeats its target, or has many of them, does not have its needs repeated without end.
func TestManyNeeds(t *testing.T) {
	none := func(string) string { return "" }
	for name, targets := range map[string]string{"one": strings.Repeat("deploy ", 20_000), "several": "deploy " + strings.Join(numbered(20_000), " ")} {
		var needs map[string][]string
		used := allocated(func() {
			needs = makefile.Needs([]byte("deploy: first second\n"+targets+": third"+strings.Repeat(" x", 5000)+"\n"), none, nil)
		})
		all := 0
		for _, words := range needs {
			all += len(words)
		}
		if all > 1<<16 || len(needs["deploy"]) != 5003 && name == "one" || used > 64 {
			t.Errorf("%s: %d needs, %d of one target, %d MiB", name, all, len(needs["deploy"]), used)
		}
	}
}

// TestManyLines: a rule is made once for a target that its head repeats, and the rules of many targets end somewhere.
func TestManyLines(t *testing.T) {
	none := func(string) string { return "" }
	never := func([]recipe.Text) bool { return false }
	lines := strings.Repeat("\tx\n", 500)
	texts, _ := makefile.Making([]byte(strings.Repeat("a ", 1000)+":\n"+lines), none, nil, makefile.Goal{PassOver: never})
	if len(texts) != 500 {
		t.Errorf("repeated: %d lines", len(texts))
	}
	for name, lines := range map[string]string{"many lines": lines, "a long line": "\t" + strings.Repeat("x", 100_000) + "\n"} {
		all := strings.Join(numbered(900), " ")
		var texts []recipe.Text
		used := allocated(func() {
			texts, _ = makefile.Making([]byte(all+":"+all+"\n"+lines), none, nil, makefile.Goal{PassOver: never})
		})
		if len(texts) > 1<<16+1 || len(texts) == 0 || texts[len(texts)-1].Shell != recipe.Unknown || used > 256 {
			t.Errorf("%s: %d lines, %d MiB", name, len(texts), used)
		}
	}
}

// TestManyTargets: the command of a rule with many targets is not made for each of its lines.
func TestManyTargets(t *testing.T) {
	content := strings.Join(numbered(2000), " ") + ":\n" + strings.Repeat("\tx\n", 2000)
	used := allocated(func() {
		if texts := makefile.Texts([]byte(content), func(string) string { return "" }, nil); len(texts) != 2000 || !strings.HasSuffix(texts[1999].Command, " t1999") {
			t.Errorf("%d lines", len(texts))
		}
	})
	if used > 16 {
		t.Errorf("it took %d MiB", used)
	}
}

// TestManyParts: what many lines make of a variable or of one line is not copied for each of them, and ends somewhere.
func TestManyParts(t *testing.T) {
	none := func(string) string { return "" }
	for content, want := range map[string]int{
		"A = a\n" + strings.Repeat("A += x\n", 20_000):       1 + 2*20_000,
		"A = \\\n" + strings.Repeat("x\\\n", 20_000) + "y\n": 1 + 2*20_000,
		"A = a\n" + strings.Repeat("A += x\n", 40_000):       0,
		"A = " + strings.Repeat("x", 70_000) + "\n":          0,
	} {
		used := allocated(func() {
			if value := makefile.Value([]byte(content), "A", none, nil); len(value) != want {
				t.Errorf("%.20q: %d bytes", content, len(value))
			}
		})
		if used > 64 {
			t.Errorf("%.20q: %d MiB", content, used)
		}
	}
}

// numbered are n names.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("t", i))
	}
	return names
}

// FuzzCalls: whatever a Makefile holds, a call is either clear or says why not.
func FuzzCalls(f *testing.F) {
	f.Add("A = $(B)\nB = $(A)\ngen:\n\t$(CONTROLLER_GEN) $(A)\n")
	f.Add("gen:\n\tcontroller-gen 'a\n")
	f.Add("gen:\n\tcontroller-gen $(x${y}) $$(a) `b`\n")
	f.Add("include *.mk\ngen:\n\tcontroller-gen a\n")
	f.Fuzz(func(t *testing.T, content string) {
		for _, c := range calls(content, func(string) string { return "" }, fstest.MapFS{"a.mk": {Data: []byte(content)}}) {
			if c.Unclear != "" && c.Arguments != nil {
				t.Errorf("unclear, with arguments: %s", fmt.Sprint(c))
			}
		}
	})
}
