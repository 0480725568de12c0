package generate_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/rounds"
)

// kindSource is a file with one kind that has a field of a type.
func kindSource(pkg, group, kind, imports, field string, markers ...string) string {
	markers = append(markers, "+kubebuilder:object:root=true")
	return fmt.Sprintf(`// +kubebuilder:object:generate=true
// +groupName=%s
package %s

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	%s
)

// %s
type %s struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`

	Field %s `+"`json:\"field\"`"+`
}
`, group, pkg, imports, strings.Join(markers, "\n// "), kind, field)
}

// variants are what each file may hold while a project is edited; "" is no file. The first is what it begins with.
func variants() map[string][]string {
	const shared, v1 = `"example.com/project/pkg/shared"`, `other "example.com/project/api/v1"`
	const rule = "// +kubebuilder:rbac:groups=example.com,resources=%s,verbs=get\n"
	return map[string][]string{
		"pkg/shared/size.go": {
			"package shared\n\ntype Size string\n",
			"package shared\n\n// +kubebuilder:validation:MinLength=2\ntype Size string\n",
			"package shared\n\ntype Size struct{ Of *string `json:\"of\"` }\n",
		},
		"api/v1/doc.go":      {"", "// +kubebuilder:ac:generate=true\npackage v1\n", "// +kubebuilder:ac:generate=true\n// +kubebuilder:ac:output:package=../applied\npackage v1\n"},
		"pkg/shared/more.go": {"", "package shared\n\n//+kubebuilder:validation:MinLenght=2\ntype More string\n"},
		"api/v1/widget.go": {
			kindSource("v1", "example.com", "Widget", shared, "shared.Size", "+kubebuilder:storageversion", "+kubebuilder:resource"),
			kindSource("v1", "example.com", "Widget", shared, "*shared.Size", "+kubebuilder:storageversion"),
			kindSource("v1", "renamed.example.com", "Widget", shared, "shared.Size", "+kubebuilder:storageversion"),
			kindSource("v1", "example.com", "Widget", shared, "shared.Size", "+kubebuilder:storageverison"),
			kindSource("v1", "example.com", "Widget", "", "metav1.Duration", "+kubebuilder:storageversion", "+kubebuilder:resource:scope=Cluster"),
		},
		"api/v2/widget.go": {
			"",
			kindSource("v2", "example.com", "Widget", "", "string"),
			kindSource("v2", "example.com", "Widget", shared, "shared.Size", "+kubebuilder:storageversion"),
			kindSource("v2", "", "Widget", shared, "shared.Size"),
		},
		"apis/gadgets/v1/gadget.go": {
			kindSource("v1", "gadgets.example.com", "Gadget", v1, "[]other.Widget"),
			kindSource("v1", "gadgets.example.com", "Gadget", "", "[]string"),
			kindSource("v1", "gadgets.example.com", "Gizmo", v1, "map[string]other.Widget"),
			"",
		},
		"internal/controller/controller.go": {
			"package controller\n\n" + fmt.Sprintf(rule, "widgets") + "\nfunc Reconcile() {}\n",
			"package controller\n\nimport _ " + v1[len("other "):] + "\n\n" + fmt.Sprintf(rule, "gadgets") + "\nfunc Reconcile() {}\n",
			"package controller\n\n" + fmt.Sprintf(rule, "widgets,roleName=special") + "\nfunc Reconcile() {}\n",
		},
		"internal/plain/plain.go": {
			"package plain\n\ntype Plain struct{ Name string }\n",
			"package plain\n\ntype Plain struct{ Name string; next *Plain }\n",
			"package plain\n\n// +kubebuilder:object:generate=true\ntype Plain struct{ Names []string }\n",
			"",
		},
		"nested/api/v1/kind.go": {
			kindSource("v1", "nested.example.com", "Nested", "", "int32"),
			kindSource("v1", "nested.example.com", "Nested", "", "int64"),
		},
		"hack/header.txt":                 {"// One.\n", "// Two.\n"},
		"config/rbac/role.yaml":           {"", "mine: true\n"},
		"api/v1/zz_generated.deepcopy.go": {"", "package v1\n"},
	}
}

// broken are files that make a run fail.
func broken() map[string][]string {
	return map[string][]string{
		"pkg/shared/size.go": {
			"package shared\n\nimport _ " + `"example.com/project/api/v1"` + "\n\ntype Size string\n", // a circle
			"package shared\n\ntype Size stri ng\n",
			"package shared\n\ntype Size float64\n",
			"",
		},
		"pkg/shared/more.go": {"package shared\n\ntype Size int\n"}, // declared twice
		"pkg/shared/go.mod":  {"module example.com/shared\n"},       // out of reach
	}
}

