package relocate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
)

// there are the files and folders of the project, before anything moves.
var there = []string{"api", "api/v1", "internal", "internal/controller", "config", "hack", "Makefile"}

// types is a package that moves as a whole.
func types() *relocate.Package {
	return &relocate.Package{Dir: "api/v1", Import: "example.com/op/api/v1", Name: "v1", Parts: []*relocate.Part{{
		Dir: "api/batch/v1", Import: "example.com/op/api/batch/v1", Name: "v1", Alias: "batchv1",
		Files: []string{"job_types.go", "apply/v1/job.go"}, Renames: map[string]string{"apply": "applied"},
	}}}
}

// controllers is a package that comes apart: its suite goes to both parts.
func controllers() *relocate.Package {
	part := func(group, file string) *relocate.Part {
		return &relocate.Part{
			Dir: "internal/controller/" + group, Import: "example.com/op/internal/controller/" + group, Name: group, Alias: group + "controller",
			Files: []string{file}, Copies: []string{"suite_test.go"},
		}
	}
	return &relocate.Package{
		Dir: "internal/controller", Import: "example.com/op/internal/controller", Name: "controller",
		Parts: []*relocate.Part{part("batch", "job_controller.go"), part("ship", "frigate_controller.go")},
	}
}

// sources are the moving files.
var sources = map[string]string{
	"api/v1/job_types.go":                       "package v1\n\ntype Job struct{}\n\nfunc init() {}\n",
	"internal/controller/job_controller.go":     "package controller\n\nconst A, _ = 1, 2\n\ntype JobReconciler struct{}\n\nfunc (JobReconciler) Reconcile() {}\n",
	"internal/controller/frigate_controller.go": "package controller\n\nvar Fleet int\n\ntype FrigateReconciler struct{}\n",
	"internal/controller/suite_test.go":         "package controller\n\nfunc helper() {}\n",
}

func read(file string) ([]byte, error) {
	if src, ok := sources[file]; ok {
		return []byte(src), nil
	}
	return nil, errors.New("no such file: " + file)
}

// moving returns a checked set.
func moving(t *testing.T, packages ...*relocate.Package) *relocate.Set {
	t.Helper()
	set := &relocate.Set{Module: "example.com/op", Packages: packages, Exists: func(path string) bool { return slices.Contains(there, path) }}
	mistakes, err := set.Check(read)
	if err != nil || len(mistakes) > 0 {
		t.Fatal(mistakes, err)
	}
	return set
}

