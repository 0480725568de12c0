package helm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kubebuilder builds kubebuilder's command once, for all tests of its charts.
var kubebuilder = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "install", "sigs.k8s.io/kubebuilder/v4@v4.16.0")
	cmd.Dir, cmd.Env = programs, append(os.Environ(), "GOBIN="+programs, "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kubebuilder: %w\n%s", err, out)
	}
	return filepath.Join(programs, "kubebuilder"), nil
})

// pluginProject is a project that kubebuilder made, with a webhook and the chart of a plug-in.
func pluginProject(t *testing.T, plugin string) project {
	t.Helper()
	program, err := kubebuilder()
	if err != nil {
		t.Fatal(err)
	}
	p := project{t, filepath.Join(t.TempDir(), "op")}
	if err := os.Mkdir(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = p.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kubebuilder %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("init", "--domain", "example.com", "--repo", "example.com/op", "--project-name", "op")
	run("create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false")
	run("create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting", "--programmatic-validation", "--make=false")
	p.write("config/manager/extra.yaml", extraObject)
	p.write("config/manager/kustomization.yaml", strings.Replace(p.read("config/manager/kustomization.yaml"), "- manager.yaml\n", "- manager.yaml\n- extra.yaml\n", 1))
	p.call("tools", "link")
	p.call("generate")
	run("edit", "--plugins=helm."+plugin)
	return p
}

// extraObject is an object of the user's in the configuration, with text that Helm would read as an action.
const extraObject = `apiVersion: v1
kind: ConfigMap
metadata:
  name: extra
  namespace: system
data:
  text: |
    a {{ brace }} line
`

// at is the value at a path of an object's.
func at(value any, keys ...string) any {
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

// manager is the manager's container and the number of managers.
func (p project) manager(objects []object) (container map[string]any, replicas any) {
	p.Helper()
	for _, o := range objects {
		if o["kind"] == "Deployment" {
			list, _ := at(o, "spec", "template", "spec", "containers").([]any)
			return list[0].(map[string]any), at(o, "spec", "replicas")
		}
	}
	p.Fatal("the chart has no Deployment")
	return nil, nil
}

// identities are the kinds and names of objects.
func identities(objects []object) map[string]bool {
	all := map[string]bool{}
	for _, o := range objects {
		all[at(o, "kind").(string)+"/"+at(o, "metadata", "name").(string)] = true
	}
	return all
}

// opRelease is where the charts of these tests are installed.
var opRelease = releaseAt{"op", "op-system"}

const ownTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "op.resourceName" (dict "suffix" "ours" "context" $) }}
data:
  metrics: {{ .Values.metrics.enabled | quote }}
  ours: {{ .Values.ours.greeting | quote }}
  helper: {{ include "ours.word" . | quote }}
