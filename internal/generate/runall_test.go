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

// twice are two runs over different packages, as two calls in a Makefile are.
func twice(dir string) (api, code generate.Options) {
	api, code = options(dir), options(dir)
	api.Paths, code.Paths = []string{"./api/..."}, []string{"./internal/..."}
	return api, code
}

// noFiles fails if one of the files that [options] make is there.
func noFiles(t *testing.T, dir string) {
	t.Helper()
	for _, name := range outputs {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRunAllOrNothing: a later run that fails, or finds a mistake, has none of the earlier ones write.
func TestRunAllOrNothing(t *testing.T) {
	dir := project(t)
	api, code := twice(dir)
	code.Uses = []generate.Use{{Name: "rbac", Options: "roleName=r,headerFile=nowhere.txt"}}
	_, err := generate.RunAll(t.Context(), api, code)
	e, ok := errors.AsType[*report.Error](err)
	if !ok || e.Where != filepath.Join(dir, "nowhere.txt") || e.Next == "" {
		t.Errorf("%v", err)
	}
	noFiles(t, dir)

	code.Uses[0].Options = "roleName=r"
	write(t, dir, "internal/controller/mistake.go", "package controller\n\n// +kubebuilder:rbac:groups=\n")
	if result, err := generate.RunAll(t.Context(), api, code); err != nil || !result.Failed() {
		t.Errorf("%v, %v", result.Findings, err)
	}
	noFiles(t, dir)
}

// TestRunAllSameFile: of two runs that write the same file the last one wins, however often they run.
func TestRunAllSameFile(t *testing.T) {
	dir := project(t)
	api, code := twice(dir)
	write(t, dir, "api/v1/role.go", "package v1\n\n// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get\n")
	api.Cache = t.TempDir()
	code.Cache = api.Cache
	for range 3 {
		if _, err := generate.RunAll(t.Context(), api, code); err != nil {
			t.Fatal(err)
		}
		role, err := os.ReadFile(filepath.Join(dir, "config/rbac/role.yaml"))
		if err != nil || !strings.Contains(string(role), "widgets") || strings.Contains(string(role), "jobs") {
			t.Fatalf("%s, %v", role, err)
		}
	}
}

// TestRunAllReadsWhatIsMade: schemapatch patches the definition that a run before it has just made.
func TestRunAllReadsWhatIsMade(t *testing.T) {
	dir := project(t)
	made, patched := options(dir), options(dir)
	patched.Uses = []generate.Use{{Name: "schemapatch", Options: "manifests=config/crd/bases", Output: generate.Output{Config: "patched"}}}
	result, err := generate.RunAll(t.Context(), made, patched)
	if err != nil || result.Failed() {
		t.Fatal(err, result.Findings)
	}
	if _, err := os.Stat(filepath.Join(dir, "patched", "example.com_widgets.yaml")); err != nil {
		t.Error(err)
	}
}

// TestRunAllFindings: a misspelt marker in a package that two runs read is reported once.
func TestRunAllFindings(t *testing.T) {
	dir := project(t)
	write(t, dir, "api/v1/misspelt.go", "package v1\n\n// +kubebuilder:objekt:root=true\n\n// Part is a part.\ntype Part struct{}\n")
	api, all := options(dir), options(dir)
	api.Paths = []string{"./api/..."}
	result, err := generate.RunAll(t.Context(), api, all)
	if err != nil || len(result.Findings) != 1 || !strings.Contains(result.Findings[0].Message, "objekt") {
		t.Errorf("%+v, %v", result.Findings, err)
	}
}
