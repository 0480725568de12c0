package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
	"github.com/slipway-dev/slipway/project"
)

// An othersProject is a project that others made, as the module proxy has it.
type othersProject struct {
	module string
	// layout is that of its PROJECT; "none" where there is no such file, and its class is "any other" then.
	layout string
	// kind is one that it has, as group/version/Kind.
	kind string
	// packages are those whose dependencies are downloaded first, and suite the arguments of slipway test.
	packages, suite string
	// deployed is the kustomization that it deploys, and crds the one with its definitions.
	deployed string
}

// othersProjects have the layouts of kubebuilder v2, v3 and v4 or none of these, operator-sdk's plug-ins,
// controller-runtime from v0.11 to v0.24, and habits of their authors.
var othersProjects = []othersProject{
	{module: "sigs.k8s.io/lws@v0.8.0", layout: "v4", kind: "leaderworkerset/v1/LeaderWorkerSet", packages: "./...", suite: "./pkg/webhooks/...", deployed: "config/default"},
	{module: "github.com/cloudnative-pg/cloudnative-pg@v1.27.0", layout: "v4", kind: "postgresql/v1/Backup", packages: "./api/... ./cmd/manager/...", suite: "./api/...", deployed: "config/default"},
	{module: "sigs.k8s.io/jobset@v0.12.0", layout: "v3", kind: "jobset/v1alpha2/JobSet", packages: "./...", suite: "./pkg/webhooks/...", deployed: "config/default"},
	{module: "github.com/rabbitmq/cluster-operator/v2@v2.16.0", layout: "v3", kind: "rabbitmq.com/v1beta1/RabbitmqCluster", packages: "./...", suite: "./api/...", deployed: "config/default/base"},
	{module: "github.com/grafana/grafana-operator/v5@v5.18.0", layout: "v3", kind: "grafana/v1beta1/GrafanaFolder", packages: "./...", suite: "./controllers/config/...", deployed: "config/default"},
	{module: "github.com/kuadrant/limitador-operator@v0.4.0", layout: "v3", kind: "limitador.kuadrant.io/v1alpha1/Limitador", packages: "./...", suite: "./pkg/...", deployed: "config/default"},
	{module: "github.com/argoproj-labs/argocd-operator@v0.5.0", layout: "v3", kind: "argoproj.io/v1alpha1/ArgoCD", packages: "./...", suite: "./api/...", deployed: "config/default"},
	{module: "sigs.k8s.io/cluster-api-provider-aws/v2@v2.9.0", layout: "v2", kind: "infrastructure/v1beta2/AWSManagedCluster", packages: "./...", suite: "./pkg/internal/...", deployed: "config/default"},
	{module: "github.com/ray-project/kuberay/ray-operator@v1.5.0", layout: "v3", kind: "ray/v1/RayJob", packages: "./apis/... .", suite: "./pkg/webhooks/...", deployed: "config/default"},
	{module: "sigs.k8s.io/kueue@v0.17.0", layout: "none", kind: "kueue.x-k8s.io/v1beta2/Workload", packages: "./...", suite: "./apis/...", deployed: "config/default"},
	{module: "sigs.k8s.io/karpenter@v1.12.0", layout: "none", kind: "karpenter.sh/v1/NodePool", packages: "./...", suite: "./pkg/apis/...", deployed: "config/default"},
}

// A verbTried is a command that is run in a project as it was published. One that looks changes nothing there.
type verbTried struct {
	name  string
	args  func(othersProject) string
	looks bool
	// undo is run after a command that succeeded, and leaves nothing of what it did.
	undo func(othersProject) string
}

var verbsTried = []verbTried{
	{name: "generate --check", args: always("generate --check"), looks: true},
	{name: "generate", args: always("generate")},
	{name: "create api", args: newKind("create api", "--resource --controller"), undo: newKind("delete api", "")},
	{name: "create webhook", args: ownKind("create webhook", "--defaulting")},
	{name: "edit", args: always("edit --enable network-policy")},
	{name: "delete", args: always("delete webhook --group nope --version v1 --kind Nope"), looks: true},
	{name: "kustomize build", args: func(p othersProject) string { return "kustomize build " + p.deployed }, looks: true},
	{name: "install", args: always("install --dry-run"), looks: true},
	{name: "deploy --print", args: func(p othersProject) string { return "deploy --print -k " + p.deployed }, looks: true},
	{name: "helm", args: func(p othersProject) string { return "helm --chart slipway-chart -k " + p.deployed }},
	{name: "test", args: func(p othersProject) string { return "test " + p.suite }},
}

func always(line string) func(othersProject) string {
	return func(othersProject) string { return line }
}

func ownKind(verb, flags string) func(othersProject) string {
	return func(p othersProject) string {
		kind := strings.Split(p.kind, "/")
		return fmt.Sprintf("%s --group %s --version %s --kind %s %s", verb, kind[0], kind[1], kind[2], flags)
	}
}

func newKind(verb, flags string) func(othersProject) string {
	return func(p othersProject) string {
		kind := strings.Split(p.kind, "/")
		return fmt.Sprintf("%s --group %s --version %s --kind Sloop %s", verb, kind[0], kind[1], flags)
	}
}

