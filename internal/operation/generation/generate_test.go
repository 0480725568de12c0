package generation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// generatable is a project with a type that needs a DeepCopy method, and no module besides its own.
func generatable(t *testing.T) (*operation.Session, *operationtest.Events) {
	t.Helper()
	s, told := operationtest.Begin(t, t.TempDir())
	operationtest.Write(t, s.Dir, "PROJECT", operationtest.ProjectFile)
	operationtest.Write(t, s.Dir, "go.mod", "module example.com/sample\n\ngo 1.26\n")
	operationtest.Write(t, s.Dir, "api/v1/types.go", `// Package v1 has one type.
// +kubebuilder:object:generate=true
package v1

// Spec has a list.
type Spec struct {
	Names []string
}
`)
	return s, told
}

const copies = "api/v1/zz_generated.deepcopy.go"

// TestGenerate: files appear, are up to date the second time, and are stale after a change.
func TestGenerate(t *testing.T) {
	s, told := generatable(t)
	ctx := context.Background()
	if _, err := Check(ctx, s, Generation{}); err == nil {
		t.Error("what was never generated is up to date")
	}
	if _, err := os.Stat(filepath.Join(s.Dir, copies)); err == nil {
		t.Error("a check wrote a file")
	}
	result, err := Generate(ctx, s, Generation{})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Files) != 1 || result.Files[0].Action != report.Created {
		t.Errorf("the result is %+v", result.Files)
	}
	if made := operationtest.Of[report.File](told); len(made) != 1 || made[0].Path != copies || made[0].Action != report.Created {
		t.Errorf("the files are %v", made)
	}
	if summary, ok := operationtest.Last(t, told).Value.(generateSummary); !ok || summary.Created != 1 || summary.Updated+summary.Unchanged > 0 {
		t.Errorf("the summary is %+v", operationtest.Last(t, told).Value)
	}
	if _, err := Check(ctx, s, Generation{}); err != nil {
		t.Errorf("what was generated is stale: %v", err)
	}
	operationtest.Write(t, s.Dir, "api/v1/more.go", "package v1\n\n// Other has a map.\ntype Other struct{ Named map[string]string }\n")
	checked, err := Check(ctx, s, Generation{})
	if err == nil || len(checked.Stale) != 1 {
		t.Errorf("a new type makes %v stale", checked.Stale)
	}
	if found, ok := operationtest.Last(t, told).Value.(CheckSummary); !ok || len(found.Stale) != 1 || !strings.Contains(operationtest.Last(t, told).Text, "+func (in *Other) DeepCopy") {
		t.Errorf("the check found %+v", operationtest.Last(t, told))
	}
}

// TestGenerateMistakes: what is wrong in the code is reported at its place from the working folder, and nothing is
// written.
func TestGenerateMistakes(t *testing.T) {
	s, told := generatable(t)
	operationtest.Write(t, s.Dir, "api/v1/broken.go", "package v1\n\ntype Broken struct {\n")
	s.Dir = filepath.Join(s.Dir, "api")
	if _, err := Generate(context.Background(), s, Generation{}); err == nil {
		t.Fatal("broken code is no mistake")
	}
	findings := operationtest.Of[report.Finding](told)
	if len(findings) == 0 || findings[0].File != filepath.Join("v1", "broken.go") || !findings[0].Fatal {
		t.Errorf("the findings are %+v", findings)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "v1", "zz_generated.deepcopy.go")); err == nil {
		t.Error("a file was written")
	}
}

// TestWatch: a mistake is shown and waited out; the next change generates.
func TestWatch(t *testing.T) {
	s, _ := generatable(t)
	operationtest.Write(t, s.Dir, "api/v1/broken.go", "package v1\n\ntype Broken struct {\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failed, summaries := make(chan error, 16), make(chan report.Result, 16)
	s.Fail = func(err error) { failed <- err }
	s.Handler = report.HandlerFunc(func(e report.Event) {
		if result, ok := e.(report.Result); ok {
			summaries <- result
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- Watch(ctx, s, Generation{}) }()
	if err := <-failed; err == nil {
		t.Error("the first attempt failed with nothing")
	}
	operationtest.Write(t, s.Dir, "api/v1/broken.go", "package v1\n")
	if summary, ok := (<-summaries).Value.(generateSummary); !ok || summary.Created != 1 {
		t.Errorf("the summary is %+v", summary)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestClientFacts(t *testing.T) {
	folder := "pkg/client/"
	file := &project.Project{}
	facts, err := Clients{}.facts(file)
	if err != nil || facts.Dir != DefaultClientsDir || facts.Groups != nil {
		t.Fatalf("without a last time: %+v, %v", facts, err)
	}
	last := clientFacts{Dir: "pkg/last", Groups: []string{"batch"}, Plurals: []string{"Fish:Fish"}}
	if err := file.SetPlugin(clientsKey, last); err != nil {
		t.Fatal(err)
	}
	facts, err = Clients{Dir: &folder, Groups: []string{}, Externals: []string{"a.B@c"}}.facts(file)
	switch {
	case err != nil:
		t.Fatal(err)
	case facts.Dir != "pkg/client", len(facts.Groups) != 0, len(facts.Plurals) != 1, len(facts.Externals) != 1:
		t.Errorf("%+v: what is given counts, an empty list too, and all else is as the last time", facts)
	}
}

func TestUsableClientFacts(t *testing.T) {
	for where, facts := range map[string]clientFacts{
		"":                          {Dir: "pkg/generated", Plurals: []string{"Fish:Fish"}, Externals: []string{"k8s.io/api/core/v1.Pod@k8s.io/client-go/applyconfigurations/core/v1"}},
		"--dir .":                   {Dir: "."},
		"--dir ../a":                {Dir: "../a"},
		"--dir /a":                  {Dir: "/a"},
		"--plural fish":             {Dir: "a", Plurals: []string{"fish"}},
		"--apply-configuration Pod": {Dir: "a", Externals: []string{"Pod"}},
	} {
		err := facts.usable()
		if where == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if told := operationtest.Mistake(t, err); told.Where != where || told.ExitCode() != report.UsageCode {
			t.Errorf("%+v: %v, want a mistake in %s", facts, told, where)
		}
	}
	for header, options := range map[codebase.Header]string{{}: "", {File: "hack/own.txt"}: `,headerFile="hack/own.txt"`, {File: "a", Year: "2026"}: `,headerFile="a"`} {
		use := clientFacts{Dir: "a", Groups: []string{"batch", "apps"}}.use(header)
		if use.Name != "clients" || use.Options != `dir="a",groups={"batch","apps"}`+options {
			t.Errorf("with the header %+v the generator's run is %+v", header, use)
		}
	}
}

// TestModuleOf: files in the module cache are those of modules, with the names that go.mod has of them.
func TestModuleOf(t *testing.T) {
	for file, want := range map[string]string{
		"/home/me/go/pkg/mod/k8s.io/api@v0.17.2/batch/v1/types.go": "k8s.io/api@v0.17.2",
		"/go/pkg/mod/github.com/!burnt/x@v1.0.0/y.go":              "github.com/Burnt/x@v1.0.0",
		"/home/me/op/pkg/mod/types.go":                             "",
		"/home/me/op/api/v1/types.go":                              "",
	} {
		if got := moduleOf(file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}
