package recipe_test

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/recipe"
)

var generator = recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}

// project has the files of an archive.
func project(archive string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return files
}

// found are the calls in the tasks and directives of a project, a line each: place, folder, command, and arguments or
// why there are none.
func found(t *testing.T, files fs.FS) string {
	t.Helper()
	directives, err := recipe.Directives(files, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range recipe.Calls(append(recipe.Tasks(files), directives...), generator, files) {
		what := strings.Join(c.Arguments, " ")
		if c.Unclear != "" {
			what = "? " + c.Unclear
		}
		fmt.Fprintf(&b, "%s:%d [%s] %s: %s\n", c.File, c.Line, c.Dir, c.Command, what)
	}
	return b.String()
}

// TestSources: each kind of file says what it runs, with its own variables and in its own folder.
func TestSources(t *testing.T) {
	for name, test := range map[string]struct{ files, want string }{
		"directives": {`
-- go.mod --
module m
-- apis/generate.go --
//go:build generate

// Package apis has directives.
package apis

//go:generate rm -rf ../package/crds
//go:generate go run -tags generate sigs.k8s.io/controller-tools/cmd/controller-gen object:headerFile=../hack/b.txt paths=./...;./v1 "crd:maxDescLen=0" output:dir=$PWD/crds
//go:generate -command gen go tool controller-gen
//go:generate gen rbac:roleName=$DOLLAR
// go:generate controller-gen none
-- apis/ignored.go --
//go:build ignore

package main

//go:generate controller-gen ignored
-- nested/go.mod --
module other
-- nested/a.go --
package a

//go:generate controller-gen nested
-- vendor/a/a.go --
package a

//go:generate controller-gen vendored
-- gopath/pkg/mod/a@v1.0.0/a.go --
package a

//go:generate controller-gen cached
-- main.go --
package main

//go:generate ./hack/generate.sh crd
-- hack/generate.sh --
controller-gen $1 paths=./...
`, `apis/generate.go:7 [apis] go generate ./apis: object:headerFile=../hack/b.txt paths=./...;./v1 crd:maxDescLen=0 output:dir=../apis/crds
apis/generate.go:9 [apis] go generate ./apis: rbac:roleName=$
hack/generate.sh:1 [] go generate .: crd paths=./...
`},
		"Taskfile": {`
-- Taskfile.yml --
version: "3"
vars:
  GEN: go tool controller-gen
  OUT: deploy/crds
  NOW: {sh: date}
includes:
  api: ./api/Taskfile.yml
  more:
    taskfile: more
    dir: sub
tasks:
  manifests:
    cmds:
      - echo begin
      - '{{.GEN}} crd paths=./... output:crd:dir={{.OUT}}'
      - task: other
      - cmd: |
          set -e
          cd config
          {{.GEN}} rbac:roleName=r paths=../... output:dir={{.ROOT_DIR}}/rbac
  unclear: '{{.GEN}} object year={{.NOW}}'
  below:
    dir: '{{.USER_WORKING_DIR}}/x'
    vars: {OUT: y}
    cmd: '{{.GEN}} webhook output:dir={{.OUT}}'
-- api/Taskfile.yml --
tasks:
  gen: [controller-gen object]
-- more/Taskfile.yml --
tasks:
  gen: controller-gen object paths=.
`, `api/Taskfile.yml:2 [] task api:gen: object
more/Taskfile.yml:2 [sub] task more:gen: object paths=.
Taskfile.yml:15 [] task manifests: crd paths=./... output:crd:dir=deploy/crds
Taskfile.yml:20 [config] task manifests: rbac:roleName=r paths=../... output:dir=../rbac
Taskfile.yml:21 [] task unclear: ? an argument depends on a value that only make or the shell knows
Taskfile.yml:25 [x] task below: webhook output:dir=y
`},
		"justfile": {`
-- justfile --
import 'more.just'
root := justfile_directory()
out := root / 'crds' # a comment
hash := ` + "`git rev-parse HEAD`" + `

# Generate.
@gen target='x' *flags: tools
    controller-gen crd \
      output:dir={{out}}
    -{{more}} object hash={{hash}}

script:
    #!/usr/bin/env bash
    set -euo pipefail
    cd api
    controller-gen object

tools:
    go install x
-- more.just --
more := "controller-gen"
again:
	controller-gen rbac
`, `more.just:3 [] just again: rbac
justfile:8 [] just gen: crd output:dir=./crds
justfile:10 [] just gen: ? an argument depends on a value that only make or the shell knows
justfile:16 [api] just script: object
`},
		"mise": {`
-- mise.toml --
[tools] # what is installed
go = "1.26"
[vars]
out = "deploy/\u0063rds"
[tasks."gen:crds"]
depends = ["a", "b"]
run = ["echo x", 'controller-gen crd output:dir={{vars.out}}']
[tasks.rbac]
dir = "{{config_root}}/sub"
run = """
set -e
controller-gen rbac:roleName=\
    r
"""
[tasks]
short = "controller-gen object"
inline = { run = "controller-gen webhook", dir = "w" }
-- mise-tasks/more --
#!/usr/bin/env bash
controller-gen object paths=./more
`, `mise.toml:7 [] mise run gen:crds: crd output:dir=deploy/crds
mise.toml:12 [sub] mise run rbac: rbac:roleName=r
mise.toml:16 [] mise run short: object
mise.toml:17 [w] mise run inline: webhook
mise-tasks/more:2 [] mise run more: object paths=./more
`},
	} {
		if diff := cmp.Diff(test.want, found(t, project(test.files))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestScripts: a script is followed in the folders that it changes to, and what is not plain in it is not.
func TestScripts(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"its own folder":   {"#!/bin/bash\nROOT=$(dirname \"${BASH_SOURCE[0]}\")/..\ncd \"$ROOT/api\"\ncontroller-gen object headerFile=\"${ROOT}/h\"\n", "4 [api] object headerFile=../hack/../h"},
		"the repository":   {"cd \"$(git rev-parse --show-toplevel)/api\" && controller-gen object\n", "1 [api] object"},
		"an absolute one":  {"HERE=$(cd \"$(dirname \"$0\")\" && pwd)\ncontroller-gen crd output:dir=$HERE/x\n", "2 [] crd output:dir=./hack/x"},
		"a variable":       {"CONTROLLER_GEN=${CONTROLLER_GEN:-bin/controller-gen}\nO=${O:-crds}\n\"${CONTROLLER_GEN}\" crd output:dir=\"$O\"\n", "3 [] crd output:dir=crds"},
		"in a function":    {"gen() {\n  controller-gen crd\n}\ngen\n", "2 [] crd"},
		"unused function":  {"gen() {\n  controller-gen crd\n}\n", "2 [] ? it is in the function gen, which the script itself does not run"},
		"in a subshell":    {"(cd api; controller-gen crd)\ncontroller-gen object\n", "1 [api] crd\n2 [] object"},
		"in a loop":        {"for v in a b; do\n  controller-gen crd paths=./$v\ndone\n", "2 [] ? it is part of a larger shell command"},
		"after a loop":     {"for v in a b; do cd $v; done\ncontroller-gen crd\n", "2 [] ? its folder depends on what only make or the shell know"},
		"by a condition":   {"test -d api && controller-gen crd\n", "1 [] ? it is part of a larger shell command"},
		"by another shell": {"bash -ec 'cd api; controller-gen crd'\n", "1 [api] crd"},
		"in a container":   {"docker run img controller-gen crd paths=./...\n", "1 [] ? another program runs it"},
		"through mise":     {"mise exec -- controller-gen crd\nenv A=b controller-gen object\nexec controller-gen rbac\n", "1 [] crd\n2 [] object\n3 [] rbac"},
		"another folder":   {"go -C tools tool controller-gen crd\ngo -C ../x run sigs.k8s.io/controller-tools/cmd/controller-gen crd\n", "1 [tools] crd\n2 [] ? its folder is outside of the project"},
		"several words":    {"O=\"crd rbac\"\ncontroller-gen $O\n", "2 [] ? an argument depends on a value that only make or the shell knows"},
		"itself":           {"./hack/gen.sh\ncontroller-gen crd\n", "2 [] crd"},
		"no shell":         {"#!/usr/bin/env python3\nrun('controller-gen crd')\n", "2 [] ? no shell reads the script that it is in"},
		"not valid":        {"controller-gen '\n", "1 [] ? it is not a valid shell command: 1:16: reached EOF without closing quote `'`"},
		"nested too deep":  {"controller-gen " + strings.Repeat("$((", 5000), "1 [] ? the text around it has too many brackets"},
		"too long":         {"controller-gen " + strings.Repeat("(", 300<<10), "1 [] ? the text around it is too long"},
	} {
		files := project("-- .git/x --\n-- hack/gen.sh --\n" + test.script)
		var lines []string
		for _, c := range recipe.Calls([]recipe.Text{{File: "Makefile", Line: 1, Shell: "./hack/gen.sh"}}, generator, files) {
			what := strings.Join(c.Arguments, " ")
			if c.Unclear != "" {
				what = "? " + c.Unclear
			}
			lines = append(lines, fmt.Sprintf("%d [%s] %s", c.Line, c.Dir, what))
		}
		if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestChanges: later commands change what their words name. Those that read it, or name other places, change nothing.
func TestChanges(t *testing.T) {
	const folder, all = "config/crd/bases", "config/crd/bases/*.yaml"
	for line, want := range map[string]string{
		"./headers.sh config/crd/bases":                                   all,
		"./headers.sh --dir=config":                                       all,
		"sed -i s/a/b/ config/crd/bases/a.yaml":                           "config/crd/bases/a.yaml",
		"sed -i s/a/b/ config/crd/bases/*.yaml":                           "config/crd/bases/*.yaml",
		"cd config/crd && yq -i .x bases/a.yaml":                          "config/crd/bases/a.yaml",
		"for f in config/crd/bases/*.yaml; do sed -i s/a/b/ \"$f\"; done": "config/crd/bases/*.yaml",
		"find config -name '*.yaml' -exec sed -i s/a/b/ {} +":             all,
		"mv config/crd/bases/a.yaml b.yaml":                               "config/crd/bases/a.yaml",
		"./patch.sh $(ls config)":                                         all,
		"cat h.txt > config/crd/bases/a.yaml":                             "config/crd/bases/a.yaml",
		"sed s/a/b/ config/crd/bases/a.yaml > docs/a.md":                  "",
		"cp config/crd/bases/a.yaml charts/a/crds/":                       "",
		"kustomize build config/crd > deploy/crds.yaml":                   "",
		"crd-docs --source config/crd/bases --output-dir docs":            "",
		"./docs.sh docs/":                                                 "",
		"cd sdk && npm run build":                                         "",
		"cd docs && ./gen.sh .":                                           "",
		"go run ./hack/docs docs":                                         "",
		"git diff --exit-code config/crd/bases":                           "",
		"git --no-pager diff --exit-code config/crd/bases":                "",
		"touch $@":                             "",
		"T=$(mktemp -d); cp a $T/b; rm -rf $T": "",
		"hack/inner.sh":                        "config/crd/bases/b.yaml",
		"hack/inner.sh docs":                   "config/crd/bases/b.yaml",
	} {
		files := project("-- hack/inner.sh --\ncd config/crd\nyq -i .x bases/b.yaml\n")
		texts := []recipe.Text{{File: "Makefile", Line: 1, Shell: "controller-gen crd"}, {File: "Makefile", Line: 2, Shell: line}}
		var patterns []string
		for _, step := range recipe.Calls(texts, generator, files)[0].Then {
			patterns = append(patterns, step.Changes(folder)...)
		}
		if got := strings.Join(patterns, " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestEdited: a program that is given the folder of Go code reads it, one that edits files changes it.
func TestEdited(t *testing.T) {
	for line, want := range map[string]string{
		"sed -i s/a/b/ api/v1/zz_generated.deepcopy.go": "api/v1/zz_generated.deepcopy.go",
		"addlicense -f h.txt api":                       "api",
		"./fix.sh api/v1/zz_generated.deepcopy.go":      "api/v1/zz_generated.deepcopy.go",
		"openapi-gen ./api/...":                         "",
		"./update-codegen.sh go bin":                    "",
		"go fmt ./...":                                  "",
	} {
		texts := []recipe.Text{{File: "Makefile", Line: 1, Shell: "controller-gen object"}, {File: "Makefile", Line: 2, Shell: line}}
		var places []string
		for _, step := range recipe.Calls(texts, generator, nil)[0].Then {
			places = append(places, step.Edited(func(place string) bool { return strings.HasPrefix(place, "api") })...)
		}
		if got := strings.Join(places, " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// FuzzSources: whatever files hold, a call is either clear or says why not.
func FuzzSources(f *testing.F) {
	f.Add("tasks: {a: &a [controller-gen, *a]}", "a:\n controller-gen {{a}}", "[tasks]\na = \"controller-gen", "gen() { gen; gen; controller-gen $0; }; gen")
	f.Fuzz(func(t *testing.T, taskfile, justfile, mise, script string) {
		files := fstest.MapFS{"Taskfile.yml": {Data: []byte(taskfile)}, "justfile": {Data: []byte(justfile)}, "mise.toml": {Data: []byte(mise)}, "a.sh": {Data: []byte(script)}}
		texts := append(recipe.Tasks(files), recipe.Text{File: "Makefile", Line: 1, Shell: "./a.sh"})
		for _, c := range recipe.Calls(texts, generator, files) {
			if c.Unclear != "" && c.Arguments != nil || c.File == "" || c.Line < 1 {
				t.Errorf("unclear, with arguments, or without a place: %+v", c)
			}
		}
	})
}

// TestDeepTables: tables in one another, whose keys grow, are passed over.
func TestDeepTables(t *testing.T) {
	files := fstest.MapFS{"mise.toml": {Data: []byte("[tasks.a]\nrun = 'controller-gen crd'\n" + strings.Repeat("a={", 300_000))}}
	calls := recipe.Calls(recipe.Tasks(files), recipe.Program{Name: "controller-gen"}, files)
	if len(calls) != 1 {
		t.Errorf("got %d calls", len(calls))
	}
}

// TestGrowingWords: what a text makes of its variables, and the commands of its loops, are bounded.
func TestGrowingWords(t *testing.T) {
	value := "a=" + strings.Repeat("x", 60_000) + "\n"
	for name, shell := range map[string]string{
		"a word":    value + "b=\"" + strings.Repeat("$a", 60_000) + "\"\n",
		"words":     value + "f() { c " + strings.Repeat(`"$a" `, 1000) + "; }\n" + strings.Repeat("f\n", 20_000),
		"functions": "f() { for i in 1; do " + strings.Repeat("f; ", 50_000) + "done; }\nf\n",
	} {
		texts := []recipe.Text{{File: "Makefile", Line: 1, Shell: shell + "controller-gen crd\n"}}
		if calls := recipe.Calls(texts, generator, nil); len(calls) > 1 {
			t.Errorf("%s: got %d calls", name, len(calls))
		}
	}
}

// TestManyTasks: what aliases and variables stand for in tasks is bounded.
func TestManyTasks(t *testing.T) {
	var aliases, values strings.Builder
	aliases.WriteString("version: 3\nx: &c [" + strings.Repeat("a,", 30_000) + "]\ntasks:\n")
	values.WriteString("version: 3\nvars:\n  v: " + strings.Repeat("v", 250_000) + "\ntasks:\n")
	for i := range 20_000 {
		fmt.Fprintf(&aliases, "  t%d:\n    cmds: *c\n", i)
		fmt.Fprintf(&values, "  t%d: \"{{.v}}\"\n", i)
	}
	for _, content := range []string{aliases.String(), values.String()} {
		size := 0
		for _, text := range recipe.Tasks(fstest.MapFS{"Taskfile.yml": {Data: []byte(content)}}) {
			size += len(text.Shell)
		}
		if size > 32<<20 {
			t.Errorf("%d bytes", size)
		}
	}
}

// TestManySteps: the calls of a recipe share the steps before and after them.
func TestManySteps(t *testing.T) {
	shell := "controller-gen a; rm f; " + strings.Repeat("x a; ", 3000) + strings.Repeat("controller-gen b; ", 2000) + "rm g; x b"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := recipe.Calls([]recipe.Text{{File: "Makefile", Line: 1, Shell: shell}}, generator, nil)
	runtime.ReadMemStats(&after)
	if len(calls) != 2001 {
		t.Fatalf("%d calls", len(calls))
	}
	first, last := calls[0], calls[2000]
	if len(first.Before) != 0 || len(first.Then) != 3003 || len(first.Removed) != 2 || len(last.Before) != 3001 || len(last.Then) != 2 || len(last.Removed) != 1 || cap(last.Before) != 3001 {
		t.Errorf("the first has %d, %d, %q, the last %d, %d, %q", len(first.Before), len(first.Then), first.Removed, len(last.Before), len(last.Then), last.Removed)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
		t.Errorf("it took %d MiB", used)
	}
}

// TestLongChain: the time that chains of commands take does not grow with the square of their length.
func TestLongChain(t *testing.T) {
	var texts []recipe.Text
	for i := range 4 {
		texts = append(texts, recipe.Text{File: "Makefile", Line: 1 + i, Shell: strings.Repeat("x&&", 20_000) + "x"})
	}
	texts = append(texts, recipe.Text{File: "Makefile", Line: 5, Shell: "a && controller-gen crd && test -f b && controller-gen object"})
	many := append(slices.Repeat(texts[:4], 2), recipe.Text{File: "Makefile", Line: 9, Shell: "controller-gen crd"})
	if calls := recipe.Calls(many, generator, nil); len(calls) != 1 || calls[0].Unclear == "" || calls[0].Line != 9 {
		t.Errorf("behind more commands than are looked at: %+v", calls)
	}
	for _, filter := range []bool{false, true} {
		program := generator
		program.Filter = filter
		began := time.Now()
		calls := recipe.Calls(texts, program, nil)
		if len(calls) != 2 || calls[0].Unclear != "" || (calls[1].Unclear == "") != filter {
			t.Errorf("%+v", calls)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	}
}