`

// TestTakeOver: a chart of kubebuilder's plug-in becomes ours, and what the user set, added and wrote in it keeps its
// effect.
func TestTakeOver(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-helm")
	}
	p := pluginProject(t, "kubebuilder.io/v2-alpha")
	before := p.objects(p.render(p.load(), opRelease, nil))
	p.replace("dist/chart/values.yaml", "replicas: 1", "replicas: 3")
	p.replace("dist/chart/values.yaml", "    - --leader-elect\n", "    - --leader-elect\n    - --zap-log-level=debug\n")
	p.replace("dist/chart/values.yaml", "repository: controller", "repository: example.com/op")
	p.replace("dist/chart/values.yaml", "cpu: 500m", "cpu: 750m")
	p.write("dist/chart/values.yaml", p.read("dist/chart/values.yaml")+"# Said at the start.\nours:\n  greeting: ahoy\n")
	p.write("dist/chart/Chart.yaml", strings.Replace(p.read("dist/chart/Chart.yaml"), "version: 0.1.0", "version: 0.4.0", 1)+"maintainers:\n  - name: Ann\n")
	p.write("dist/chart/templates/_helpers.tpl", p.read("dist/chart/templates/_helpers.tpl")+"\n{{- define \"ours.word\" -}}\nhello\n{{- end }}\n")
	p.write("dist/chart/templates/ours.yaml", ownTemplate)
	p.call("helm")
	p.lint(nil)

	c := p.load()
	if c.Metadata.Version != "0.4.0" || len(c.Metadata.Maintainers) != 1 || c.Metadata.Annotations["kubebuilder.io/generated-by"] != "" {
		t.Errorf("Chart.yaml has %+v", c.Metadata)
	}
	after := p.objects(p.render(c, opRelease, nil))
	want := identities(before)
	want["ConfigMap/op-ours"] = true
	if diff := cmp.Diff(want, identities(after)); diff != "" {
		t.Errorf("the objects are others (-plug-in +slipway):\n%s", diff)
	}
	container, replicas := p.manager(after)
	args := at(container, "args").([]any)
	if replicas != float64(3) || container["image"] != "example.com/op:0.1.0" || at(container, "resources", "limits", "cpu") != "750m" || !contains(args, "--zap-log-level=debug", "--leader-elect") {
		t.Errorf("%v managers, container %v", replicas, container)
	}
	for _, o := range after {
		if diff := cmp.Diff(map[string]any{"metrics": "true", "ours": "ahoy", "helper": "hello"}, at(o, "data")); at(o, "metadata", "name") == "op-ours" && diff != "" {
			t.Errorf("the user's own object differs: %s", diff)
		}
	}
	if again := p.call("helm"); again != "" {
		t.Errorf("a second run says %q", again)
	}
	if p.read("dist/chart/templates/ours.yaml") != ownTemplate {
		t.Error("the user's template is another one")
	}
}

// contains reports whether a list has all items.
func contains(list []any, items ...any) bool {
	found := 0
	for _, item := range items {
		for _, there := range list {
			if there == item {
				found++
			}
		}
	}
	return found == len(items)
}

// TestTakeOverFirstForm: so does a chart of the plug-in's first form.
func TestTakeOverFirstForm(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-helm")
	}
	p := pluginProject(t, "kubebuilder.io/v1-alpha")
	p.replace("dist/chart/values.yaml", "  replicas: 1\n", "  replicas: 2\n")
	p.replace("dist/chart/values.yaml", "    imagePullPolicy: IfNotPresent\n", "    imagePullPolicy: Always\n    env:\n      MODE: fast\n")
	p.call("helm")
	p.lint(nil)
	container, replicas := p.manager(p.objects(p.render(p.load(), opRelease, nil)))
	env := []any{map[string]any{"name": "MODE", "value": "fast"}}
	if replicas != float64(2) || container["imagePullPolicy"] != "Always" || !cmp.Equal(env, container["env"]) || container["image"] != "controller:latest" {
		t.Errorf("%v managers, container %v", replicas, container)
	}
}

// TestTakeOverEdited: lines that the user wrote into the plug-in's templates are refused with their places; either the
// template stays and works, or the lines go.
func TestTakeOverEdited(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-helm")
	}
	p := pluginProject(t, "kubebuilder.io/v2-alpha")
	p.replace("dist/chart/templates/manager/manager.yaml", "      containers:\n", "      hostNetwork: true\n      containers:\n")
	p.replace("dist/chart/templates/webhook/webhook-service.yaml", "spec:\n", "spec:\n  trafficDistribution: {{ .Values.ours.traffic }}\n")
	p.write("dist/chart/values.yaml", p.read("dist/chart/values.yaml")+"ours:\n  traffic: PreferClose\n")
	values := p.read("dist/chart/values.yaml")
	_, err := p.try("helm")
	for _, want := range []string{"dist/chart/templates/manager/manager.yaml:75: hostNetwork: true", "webhook-service.yaml:13: trafficDistribution", "--conflicts mine"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("no %q in %v", want, err)
		}
	}
	if p.read("dist/chart/values.yaml") != values {
		t.Error("the refusal changed values.yaml")
	}
	saved := filepath.Join(t.TempDir(), "saved")
	if err := os.CopyFS(saved, os.DirFS(p.root)); err != nil {
		t.Fatal(err)
	}

	p.call("helm", "--conflicts", "mine")
	p.lint(nil)
	mine := p.render(p.load(), opRelease, nil)
	if !strings.Contains(mine, "hostNetwork: true") || !strings.Contains(mine, "trafficDistribution: PreferClose") {
		t.Errorf("the user's lines are gone:\n%s", mine)
	}
	if objects := p.objects(mine); len(identities(objects)) != len(objects) {
		t.Errorf("objects are there twice:\n%s", mine)
	}

	other := project{t, saved}
	other.call("helm", "--conflicts", "generated")
	other.lint(nil)
	if generated := other.render(other.load(), opRelease, nil); strings.Contains(generated, "hostNetwork") || strings.Contains(generated, "trafficDistribution") {
		t.Errorf("the user's lines are there still:\n%s", generated)
	}
}
