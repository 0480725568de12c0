package scaffold

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

// exampleDir is the example, a project made by this package and completed by hand.
const exampleDir = "../../examples/cronjob"

// editedInExample are the scaffolded files that the example's author has changed since.
var editedInExample = map[string]bool{
	"README.md":                                      true,
	"api/v1/cronjob_types.go":                        true,
	"api/v2/cronjob_conversion.go":                   true,
	"api/v2/cronjob_types.go":                        true,
	"config/samples/batch_v1_cronjob.yaml":           true,
	"config/samples/batch_v2_cronjob.yaml":           true,
	"go.mod":                                         true,
	"go.sum":                                         true,
	"internal/controller/cronjob_controller.go":      true,
	"internal/controller/cronjob_controller_test.go": true,
	"internal/controller/suite_test.go":              true,
	"internal/webhook/v1/cronjob_webhook.go":         true,
	"internal/webhook/v1/cronjob_webhook_test.go":    true,
}

// generatedInExample are scaffolded files that the generator rewrites.
var generatedInExample = map[string]bool{"config/rbac/role.yaml": true}

// TestExampleIsScaffolded: the example is what the tool makes today, apart from the
// files that were written by hand; -update brings it up to date.
func TestExampleIsScaffolded(t *testing.T) {
	root := t.TempDir()
	apply(t)(Init(root, Project{
		Name: "cronjob", Domain: "tutorial.kubebuilder.io", Repo: "tutorial.kubebuilder.io/project", License: License{Year: 2026}, CLIVersion: "devel",
	}))
	apply(t)(CreateAPI(root, cronJob()))
	followTutorial(t, root)
	for _, f := range tree(t, root).Files {
		if f.Name == base.Path || editedInExample[f.Name] || generatedInExample[f.Name] {
			continue
		}
		compareGolden(t, filepath.Join(exampleDir, filepath.FromSlash(f.Name)), f.Data)
	}
	compareExampleBase(t, root)
}

// compareExampleBase compares what the example's base holds, not its compressed form.
func compareExampleBase(t *testing.T, root string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(exampleDir, base.Path), []byte(read(t, root, base.Path)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := base.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := base.Read(exampleDir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(maps.Collect(want.Files()), maps.Collect(got.Files())); diff != "" {
		t.Errorf("%s (-scaffold +example; -update accepts it):\n%s", base.Path, diff)
	}
}
