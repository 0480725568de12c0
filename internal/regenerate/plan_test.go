package regenerate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

const types = `
-- PROJECT --
layout:
- go.kubebuilder.io/v4
version: "3"
-- go.mod --
module example.com/op

go 1.24
-- api/v1/types.go --
// +kubebuilder:object:generate=true
package v1

// Size is a size.
type Size struct {
	Of map[string]int ` + "`json:\"of\"`" + `
}
-- internal/controller/controller.go --
package controller

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get
`

// project is a folder with the types and these files.
func project(t *testing.T, archive string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(types + archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// planFor is the plan of a project, whatever the environment has.
func planFor(root string) (regenerate.Plan, []report.Finding, error) {
	return regenerate.PlanFor(root, codebase.Read(fileview.Disk(root), func(string) string { return "" }))
}

// made are the files that the plan of a project makes, relative to it, and what its Makefile has said of.
func made(t *testing.T, root string, more ...generate.Use) (files []string, findings []report.Finding) {
	t.Helper()
	plan, findings, err := planFor(root)
	if err != nil {
		t.Fatal(err)
	}
	plan.Add(more...)
	result, err := plan.Run(t.Context(), generate.Options{})
	if err != nil || result.Failed() {
		t.Fatal(result, err)
	}
	for _, f := range result.Files {
		files = append(files, regenerate.Relative(root, f.Path))
	}
	slices.Sort(files)
	return files, findings
}

// TestPlanFor: a Makefile that calls controller-gen says what is generated, any other leaves it to the defaults.
func TestPlanFor(t *testing.T) {
	const deepcopy = "api/v1/zz_generated.deepcopy.go"
	at := func(line int) report.Position { return report.Position{File: "Makefile", Line: line, Column: 1} }
	for _, test := range []struct {
		name, files string
		want        []string
		findings    []report.Finding
	}{
		{"no Makefile", "", []string{deepcopy, "config/rbac/role.yaml"}, nil},
		{
			"a Makefile without a call", "-- Makefile --\nall:\n\tgo build ./...\n", []string{deepcopy, "config/rbac/role.yaml"},
			[]report.Finding{{Position: report.Position{File: "Makefile"}, Suggestion: "slipway generate --help lists them"}},
		},
		{"a Makefile that calls slipway", "-- Makefile --\nSLIPWAY ?= slipway\ngenerate:\n\t$(SLIPWAY) generate\n", []string{deepcopy, "config/rbac/role.yaml"}, nil},
		{"one with a call", "-- Makefile --\nmanifests:\n\t$(CONTROLLER_GEN) rbac:roleName=x paths=./... output:rbac:dir=permissions\n", []string{"permissions/role.yaml"}, nil},
		{"one with two calls", "-- Makefile --\na:\n\tcontroller-gen object paths=./api/...\nb:\n\tcontroller-gen rbac:roleName=x paths=./internal/...\n", []string{deepcopy, "config/rbac/role.yaml"}, nil},
		{"a call for help", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\nb:\n\tcontroller-gen --version\n", []string{deepcopy}, nil},
		{
			"build tags", "-- Makefile --\na:\n\tcontroller-gen --load-build-tags mine object paths=./...\n-- tagged/v1/types.go --\n//go:build mine\n\n" +
				"// +kubebuilder:object:generate=true\npackage v1\n\ntype Of map[string]int\n", []string{deepcopy, "tagged/v1/zz_generated.deepcopy.go"}, nil,
		},
		{
			"a call that is not clear", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\nb c:\n\tcontroller-gen $(shell cat options)\n", []string{deepcopy},
			[]report.Finding{{Position: at(4), Suggestion: "make b c"}},
		},
		{
			"a folder of its own", "-- Makefile --\na:\n\tcd internal; controller-gen rbac:roleName=x paths=./... output:rbac:dir=config\n", []string{"internal/config/role.yaml"}, nil,
		},
		{
			"a folder that is not there", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\nb:\n\tcd test/x && controller-gen object paths=./...\n", []string{deepcopy},
			[]report.Finding{{Position: at(4), Suggestion: "make b"}},
		},
		{
			"a target that is a command", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\nx;touch\u00a0y $(touch z):\n\tcd test/x && controller-gen object paths=./...\n", []string{deepcopy},
			[]report.Finding{{Position: at(4)}},
		},
		{
			"no webhooks", "-- Makefile --\na:\n\tcontroller-gen object paths=./...\nb:\n\tcontroller-gen rbac:roleName=x paths=./...\n-- config/webhook/kustomization.yaml --\nresources:\n- manifests.yaml\n", []string{deepcopy, "config/rbac/role.yaml"},
			[]report.Finding{{Position: at(4), Suggestion: "add webhook to the arguments of this call"}},
		},
		{
			"webhooks by hand", "-- Makefile --\na:\n\tcontroller-gen rbac:roleName=x paths=./...\n-- config/webhook/kustomization.yaml --\nresources:\n- manifests.yaml\n-- config/webhook/manifests.yaml --\n", []string{"config/rbac/role.yaml"}, nil,
		},
		{
			"options that are obsolete", "-- Makefile --\na:\n\tcontroller-gen object \"crd:trivialVersions=true, maxDescLen=0,crdVersions={v1beta1}\" paths=./...\n", []string{deepcopy},
			[]report.Finding{
				{Position: at(2), Suggestion: "all CRDs have a schema per version now"},
				{Position: at(2), Suggestion: "Kubernetes 1.22 removed that version; v1 is generated"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files, findings := made(t, project(t, test.files))
			if diff := cmp.Diff(test.want, files); diff != "" {
				t.Errorf("files: %s", diff)
			}
			for i := range findings {
				if findings[i].Message == "" || findings[i].Rule == "" {
					t.Errorf("a finding says nothing: %+v", findings[i])
				}
				findings[i].Message, findings[i].Rule = "", ""
			}
			if diff := cmp.Diff(test.findings, findings); diff != "" {
				t.Errorf("findings: %s", diff)
			}
		})
	}
}

// TestRoleName: a role keeps the name that its bindings have.
func TestRoleName(t *testing.T) {
	root := project(t, "-- config/rbac/role.yaml --\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: operator-role\nrules: []\n")
	plan, _, err := planFor(root)
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Run(t.Context(), generate.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	named := func(f generate.File) bool {
		return filepath.Base(f.Path) == "role.yaml" && bytes.Contains(f.Content, []byte("\n  name: operator-role\n"))
	}
	if !slices.ContainsFunc(result.Files, named) {
		t.Errorf("no file has the role: %v", result.Files)
	}
}

// TestAdd: generators that the project needs besides are added.
func TestAdd(t *testing.T) {
	root := project(t, "-- Makefile --\na:\n\tcontroller-gen object paths=./...\n")
	files, _ := made(t, root, generate.Use{Name: "rbac", Options: "roleName=x", Output: generate.Output{Config: "more"}})
	if !slices.Equal(files, []string{"api/v1/zz_generated.deepcopy.go", "more/role.yaml"}) {
		t.Errorf("files are %v", files)
	}
}

func TestPlanForRefuses(t *testing.T) {
	for _, test := range []struct{ name, files, where string }{
		{"a Makefile that is a folder", "-- Makefile/x --\n", "Makefile"},
		{"a flag that is none", "-- Makefile --\na:\n\tcontroller-gen --none paths=./...\n", "Makefile:2"},
		{"a generator that is none", "-- Makefile --\na:\n\tcontroller-gen none paths=./...\n", "Makefile:2"},
	} {
		root := project(t, test.files)
		_, _, err := planFor(root)
		if refusal, ok := errors.AsType[*report.Error](err); !ok || strings.TrimPrefix(refusal.Where, root+"/") != test.where {
			t.Errorf("%s: got %v, want a refusal of %s", test.name, err, test.where)
		}
	}
}

// TestStale shows what a file that was changed should be.
func TestStale(t *testing.T) {
	root := project(t, "-- a --\nold\n")
	plan, _, err := planFor(root)
	if err != nil {
		t.Fatal(err)
	}
	differences, err := plan.Stale([]generate.File{
		{Path: filepath.Join(root, "a"), Action: report.Updated, Content: []byte("new\n")},
		{Path: filepath.Join(root, "b"), Action: report.Created, Content: []byte("new\n")},
		{Path: filepath.Join(root, "c"), Action: report.Unchanged},
	})
	want := []regenerate.Difference{
		{Path: "a", Action: report.Updated, Diff: "diff a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-old\n+new\n"},
		{Path: "b", Action: report.Created, Diff: "diff a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1,1 @@\n+new\n"},
	}
	if diff := cmp.Diff(want, differences); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := plan.Stale([]generate.File{{Path: root, Action: report.Updated}}); err == nil {
		t.Error("a folder is compared")
	}
}

// TestRemoves: what a recipe removes after all its calls is not made.
func TestRemoves(t *testing.T) {
	for recipe, want := range map[string]bool{
		"controller-gen crd\n\trm d":                                             true,
		"controller-gen crd\n\tcontroller-gen rbac:roleName=r\n\trm c d":         true,
		"controller-gen crd\n\trm d\n\tcontroller-gen crd paths=./v1":            false,
		"controller-gen crd\n\trm d\nother:\n\tcontroller-gen object paths=./v1": true,
		"controller-gen crd\n\trm -r sub":                                        false,
	} {
		root := project(t, "-- Makefile --\ngen:\n\t"+recipe+"\n")
		plan, _, err := planFor(root)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Removes(filepath.Join(root, "d")); got != want {
			t.Errorf("%q: %v, want %v", recipe, got, want)
		}
	}
}

// TestPin: the first that names a version of controller-gen counts, and whatever contradicts it is reported.
func TestPin(t *testing.T) {
	const (
		pinned = "-- Makefile --\nCONTROLLER_GEN = go run sigs.k8s.io/controller-tools/cmd/controller-gen@%s\na:\n\t$(CONTROLLER_GEN) crd output:dir=c\n"
		task   = "-- Taskfile.yml --\nversion: '3'\ntasks:\n  gen:\n    cmds:\n    - go run sigs.k8s.io/controller-tools/cmd/controller-gen@%s crd output:dir=c\n"
		called = "-- Makefile --\na:\n\tcontroller-gen crd output:dir=c\n"
		goMod  = "-- go.mod --\nmodule m\n\ngo 1.26\n\n%s\nrequire sigs.k8s.io/controller-tools v0.18.0\n"
		tool   = "tool sigs.k8s.io/controller-tools/cmd/controller-gen"
		tools  = "-- hack/tools.go --\n//go:build tools\n\npackage tools\n\nimport _ \"sigs.k8s.io/controller-tools/cmd/controller-gen\"\n"
	)
	old := strings.Replace(crd, "v0.23.0", "v0.20.1", 1)
	for name, test := range map[string]struct {
		files, source, version string
		contradictions         int
	}{
		"the Makefile":       {fmt.Sprintf(pinned, "v0.19.0") + fmt.Sprintf(goMod, tool) + tools + "-- c/a.yaml --\n" + old, "the Makefile asks for", "v0.19.0", 3},
		"go.mod":             {called + fmt.Sprintf(goMod, tool) + tools + "-- c/a.yaml --\n" + old, "the tools of go.mod have", "v0.18.0", 1},
		"an unused module":   {called + fmt.Sprintf(goMod, "") + "-- c/a.yaml --\n" + old, "the project's CRDs name", "v0.20.1", 0},
		"tools.go":           {called + fmt.Sprintf(goMod, "") + tools, "hack/tools.go imports", "v0.18.0", 0},
		"CRDs":               {called + "-- c/a.yaml --\n" + old + "-- c/b.yaml --\n" + crd, "the project's CRDs name", "v0.23.0", 1},
		"CRDs of no version": {called + "-- c/a.yaml --\n" + strings.Replace(crd, "v0.23.0", "(devel)", 1), "the project's CRDs name", "(devel)", 0},
		"latest":             {fmt.Sprintf(pinned, "latest") + "-- c/a.yaml --\n" + old, "the project's CRDs name", "v0.20.1", 1},
		"no end":             {fmt.Sprintf(task, "v0.19.0-"+strings.Repeat("a", 100)) + "-- c/a.yaml --\n" + old, "the project's CRDs name", "v0.20.1", 0},
		"no call":            {"-- config/crd/bases/a.yaml --\n" + old, "the project's CRDs name", "v0.20.1", 0},
	} {
		plan, _, err := planFor(project(t, test.files))
		if err != nil {
			t.Fatal(err)
		}
		if pin, found := plan.Pin(), plan.Contradictions(); pin != (regenerate.Pin{Version: test.version, Source: test.source}) || len(found) != test.contradictions {
			t.Errorf("%s: %q %q and %v, want %q %q and %d contradictions", name, pin.Source, pin.Version, found, test.source, test.version, test.contradictions)
		}
	}
}

// TestVersionsOutOfRange: what is too old is refused by name, and what is too new is known to be so.
func TestVersionsOutOfRange(t *testing.T) {
	pinned := func(version string) regenerate.Plan {
		t.Helper()
		plan, _, err := planFor(project(t, "-- Makefile --\nCONTROLLER_GEN = go run sigs.k8s.io/controller-tools/cmd/controller-gen@"+version+"\na:\n\t$(CONTROLLER_GEN) crd output:dir=c\n"))
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	plan := pinned("v0.13.0")
	if refusal := plan.Refusal(); refusal == nil || !strings.Contains(refusal.Error(), "v0.13.0") {
		t.Errorf("v0.13.0: %v", refusal)
	}
	if plan, err := plan.WithVersion("v0.14.0"); err != nil || plan.Refusal() != nil || plan.Pin().Version != "v0.14.0" {
		t.Errorf("another version: %v, %v, %v", plan.Pin(), plan.Refusal(), err)
	}
	for _, version := range []string{"v0.12.0", "latest", "0.17.3"} {
		if _, err := plan.WithVersion(version); err == nil {
			t.Errorf("%s is taken", version)
		}
	}
	if source, version := pinned("v0.24.0").Later(); source != "the Makefile asks for" || version != "v0.24.0" {
		t.Errorf("v0.24.0: %q %q", source, version)
	}
	if _, version := pinned("v0.23.0").Later(); version != "" {
		t.Errorf("v0.23.0 is too new: %q", version)
	}
}

func TestRelative(t *testing.T) {
	root := t.TempDir()
	for path, want := range map[string]string{filepath.Join(root, "a", "b"): "a/b", root: ".", filepath.Dir(root): filepath.Dir(root)} {
		if got := regenerate.Relative(root, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// crd is a definition as generators write them.
const crd = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: v0.23.0\n"

// TestLeftovers: definitions that nothing makes any more are found, and go; what people wrote stays.
func TestLeftovers(t *testing.T) {
	root := project(t, "-- config/crd/bases/made.yaml --\n"+crd+"-- config/crd/bases/left.yaml --\n"+crd+
		"-- config/crd/bases/mine.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {}\n-- config/crd/bases/empty.yaml --\n-- config/crd/bases/folder.yaml/x --\n-- elsewhere/left.yaml --\n"+crd)
	plan, _, err := planFor(root)
	if err != nil {
		t.Fatal(err)
	}
	bases := filepath.Join(root, "config", "crd", "bases")
	if diff := cmp.Diff([]string{bases}, plan.CRDFolders()); diff != "" {
		t.Errorf("folders: %s", diff)
	}
	left, err := regenerate.Leftovers(plan, []generate.File{{Path: filepath.Join(bases, "made.yaml")}})
	if diff := cmp.Diff([]string{filepath.Join(bases, "left.yaml")}, left); diff != "" || err != nil {
		t.Fatalf("%v %s", err, diff)
	}
	for range 2 { // what is gone is gone
		if err := regenerate.Prune(plan, nil, left); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestPruneOutside: what lies outside of the project goes only if its user allows that.
func TestPruneOutside(t *testing.T) {
	root, outside := project(t, ""), project(t, "-- left.yaml --\n"+crd)
	plan := regenerate.PlanOf(root, generate.Use{Name: "crd", Output: generate.Output{Config: outside}}, generate.Use{Name: "crd", Output: generate.Output{Config: outside}}, generate.Use{Name: "object"})
	left, err := regenerate.Leftovers(plan, nil)
	if err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
	if refusal, ok := errors.AsType[*report.Error](regenerate.Prune(plan, nil, left)); !ok || refusal.Where != left[0] || refusal.Next != "slipway generate --prune --outside "+outside {
		t.Errorf("got %v", refusal)
	}
	if err := regenerate.Prune(plan, []string{outside}, left); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if folders := regenerate.PlanOf(root, generate.Use{Name: "crd"}).CRDFolders(); !slices.Equal(folders, []string{filepath.Join(root, "config", "crd")}) {
		t.Errorf("the usual folders are %v", folders)
	}
}