// TestEveryVerbInOthersProjects runs every verb in projects that others made and compares what it said and changed with
// testdata/others. A verb that looks changes nothing, and what an undo leaves is nothing, whatever was recorded.
func TestEveryVerbInOthersProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-others")
	}
	env := othersEnv(t)
	for _, p := range othersProjects {
		t.Run(p.name(), func(t *testing.T) {
			dir := published(t, p)
			if layout := layoutOf(t, dir); layout != p.layout {
				t.Errorf("the layout is %s, want %s", layout, p.layout)
			}
			stale := generatedAnew(t, env, dir)
			var record strings.Builder
			for _, verb := range verbsTried {
				record.WriteString(tryVerb(t, env, dir, p, verb, stale))
			}
			compareRecord(t, filepath.Join("testdata", "others", p.name()+".txt"), record.String())
		})
	}
}

// name is the module's last element that is a name.
func (p othersProject) name() string {
	path, _, _ := strings.Cut(p.module, "@")
	return filepath.Base(regexp.MustCompile(`/v\d+$`).ReplaceAllString(path, ""))
}

// othersEnv is what the commands get: one cluster for all of them, with the caches of the caller's Go.
func othersEnv(t *testing.T) []string {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Fatal("SLIPWAY_CLUSTER names no cluster program, which make test-long-others does")
	}
	env := append(os.Environ(), "SLIPWAY_CHECK="+cmp.Or(os.Getenv("SLIPWAY_CHECK"), "off"), "SLIPWAY_STATE="+t.TempDir(), "SLIPWAY_CACHE="+t.TempDir(), "GOTOOLCHAIN=local", "GOWORK=off")
	control := clusterctl.New(lookup(env), report.Discard)
	session, err := control.Tie(context.Background(), "others", clusterctl.Options{Timeout: testlimit.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return append(env, "KUBECONFIG="+session.Kubeconfig)
}

func lookup(env []string) func(string) string {
	return func(name string) string {
		for _, entry := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// published is a project as it was published, in a repository of its own, with what it needs to be compiled.
func published(t *testing.T, p othersProject) string {
	t.Helper()
	out := goTool(t, t.TempDir(), "mod", "download", "-json", p.module)
	var downloaded struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &downloaded); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), p.name())
	if err := copyWritable(dir, downloaded.Dir); err != nil {
		t.Fatal(err)
	}
	in(t, dir, "git", "init", "-q")
	in(t, dir, "git", "add", "-A", "-f")
	in(t, dir, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "begin")
	in(t, dir, "go", append([]string{"list", "-deps", "-test"}, strings.Fields(p.packages)...)...)
	return dir
}

// layoutOf is the layout that a project's PROJECT has, as kubebuilder counts them. Version 2 names none.
func layoutOf(t *testing.T, dir string) string {
	t.Helper()
	file, err := project.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	if file.Version == "2" {
		return "v2"
	}
	for _, plugin := range file.Layout {
		if version, ok := strings.CutPrefix(plugin, "go.kubebuilder.io/"); ok {
			return version
		}
	}
	return "none"
}

// copyWritable copies a module's files, which the cache keeps for reading alone.
func copyWritable(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

// generatedAnew are the files that generating changes in a project as it was published: those that its authors made
// with an older controller-gen. A command that generates changes them, too, and no undo brings them back.
func generatedAnew(t *testing.T, env []string, dir string) string {
	t.Helper()
	runIn(env, dir, "generate")
	defer restore(t, dir)
	return in(t, dir, "git", "status", "--porcelain", "--untracked-files=all")
}

// restore brings a project back to what was published.
func restore(t *testing.T, dir string) {
	t.Helper()
	in(t, dir, "git", "reset", "-q", "--hard")
	in(t, dir, "git", "clean", "-q", "-x", "-f", "-d")
}

// tryVerb runs a verb in a project, says what became of it, and brings the project back to what was published.
func tryVerb(t *testing.T, env []string, dir string, p othersProject, verb verbTried, stale string) string {
	t.Helper()
	line := verb.args(p)
	said, code := runIn(env, dir, line)
	changed := in(t, dir, "git", "status", "--porcelain", "--untracked-files=all")
	if verb.looks && changed != "" {
		t.Errorf("slipway %s changed files:\n%s", line, changed)
	}
	record := fmt.Sprintf("$ slipway %s\nexit %d\n%s%s\n", line, code, changed, mattering(said, dir))
	if verb.undo != nil && code == 0 {
		undo := verb.undo(p)
		said, code := runIn(env, dir, undo)
		if left := in(t, dir, "git", "status", "--porcelain", "--untracked-files=all"); code != 0 || left != "" && left != stale {
			t.Errorf("slipway %s: exit %d; after slipway %s\n%s\nit left\n%s", line, code, undo, said, left)
		}
	}
	restore(t, dir)
	return record
}

// runIn runs slipway in a folder and returns what it reported.
func runIn(env []string, dir, line string) (string, int) {
	var stderr bytes.Buffer
	cmd := exec.Command("slipway", strings.Fields(line)...) // this test binary; see TestMain
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &stderr
	_ = cmd.Run()
	return stderr.String(), cmd.ProcessState.ExitCode()
}

// in runs a program in a folder and returns what it printed.
func in(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// mattering is what of a report is about the project: its errors, warnings and hints, without the folder's name.
func mattering(said, dir string) string {
	var kept []string
	for line := range strings.Lines(strings.ReplaceAll(said, dir, "PROJECT")) {
		if ofFinding.MatchString(line) {
			kept = append(kept, line)
		}
	}
	const most = 12
	if len(kept) > most {
		kept = append(kept[:most], fmt.Sprintf("and %d lines more\n", len(kept)-most))
	}
	return strings.Join(kept, "")
}

var ofFinding = regexp.MustCompile(`^(error|warning|note):|^ +(where|why|hint|try): `)

// compareRecord compares what happened in a project with what is recorded, or records it.
func compareRecord(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-recorded +now), -update records it:\n%s", path, diff)
	}
}