// TestIncremental edits a project many times: each run must say and write what one that knows nothing does.
func TestIncremental(t *testing.T) {
	p := edited{dir: project(t), files: make(map[string]string), random: rand.New(rand.NewPCG(1, 2))}
	remove(t, p.dir, "api/v1/types.go")
	goMod, err := os.ReadFile(filepath.Join(p.dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	p.put(t, "nested/go.mod", strings.Replace(string(goMod), "module example.com/project", "module example.com/nested", 1))
	for name, contents := range variants() {
		p.put(t, name, contents[0])
	}
	o := options(p.dir)
	o.Uses[0].Options = "headerFile=hack/header.txt"
	o.Uses = append(o.Uses, generate.Use{Name: "applyconfiguration", Options: "headerFile=hack/header.txt"})
	o.Cache = t.TempDir()
	gained, steps := 0, rounds.Of(80, 20)
	for step := range steps {
		undo := func() {}
		if p.random.IntN(6) == 0 {
			undo = p.edit(t, broken())
		} else {
			p.edit(t, variants())
		}
		if parsed, afresh := sameAsAfresh(t, fmt.Sprintf("step %d, %s", step, p.last), o); parsed < afresh {
			gained++
		}
		undo()
	}
	if gained < steps/2 {
		t.Errorf("%d of %d runs parsed less than those that know nothing", gained, steps)
	}
}

// TestIncrementalReached: a package outside of the paths that a kind leads to may hold a version of another kind, which
// is found when the former comes first; so both are made although only one has changed.
func TestIncrementalReached(t *testing.T) {
	dir := project(t)
	const beside = `"example.com/project/beside/v1beta1"`
	write(t, dir, "beside/v1beta1/widget.go", kindSource("v1beta1", "example.com", "Widget", "", "string"))
	write(t, dir, "api/gadgets/gadget.go", kindSource("gadgets", "gadgets.example.com", "Gadget", beside, "v1beta1.Widget"))
	o := options(dir)
	o.Paths, o.Cache = []string{"./api/..."}, t.TempDir()
	for i, field := range []string{"string", "int32", "bool"} {
		write(t, dir, "api/v1/types.go", kindSource("v1", "example.com", "Widget", "", field, "+kubebuilder:storageversion"))
		sameAsAfresh(t, fmt.Sprint("edit ", i), o)
	}
	if made := mustRun(t, o); !made.Recalled {
		t.Error("nothing is remembered")
	}
	crd, err := os.ReadFile(filepath.Join(dir, "config/crd/bases/example.com_widgets.yaml"))
	if err != nil || !strings.Contains(string(crd), "name: v1beta1") {
		t.Errorf("%v; the definition has no version of the other package:\n%s", err, crd)
	}
}

// edited is a project that is edited at random.
type edited struct {
	dir    string
	files  map[string]string
	random *rand.Rand
	last   string // what was edited last
}

// edit makes one of the files one of what it may be.
func (p *edited) edit(t *testing.T, contents map[string][]string) (undo func()) {
	t.Helper()
	names := slices.Sorted(maps.Keys(contents))
	name := names[p.random.IntN(len(names))]
	choice := p.random.IntN(len(contents[name]))
	before := p.files[name]
	p.last = fmt.Sprint(name, " ", choice)
	p.put(t, name, contents[name][choice])
	return func() { p.put(t, name, before) }
}

// put writes a file, or removes it when it is to hold nothing.
func (p *edited) put(t *testing.T, name, content string) {
	t.Helper()
	p.files[name] = content
	if content != "" {
		write(t, p.dir, name, content)
		return
	}
	if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyWhatChangedIsParsed: a run passes over the packages in which, and in whose imports, nothing has changed.
func TestOnlyWhatChangedIsParsed(t *testing.T) {
	dir, o := remembering(t)
	write(t, dir, "internal/plain/plain.go", "package plain\n\ntype Plain struct{}\n")
	write(t, dir, "internal/user/user.go", "package user\n\nimport \"example.com/project/internal/plain\"\n\ntype User struct{ plain.Plain }\n")
	mustRun(t, o)
	write(t, dir, "internal/plain/plain.go", "package plain\n\ntype Plain struct{ Name string }\n")
	if parsed := mustRun(t, o).Parsed; parsed != 2 {
		t.Errorf("%d files were parsed; want the changed one and the one that imports it", parsed)
	}
	write(t, dir, "internal/user/user.go", "package user\n\ntype User struct{}\n")
	if parsed := mustRun(t, o).Parsed; parsed != 1 {
		t.Errorf("%d files were parsed; want the changed one", parsed)
	}
}

// sameAsAfresh runs the generators twice, with what is remembered and without; it returns how many files either parsed.
func sameAsAfresh(t *testing.T, step string, o generate.Options) (parsed, parsedAfresh int) {
	t.Helper()
	got, err := generate.Run(t.Context(), o)
	o.Cache, o.DryRun = "", true
	want, wantErr := generate.Run(t.Context(), o)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: error %v; want %v", step, err, wantErr)
	}
	if diff := cmp.Diff(want.Findings, got.Findings); diff != "" {
		t.Fatalf("%s: findings differ (-want +got):\n%s", step, diff)
	}
	if got.Recalled || got.Failed() || err != nil {
		return got.Parsed, want.Parsed
	}
	if len(got.Files) != len(want.Files) {
		t.Fatalf("%s: %d files; want %d", step, len(got.Files), len(want.Files))
	}
	for i, f := range got.Files {
		if w := want.Files[i]; f.Path != w.Path || w.Action != report.Unchanged || !bytes.Equal(f.Content, w.Content) {
			t.Fatalf("%s: %s, without a cache %s, which is %s:\n%s", step, f.Path, w.Path, w.Action, cmp.Diff(string(w.Content), string(f.Content)))
		}
	}
	return got.Parsed, want.Parsed
}
