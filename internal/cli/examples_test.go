package cli_test

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/cli"
)

// examplesDir holds operators that were made with the tool and completed by hand.
const examplesDir = "../../examples"

// firstCommit is when examples say that they were made: SOURCE_DATE_EPOCH.
const firstCommit = "1780000000"

// written lists, for each example, the scaffolded files that its author has changed or removed since.
var written = map[string][]string{
	"apiexample": {
		"README.md",
		"api/v1/apiexamplea_types.go",
		"config/samples/groupa_v1_apiexamplea.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/apiexamplea_controller.go",
		"internal/controller/apiexamplea_controller_test.go",
		"internal/controller/suite_test.go",
	},
	"app": {
		"README.md",
		"api/v1beta1/app_types.go",
		"config/samples/ingress_v1beta1_app.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/app_controller.go",
		"internal/controller/app_controller_test.go",
		"internal/controller/suite_test.go",
		"internal/webhook/v1beta1/app_webhook.go",
		"internal/webhook/v1beta1/app_admission_test.go",
		"internal/webhook/v1beta1/webhook_suite_test.go",
	},
	"cronjob": {
		"Makefile",
		"README.md",
		"api/v1/cronjob_types.go",
		"api/v2/cronjob_conversion.go",
		"api/v2/cronjob_types.go",
		"config/samples/batch_v1_cronjob.yaml",
		"config/samples/batch_v2_cronjob.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/cronjob_controller.go",
		"internal/controller/cronjob_controller_test.go",
		"internal/controller/suite_test.go",
		"internal/webhook/v1/cronjob_webhook.go",
		"internal/webhook/v1/cronjob_admission_test.go",
	},
	"democrd": {
		"README.md",
		"api/v1/demo_types.go",
		"config/samples/example_v1_demo.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/demo_controller.go",
		"internal/controller/demo_controller_test.go",
		"internal/controller/suite_test.go",
	},
	"fleet": {
		"README.md",
		"api/fleet/v1/cluster_types.go",
		"api/gpu/v1beta1/vgpuinstance_types.go",
		"cmd/main.go",
		"config/samples/fleet_v1_cluster.yaml",
		"config/samples/gpu_v1beta1_vgpuinstance.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/fleet/cluster_controller.go",
		"internal/controller/fleet/cluster_controller_test.go",
		"internal/controller/fleet/suite_test.go",
		"internal/controller/gpu/suite_test.go",
		"internal/controller/gpu/vgpuinstance_controller.go",
		"internal/controller/gpu/vgpuinstance_controller_test.go",
	},
	"guestbook": {
		"README.md",
		"api/v1/guestbook_types.go",
		"config/samples/webapp_v1_guestbook.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/guestbook_controller.go",
		"internal/controller/guestbook_controller_test.go",
		"internal/controller/suite_test.go",
	},
	"mycronjob": {
		"README.md",
		"api/v1/mycronjob_types.go",
		"config/samples/batch_v1_mycronjob.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/mycronjob_controller.go",
		"internal/controller/mycronjob_controller_test.go",
		"internal/controller/suite_test.go",
	},
	"pipeline": {
		"README.md",
		"api/v1beta1/pipeline_types.go",
		"config/samples/distri-infer_v1beta1_pipeline.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/pipeline_controller.go",
		"internal/controller/pipeline_controller_test.go",
		"internal/controller/suite_test.go",
	},
	"podannotator": {
		"README.md",
		"go.mod",
		"go.sum",
		"internal/webhook/v1/pod_webhook.go",
		"internal/webhook/v1/pod_admission_test.go",
		"internal/webhook/v1/webhook_suite_test.go",
	},
	"rediscluster": {
		"README.md",
		"api/v1/rediscluster_types.go",
		"config/samples/bytewang123-redis_v1_rediscluster.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/rediscluster_controller.go",
		"internal/controller/rediscluster_controller_test.go",
		"internal/controller/suite_test.go",
		"internal/webhook/v1/rediscluster_webhook.go",
		"internal/webhook/v1/rediscluster_admission_test.go",
		"internal/webhook/v1/webhook_suite_test.go",
	},
	"toy": {
		"README.md",
		"api/v1/customset_types.go",
		"api/v1/toy_types.go",
		"config/samples/batch_v1_customset.yaml",
		"config/samples/batch_v1_toy.yaml",
		"go.mod",
		"go.sum",
		"internal/controller/customset_controller.go",
		"internal/controller/customset_controller_test.go",
		"internal/controller/suite_test.go",
	},
}

