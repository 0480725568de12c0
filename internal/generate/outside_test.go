package generate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// precious is what is outside: a Go file, for what is taken for one.
const precious = "package v1\n"

// within are options by which a run writes below the project alone, and the project.
func within(t *testing.T) (generate.Options, string) {
	t.Helper()
	dir := filepath.Join(project(t), "project")
	write(t, dir, "readme", "")
	for _, name := range []string{"go.mod", "api", "internal"} {
		if err := os.Rename(filepath.Join(filepath.Dir(dir), name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	o := options(dir)
	o.Within = []string{dir}
	return o, dir
}

// TestOutside: links and output rules that lead out of the project are refused, with the path, before anything is
// written; they are followed once their folder is allowed, and without limits.
func TestOutside(t *testing.T) {
	for name, c := range map[string]struct {
		link, to string // of the project, relative to it
		rule     string // the folder of CRDs, if it is another one
		what     string
	}{
		"a linked file":              {link: "config/crd/bases/example.com_widgets.yaml", to: "../../../../outside/x", what: "config/crd/bases/example.com_widgets.yaml is a symbolic link to"},
		"a linked folder":            {link: "config/crd", to: "../../outside", what: "config/crd is a symbolic link to"},
		"code":                       {link: "api/v1/zz_generated.deepcopy.go", to: "../../../outside/x", what: "zz_generated.deepcopy.go is a symbolic link to"},
		"a rule":                     {rule: "../outside", what: "outside of"},
		"an absolute rule":           {rule: "ABSOLUTE", what: "outside of"},
		"git's hooks":                {link: "config/rbac/role.yaml", to: "../../.git/hooks/post-checkout", what: "git's own"},
		"git's hooks through a rule": {rule: ".git/hooks", what: "git's own"},
	} {
		t.Run(name, func(t *testing.T) {
			o, dir := within(t)
			outside := filepath.Join(dir, "..", "outside")
			write(t, outside, "x", precious)
			write(t, dir, ".git/hooks/post-checkout", precious)
			if c.link != "" {
				write(t, dir, filepath.Join(filepath.Dir(c.link), "readme"), "")
				if err := os.Symlink(c.to, filepath.Join(dir, c.link)); err != nil {
					t.Skip(err)
				}
			}
			if c.rule == "ABSOLUTE" {
				c.rule = outside
			}
			if c.rule != "" {
				o.Uses[1].Output.Config = c.rule
			}
			untouched := "config/rbac/role.yaml" // none of those that lead out
			if c.link == untouched {
				untouched = "api/v1/zz_generated.deepcopy.go"
			}
			for _, o.DryRun = range []bool{true, false} {
				_, err := generate.Run(t.Context(), o)
				refusal, ok := errors.AsType[*report.Error](err)
				if !ok || refusal.Where == "" || !strings.Contains(err.Error(), c.what) {
					t.Fatalf("got %v", err)
				}
				noLeftovers(t, dir, generate.Result{})
				if _, err := os.Lstat(filepath.Join(dir, untouched)); err == nil {
					t.Error("another file was written")
				}
			}
			for _, path := range []string{outside + "/x", dir + "/.git/hooks/post-checkout"} {
				if data, err := os.ReadFile(path); err != nil || string(data) != precious {
					t.Errorf("%s holds %.40q: %v", path, data, err)
				}
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
				t.Errorf("outside are %v: %v", entries, err)
			}
			if strings.Contains(c.what, "git") {
				return
			}
			o.Within = append(o.Within, outside)
			if _, err := generate.Run(t.Context(), o); err != nil {
				t.Errorf("an allowed folder: %v", err)
			}
			o.Within = []string{dir}
			if result, err := generate.Run(t.Context(), o); err != nil || result.Failed() { // nothing is to be written any more
				t.Errorf("up to date: %v", err)
			}
		})
	}
}

// TestAnywhere: who says all places himself, as on controller-gen's command line, has links and rules followed.
func TestAnywhere(t *testing.T) {
	o, dir := within(t)
	o.Within = nil
	o.Uses[1].Output.Config = "../outside/crds"
	write(t, dir, "config/rbac/readme", "")
	if err := os.Symlink("../../../outside/role", filepath.Join(dir, "config/rbac/role.yaml")); err != nil {
		t.Skip(err)
	}
	if _, err := generate.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crds/example.com_widgets.yaml", "role"} {
		if _, err := os.Stat(filepath.Join(dir, "..", "outside", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestOutsideAdvice: a rule may name a folder that a shell would run a part of.
func TestOutsideAdvice(t *testing.T) {
	o, _ := within(t)
	o.Uses[1].Output.Config = "../a;$(touch b)"
	_, err := generate.Run(t.Context(), o)
	refusal, ok := errors.AsType[*report.Error](err)
	if !ok || !strings.HasPrefix(refusal.Next, "slipway generate --outside '") || !strings.HasSuffix(refusal.Next, "a;$(touch b)'") {
		t.Errorf("%v", err)
	}
}
