package generate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate"
)

func TestParse(t *testing.T) {
	toStdout := generate.Output{To: generate.ToStdout}
	inX := generate.Output{Config: "x", Code: "x"}
	for name, c := range map[string]struct {
		arguments string
		want      generate.Options
	}{
		"defaults":               {"crd", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd"}}}},
		"plus signs":             {"+crd +paths=./api", generate.Options{Paths: []string{"./api"}, Uses: []generate.Use{{Name: "crd"}}}},
		"paths add up":           {"paths=./a;./b object paths={./c,./d/...}", generate.Options{Paths: []string{"./a", "./b", "./c", "./d/..."}, Uses: []generate.Use{{Name: "object"}}}},
		"options":                {"rbac:roleName=x,year=2030 crd:maxDescLen=0", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "rbac", Options: "roleName=x,year=2030"}, {Name: "crd", Options: "maxDescLen=0"}}}},
		"empty options":          {"crd=", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd"}}}},
		"own rule before":        {"output:crd:dir=x crd object", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd", Output: inX}, {Name: "object"}}}},
		"own rule and default":   {"output:stdout object crd output:crd:artifacts:config=x", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "object", Output: toStdout}, {Name: "crd", Output: generate.Output{Config: "x"}}}}},
		"the last default":       {"output:none crd output:dir=x", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd", Output: inX}}}},
		"artifacts of both":      {"crd output:artifacts:config=c,code=g", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd", Output: generate.Output{Config: "c", Code: "g"}}}}},
		"nothing":                {"crd output:crd:none", generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd", Output: generate.Output{To: generate.ToNothing}}}}},
		"a folder of this place": {`crd output:artifacts:config=""`, generate.Options{Paths: []string{"."}, Uses: []generate.Use{{Name: "crd", Output: generate.Output{Config: "."}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := generate.Parse(strings.Fields(c.arguments))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for arguments, want := range map[string]string{
		"cdr":                         `unknown option "cdr" (did you mean crd?)`,
		"crd:maxDescLen":              `unknown option "crd:maxDescLen"`,
		"crd:maxDescLne=1":            "maxDescLen",
		"crd crd:maxDescLen=1":        "multiple instances of 'crd'",
		"object output:crd:none":      `non-invoked generator "crd"`,
		"crd output:dir":              "needs a value",
		"crd output:artifacts:code=x": "needs the argument config",
		"crd output:artifact:code=x":  "did you mean output:artifacts?",
	} {
		if _, err := generate.Parse(strings.Fields(arguments)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
	if _, err := generate.Parse([]string{"paths=./..."}); !errors.Is(err, generate.ErrNoGenerator) {
		t.Errorf("without a generator: %v", err)
	}
}

// run parses arguments and runs them in dir.
func run(t *testing.T, dir string, arguments ...string) generate.Result {
	t.Helper()
	o, err := generate.Parse(arguments)
	if err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Lenient = dir, true
	result, err := generate.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestOutputRules(t *testing.T) {
	dir := project(t)
	all := run(t, dir, "output:stdout", "rbac:roleName=r", "object", "crd", "paths=./...", "output:rbac:none")
	const code, configuration = "package v1\n", "kind: CustomResourceDefinition\n"
	printed := string(all.Printed)
	if i, j := strings.Index(printed, code), strings.Index(printed, configuration); i < 0 || j < i || strings.Contains(printed, "ClusterRole") {
		t.Errorf("printed:\n%s", printed)
	}
	if len(all.Files) != 0 {
		t.Errorf("files as well: %v", all.Files)
	}
	run(t, dir, "object", "crd", "rbac:roleName=r", "paths=./...", "output:dir=x", "output:crd:artifacts:config=y", "output:rbac:dir=z/w")
	for _, name := range []string{"x/zz_generated.deepcopy.go", "y/example.com_widgets.yaml", "z/w/role.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLastWins: where packages share a folder of code, the last file stays, as
// with controller-gen; without Lenient that is a mistake.
func TestLastWins(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v2/types.go", strings.Replace(types, "package v1", "package v2", 1))
	if files := run(t, dir, "object", "paths=./api/...", "output:dir=all").Files; len(files) != 1 || !strings.Contains(string(files[0].Content), "package v2") {
		t.Errorf("%v", files)
	}
	o, err := generate.Parse([]string{"object", "paths=./api/...", "output:dir=all"})
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = dir
	if _, err := generate.Run(t.Context(), o); err == nil {
		t.Error("no error")
	}
}