func TestTargets(t *testing.T) {
	set := moving(t, types(), controllers())
	for file, want := range map[string][]string{
		"api/v1/job_types.go":                       {"api/batch/v1/job_types.go"},
		"api/v1/apply/v1/job.go":                    {"api/batch/v1/applied/v1/job.go"},
		"internal/controller/frigate_controller.go": {"internal/controller/ship/frigate_controller.go"},
		"internal/controller/suite_test.go":         {"internal/controller/batch/suite_test.go", "internal/controller/ship/suite_test.go"},
		"api/v1/stays.go":                           {"api/v1/stays.go"},
		"cmd/main.go":                               {"cmd/main.go"},
	} {
		var got []string
		for _, target := range set.Targets(file) {
			got = append(got, target.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s goes to %v, want %v", file, got, want)
		}
	}
}

// TestStayingFile: a file that stays imports what moved from its new place, under a name that it used or the part's
// own.
func TestStayingFile(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"other imports stay", `import "example.com/op/api/v1beta1"`, `import "example.com/op/api/v1beta1"`},
		{"named", `import jobs "example.com/op/api/v1"`, `import jobs "example.com/op/api/batch/v1"`},
		{"unnamed", `import "example.com/op/api/v1"`, `import "example.com/op/api/batch/v1"`},
		{"a folder below", `import "example.com/op/api/v1/apply/v1"`, `import "example.com/op/api/batch/v1/applied/v1"`},
		{"a folder below that stays", "import \"example.com/op/api/v1/fake\"", "import \"example.com/op/api/v1/fake\""},
		{
			"of one part only", "import \"example.com/op/internal/controller\"\n\nvar _ = controller.Fleet",
			"import controller \"example.com/op/internal/controller/ship\"\n\nvar _ = controller.Fleet",
		},
		{
			"of both parts", "import (\n\tc \"example.com/op/internal/controller\"\n)\n\nvar _, _ = c.Fleet, c.A",
			"import (\n\tc \"example.com/op/internal/controller/batch\"\n\tshipcontroller \"example.com/op/internal/controller/ship\"\n)\n\nvar _, _ = shipcontroller.Fleet, c.A",
		},
		{
			"of both parts, without parentheses", "import \"example.com/op/internal/controller\"\n\nvar _, _ = controller.A, controller.Fleet",
			"import controller \"example.com/op/internal/controller/batch\"\nimport shipcontroller \"example.com/op/internal/controller/ship\"\n\nvar _, _ = controller.A, shipcontroller.Fleet",
		},
		{
			"a variable of the same name", "import c \"example.com/op/internal/controller\"\n\nvar _ = c.A\n\nfunc f(c struct{ Fleet int }) int { return c.Fleet }",
			"import c \"example.com/op/internal/controller/batch\"\n\nvar _ = c.A\n\nfunc f(c struct{ Fleet int }) int { return c.Fleet }",
		},
		{
			"for its effects", "import _ \"example.com/op/internal/controller\"",
			"import _ \"example.com/op/internal/controller/batch\"\nimport _ \"example.com/op/internal/controller/ship\"",
		},
		{
			"markers and directives", "import _ \"example.com/op/api/v1\"\n\n//go:generate mock example.com/op/api/v1 .Job\n// +tool:types=example.com/op/api/v1\n// see example.com/op/api/v1",
			"import _ \"example.com/op/api/batch/v1\"\n\n//go:generate mock example.com/op/api/batch/v1 .Job\n// +tool:types=example.com/op/api/batch/v1\n// see example.com/op/api/v1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := moving(t, types(), controllers())
			const file, clause = "cmd/main.go", "package main\n\n"
			got, err := set.Go(file, set.Targets(file)[0], []byte(clause+test.src+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(clause+test.want+"\n", string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMovedFile: a file that moves has its new package's name, and its relative paths lead where they led.
func TestMovedFile(t *testing.T) {
	for _, test := range []struct{ name, file, src, want string }{
		{"clause and doc", "internal/controller/job_controller.go", "// Package controller reconciles.\npackage controller // controller", "// Package batch reconciles.\npackage batch // controller"},
		{"doc of another form", "internal/controller/job_controller.go", "/*\nPackage controller reconciles.\n*/\npackage controller", "/*\nPackage batch reconciles.\n*/\npackage batch"},
		{"external test", "internal/controller/job_controller.go", "package controller_test", "package batch_test"},
		{"same name", "api/v1/job_types.go", "// Package v1 is an API.\npackage v1", "// Package v1 is an API.\npackage v1"},
		{"pieces of a path", "internal/controller/job_controller.go", `package controller

var crds = filepath.Join("..", "..", "config", "crd")`, `package batch

var crds = filepath.Join("..", "..", "..", "config", "crd")`},
		{"a path that begins with a variable", "internal/controller/job_controller.go", `package controller

var crds = filepath.Join(root, "..", "config", name, "../..")`, `package batch

var crds = filepath.Join(root, "..", "config", name, "../..")`},
		{"a path that does not begin with ..", "internal/controller/job_controller.go", `package controller

var crds = filepath.Join("hack", "../../config")`, `package batch

var crds = filepath.Join("hack", "../../config")`},
		{"the folder of the file", "internal/controller/job_controller.go", `package controller

var crds = filepath.Join(filepath.Dir(file), "..", "..", "config")`, `package batch

var crds = filepath.Join(filepath.Dir(file), "..", "..", "..", "config")`},
		{"a path that moves along", "internal/controller/job_controller.go", `package controller

var types = filepath.Join("..", "..", "api", "v1")`, `package batch

var types = filepath.Join("..", "..", "..", "api", "batch", "v1")`},
		{"texts", "internal/controller/job_controller.go", "package controller\n\nvar a, b, c, d = \"../../hack/\", `../../Makefile`, \"../../nothing\", \"../../bin/tool\"", "package batch\n\nvar a, b, c, d = \"../../../hack/\", `../../../Makefile`, \"../../nothing\", \"../../../bin/tool\""},
		{"directives", "internal/controller/job_controller.go", "package controller\n\n//go:generate mock -o=../../bin/mock ../../api/v1\n// in ../../api/v1", "package batch\n\n//go:generate mock -o=../../../bin/mock ../../../api/batch/v1\n// in ../../api/v1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := moving(t, types(), controllers())
			got, err := set.Go(test.file, set.Targets(test.file)[0], []byte(test.src+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want+"\n", string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCopies: each copy of a suite is of its own part's package.
func TestCopies(t *testing.T) {
	set := moving(t, controllers())
	const file = "internal/controller/suite_test.go"
	for i, want := range []string{"package batch\n", "package ship\n"} {
		got, err := set.Go(file, set.Targets(file)[i], []byte("package controller\n"))
		if err != nil || string(got) != want {
			t.Errorf("copy %d is %q, %v, want %q", i, got, err, want)
		}
	}
}

func TestGoRefuses(t *testing.T) {
	set := moving(t, controllers())
	stays := set.Targets("cmd/main.go")[0]
	_, err := set.Go("cmd/main.go", stays, []byte("package main\n\nimport . \"example.com/op/internal/controller\"\n"))
	if !errors.Is(err, relocate.ErrDotImport) {
		t.Errorf("an import under the name . gives %v", err)
	}
	_, err = set.Go("cmd/main.go", stays, []byte("package main\n\nimport \"example.com/op/internal/controller\n"))
	if syntax, ok := errors.AsType[*relocate.SyntaxError](err); !ok || syntax.Position != "cmd/main.go:3:8" {
		t.Errorf("a file that is not Go gives %v", err)
	}
	const unconcerned = "not Go at all"
	if got, err := set.Go("cmd/main.go", stays, []byte(unconcerned)); err != nil || string(got) != unconcerned {
		t.Errorf("a file that names nothing of what moves gives %q, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	with := func(file, src string) func(string) ([]byte, error) {
		return func(name string) ([]byte, error) {
			if name == file {
				return []byte(src), nil
			}
			return read(name)
		}
	}
	const job = "internal/controller/job_controller.go"
	for _, test := range []struct {
		name, src string
		want      []relocate.Mistake
	}{
		{"own names and those of copies", "package controller\n\ntype A struct{}\n\nvar _ = A{}\n\nfunc use() { helper() }", nil},
		{"a name of the other part", "package controller\n\nvar _ = Fleet", []relocate.Mistake{{
			Position: job + ":3:9", Problem: "Fleet is declared in internal/controller/frigate_controller.go, which moves to another package",
			Hint: "this file moves to internal/controller/batch; move Fleet to a separate package that both import",
		}}},
		{"not Go", "package controller\n\nvar = 1", []relocate.Mistake{{
			Position: job + ":3:5", Problem: "the file is not Go that can be parsed: expected 'IDENT', found '='", Hint: "correct it, so that slipway can change its imports and paths",
		}}},
	} {
		set := &relocate.Set{Module: "example.com/op", Packages: []*relocate.Package{controllers()}}
		got, err := set.Check(with(job, test.src))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	set := &relocate.Set{Packages: []*relocate.Package{controllers()}}
	unreadable := errors.New("unreadable")
	if _, err := set.Check(func(string) ([]byte, error) { return nil, unreadable }); !errors.Is(err, unreadable) {
		t.Errorf("a file that cannot be read gives %v", err)
	}
}

// TestText: a Makefile and its like name files and folders at their new places.
func TestText(t *testing.T) {
	for line, want := range map[string]string{
		"vim api/v1/job_types.go":                        "vim api/batch/v1/job_types.go",
		"vim internal/controller/job_controller.go.orig": "vim internal/controller/job_controller.go.orig", // another file
		"cat $(ROOT)/api/v1/apply/v1/job.go":             "cat $(ROOT)/api/batch/v1/applied/v1/job.go",
		"-x example.com/op/api/v1":                       "-x example.com/op/api/batch/v1",
		"paths=./api/v1/...":                             "paths=./api/batch/v1/...",
		"my/api/v1 api/v1beta1":                          "my/api/v1 api/v1beta1",
		"go test ./internal/controller -v":               "go test ./internal/controller -v", // which part, only its author knows
		"rm internal/controller/frigate_controller.go\t": "rm internal/controller/ship/frigate_controller.go\t",
	} {
		if got := string(moving(t, types(), controllers()).Text([]byte(line))); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

// TestTextOfDeeperFolder: a package that moves below its own folder leaves it to others, so only go commands follow.
func TestTextOfDeeperFolder(t *testing.T) {
	alone := controllers()
	alone.Parts = alone.Parts[:1]
	set := moving(t, alone)
	got := set.Text([]byte("go test ./internal/controller\ncd internal/controller\ngo vet ./internal/controller/...\n"))
	want := "go test ./internal/controller/batch\ncd internal/controller\ngo vet ./internal/controller/...\n"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if mentions := set.Mentions(got); !slices.Equal(mentions, []int{2}) {
		t.Errorf("the lines %v are left to the author, want line 2", mentions)
	}
}

func TestImportsSorted(t *testing.T) {
	for imports, want := range map[string]bool{
		`"a";"b"`: true, `"b";"a"`: false, `"b";;"a"`: true, `x "a";a "b"`: true, `"a" // why;"b"`: false, `"a`: false,
	} {
		src := "package p\n\nimport (\n\t" + strings.ReplaceAll(imports, ";", "\n\t") + "\n)\n"
		if got := relocate.ImportsSorted([]byte(src)); got != want {
			t.Errorf("%s: sorted is %v, want %v", imports, got, want)
		}
	}
}