// TestExamplesAreScaffolded: each example with a PROJECT is what the commands in its README make today, apart from what
// was written by hand; -update brings it up to date. What the generator rewrites is compared by its own check.
func TestExamplesAreScaffolded(t *testing.T) {
	projects, err := filepath.Glob(filepath.Join(examplesDir, "*", "PROJECT"))
	if err != nil || len(projects) < len(written) {
		t.Fatalf("%d examples, %d of them in the table: %v", len(projects), len(written), err)
	}
	for _, project := range projects {
		example, err := filepath.Abs(filepath.Dir(project))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(example), func(t *testing.T) {
			t.Parallel()
			made := remake(t, example)
			compareExample(t, made, example)
			run(t, example, "generate", "--check")
		})
	}
}

// remake makes a new project by the commands in an example's README, and returns its folder.
func remake(t *testing.T, example string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(example))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range commands(t, example) {
		args := strings.Fields(line)[1:]
		switch args[0] {
		case "init":
			args = append(args, "--fetch-deps=false")
		case "create":
			args = append(args, "--make=false")
			copyTypes(t, example, dir)
		}
		run(t, dir, args...)
	}
	return dir
}

// commands returns the slipway commands of the section "How it was made" in an example's README.
func commands(t *testing.T, example string) []string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## How it was made\n")
	_, block, _ := strings.Cut(section, "\n```sh\n")
	block, _, _ = strings.Cut(block, "```")
	lines := slices.DeleteFunc(strings.Split(block, "\n"), func(line string) bool { return !strings.HasPrefix(line, "slipway ") })
	if len(lines) == 0 {
		t.Fatalf("%s/README.md has no commands of slipway in the section How it was made", example)
	}
	return lines
}

// run runs the command at the time when the examples were made.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	getenv := func(name string) string {
		if name == "SOURCE_DATE_EPOCH" {
			return firstCommit
		}
		return os.Getenv(name)
	}
	var out bytes.Buffer
	env := cli.Env{Args: args, Dir: dir, Getenv: getenv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}
	if code := cli.Main(t.Context(), env); code != 0 {
		t.Fatalf("slipway %s: exit code %d\n%s", strings.Join(args, " "), code, out.Bytes())
	}
}

// copyTypes does what the author did between two commands: types were written, which later commands read.
func copyTypes(t *testing.T, example, dir string) {
	t.Helper()
	for _, name := range written[filepath.Base(example)] {
		if !strings.HasSuffix(name, "_types.go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(example, name))
		if _, made := os.Stat(filepath.Join(dir, name)); errors.Is(made, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// rewritten are the scaffolded files that the generator rewrites.
var rewritten = []string{"config/rbac/role.yaml"}

// compareExample compares all files that were made with the example's.
func compareExample(t *testing.T, made, example string) {
	t.Helper()
	byHand := written[filepath.Base(example)]
	seen := map[string]bool{}
	err := fs.WalkDir(os.DirFS(made), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen[name] = true
		if slices.Contains(byHand, name) || slices.Contains(rewritten, name) {
			return nil
		}
		return compareFile(t, filepath.Join(made, name), filepath.Join(example, name))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range byHand {
		if !seen[name] {
			t.Errorf("%s is no scaffolded file: leave it out of the table", name)
		}
	}
}

func compareFile(t *testing.T, made, committed string) error {
	t.Helper()
	got, err := os.ReadFile(made)
	if err != nil {
		return err
	}
	want, err := os.ReadFile(committed)
	if diff := gocmp.Diff(string(want), string(got)); err == nil && diff == "" {
		return nil
	} else if !*update {
		t.Errorf("%s (-example +scaffold; -update accepts it): %v\n%s", committed, cmp.Or(err, errDrift), diff)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(committed), 0o755); err != nil {
		return err
	}
	return os.WriteFile(committed, got, 0o644)
}

var errDrift = errors.New("it is not what the commands make")
