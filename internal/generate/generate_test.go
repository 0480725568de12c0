package generate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

const types = `// Package v1 is an API.
// +kubebuilder:object:generate=true
// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	// +kubebuilder:validation:MaxLength=10
	Name string ` + "`json:\"name\"`" + `
}
`

const controller = `package controller

// +kubebuilder:rbac:groups=example.com,resources=widgets,verbs=get;list

// Reconcile reconciles.
func Reconcile() {}
`

// project makes a project that uses the modules of this one.
func project(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", strings.Replace(string(mod), "module github.com/slipway-dev/slipway", "module example.com/project", 1))
	write(t, dir, "api/v1/types.go", types)
	write(t, dir, "internal/controller/controller.go", controller)
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func options(dir string) generate.Options {
	return generate.Options{
		Dir: dir,
		Uses: []generate.Use{
			{Name: "object"},
			{Name: "crd", Output: generate.Output{Config: "config/crd/bases"}},
			{Name: "rbac", Options: "roleName=manager-role"},
		},
		Version: "slipway-test",
	}
}

var outputs = []string{
	"api/v1/zz_generated.deepcopy.go",
	"config/crd/bases/example.com_widgets.yaml",
	"config/rbac/role.yaml",
}

// actions runs the generators and returns what happened to each file.
func actions(t *testing.T, dir string, o generate.Options) map[string]report.Action {
	t.Helper()
	result, err := generate.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]report.Action)
	for _, f := range result.Files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(rel)] = f.Action
	}
	return found
}

func all(action report.Action) map[string]report.Action {
	m := make(map[string]report.Action)
	for _, name := range outputs {
		m[name] = action
	}
	return m
}

func TestRun(t *testing.T) {
	dir := project(t)
	dry := options(dir)
	dry.DryRun = true
	if diff := cmp.Diff(all(report.Created), actions(t, dir, dry)); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "config")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dry run wrote something: %v", err)
	}
	if diff := cmp.Diff(all(report.Created), actions(t, dir, options(dir))); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all(report.Unchanged), actions(t, dir, options(dir))); diff != "" {
		t.Errorf("second run (-want +got):\n%s", diff)
	}
	write(t, dir, "api/v1/types.go", strings.Replace(types, "MaxLength=10", "MaxLength=11", 1))
	want := all(report.Unchanged)
	want[outputs[1]] = report.Updated
	if diff := cmp.Diff(want, actions(t, dir, options(dir))); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	crd, err := os.ReadFile(filepath.Join(dir, outputs[1]))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"controller-gen.kubebuilder.io/version: slipway-test\n", "maxLength: 11\n"} {
		if !strings.Contains(string(crd), text) {
			t.Errorf("the CRD does not have %q", text)
		}
	}
	noTemporaryFiles(t, dir)
}

func noTemporaryFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), ".slipway-") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStrict(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v1/types.go", strings.Replace(types, "MaxLength", "MaxLenght", 1))
	o := options(dir)
	for _, strict := range []bool{false, true} {
		o.Strict = strict
		result, err := generate.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Findings) != 1 || result.Failed() != strict {
			t.Errorf("strict %t: %v", strict, result.Findings)
		}
	}
}

func TestFileNamesStayInTheirFolder(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v1/types.go", strings.Replace(types, "object:root=true", "object:root=true\n// +kubebuilder:resource:path=../../../b", 1))
	if _, err := generate.Run(t.Context(), options(dir)); err == nil {
		t.Error("a plural that leads elsewhere was accepted")
	}
}

// TestMarkersOfOtherPages: a name that is known below another part is meant for that, and --strict refuses it.
func TestMarkersOfOtherPages(t *testing.T) {
	for written, meant := range map[string]string{"validation:Default={a: 1}": "default", "text:Enum={a}": "validation:Enum", "validation:Nothing=1": ""} {
		dir := project(t)
		write(t, dir, "api/v1/types.go", strings.Replace(types, "+kubebuilder:validation:MaxLength=10", "+kubebuilder:"+written, 1))
		strict := options(dir)
		strict.Strict = true
		result, err := generate.Run(t.Context(), strict)
		if err != nil {
			t.Fatal(err)
		}
		if meant != "" {
			meant = "did you mean +kubebuilder:" + meant + "?"
		}
		if len(result.Findings) != 1 || result.Findings[0].Suggestion != meant || result.Findings[0].Fatal != (meant != "") {
			t.Errorf("+kubebuilder:%s: %d findings, fatal %t: %s %s, want the suggestion %q", written, len(result.Findings), result.Findings[0].Fatal, result.Findings[0].Message, result.Findings[0].Suggestion, meant)
		}
	}
}

func TestMistakesWriteNothing(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v1/types.go", strings.NewReplacer("MaxLength=10", "MaxLength=ten", "kubebuilder:object:root", "kubebuilder:object:rot").Replace(types))
	result, err := generate.Run(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := []report.Finding{
		{
			Position: report.Position{File: filepath.Join("api", "v1", "types.go"), Line: 8, Column: 4},
			Rule:     report.RuleUnknownMarker,
			Message:  "unknown marker +kubebuilder:object:rot has no effect", Suggestion: "did you mean +kubebuilder:object:root?",
			Fix: report.Fix{Line: 8, Column: 5, EndColumn: 27, Replaces: "kubebuilder:object:rot", Replacement: "kubebuilder:object:root"},
		},
		{
			Position: report.Position{File: filepath.Join("api", "v1", "types.go"), Line: 15, Column: 39},
			Rule:     report.RuleInvalidMarker,
			Message:  `+kubebuilder:validation:MaxLength: expected an integer, found "ten"`, Fatal: true,
		},
	}
	if diff := cmp.Diff(want, result.Findings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !result.Failed() {
		t.Error("the run did not fail")
	}
	for _, name := range outputs {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	dir := project(t)
	for name, change := range map[string]func(*generate.Options){
		"no generators":     func(o *generate.Options) { o.Uses = nil },
		"unknown generator": func(o *generate.Options) { o.Uses[0].Name = "objekt" },
		"unknown option":    func(o *generate.Options) { o.Uses[1].Options = "maxLen=3" },
		"bad value":         func(o *generate.Options) { o.Uses[1].Options = "maxDescLen=short" },
		"no header file":    func(o *generate.Options) { o.Uses[0].Options = "headerFile=nowhere.txt" },
		"no such folder":    func(o *generate.Options) { o.Paths = []string{"./nowhere/..."} },
		"same file twice": func(o *generate.Options) {
			o.Uses = append(o.Uses, generate.Use{Name: "rbac", Options: "roleName=other-role"})
		},
	} {
		o := options(dir)
		o.Uses = slices.Clone(o.Uses)
		change(&o)
		_, err := generate.Run(t.Context(), o)
		var told *report.Error
		if !errors.As(err, &told) {
			t.Errorf("%s: %v is not told well", name, err)
		}
	}
}

// A Makefile may call controller-gen twice, for CRDs in two folders, with the other generators in both calls.
func TestSameResultTwice(t *testing.T) {
	dir := project(t)
	o := options(dir)
	o.Uses = append(slices.Clone(o.Uses), o.Uses[2])
	for _, want := range []report.Action{report.Created, report.Unchanged} {
		done := actions(t, dir, o)
		if len(done) != len(outputs) || done["config/rbac/role.yaml"] != want {
			t.Errorf("want the role %v, got %v", want, done)
		}
	}
}

func TestLinksAndPermissionsStay(t *testing.T) {
	dir := project(t)
	write(t, dir, "elsewhere/role.yaml", "old\n")
	target := filepath.Join(dir, "elsewhere", "role.yaml")
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "config", "rbac", "role.yaml")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	actions(t, dir, options(dir))
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink(link); err != nil || got != target || info.Mode().Perm() != 0o640 || info.Size() < 10 {
		t.Errorf("link to %q (%v), mode %v, %d bytes", got, err, info.Mode(), info.Size())
	}
}

// TestNothingIsTypeChecked bounds what the resolver has to ask go/types for.
func TestNothingIsTypeChecked(t *testing.T) {
	result, err := generate.Run(t.Context(), options(project(t)))
	if err != nil {
		t.Fatal(err)
	}
	if result.Checked != 0 {
		t.Errorf("%d packages were type-checked, want none", result.Checked)
	}
	if result.Parsed > 40 {
		t.Errorf("%d files were parsed, want 40 at most", result.Parsed)
	}
}

// TestPoliciesDoubtNothing: what the project's options settle is not doubted again by who only reads its schemas.
func TestPoliciesDoubtNothing(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v1/more.go", "package v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// Template is in a kind.\ntype Template struct {\n"+
		"\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n}\n")
	write(t, dir, "api/v1/types.go", strings.Replace(types, "\n\tName string", "\n\tName string `json:\"name\"`\n\tTemplate Template `json:\"template\"`\n\tOther string", 1))
	o := options(dir)
	o.Uses[1].Options = "generateEmbeddedObjectMeta=true"
	o.Uses = append(o.Uses, generate.Use{Name: "vap", Output: generate.Output{Config: "config/vap"}})
	result, err := generate.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		if strings.Contains(f.Message, "ObjectMeta") {
			t.Errorf("got %+v", f)
		}
	}
}

func TestGenerators(t *testing.T) {
	var names []string
	for _, g := range generate.Generators() {
		names = append(names, g.Name)
	}
	if want := []string{"crd", "object", "rbac", "webhook", "schemapatch", "applyconfiguration"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
