package delivery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// deployable is a project that generates nothing and deploys a namespace and a manager.
func deployable(t *testing.T) (*operation.Session, *operationtest.Events) {
	t.Helper()
	s, told := operationtest.Begin(t, t.TempDir())
	operationtest.Write(t, s.Dir, "PROJECT", operationtest.ProjectFile)
	operationtest.Write(t, s.Dir, "go.mod", "module example.com/sample\n\ngo 1.26\n")
	operationtest.Write(t, s.Dir, "main.go", "package main\n\nfunc main() {}\n")
	operationtest.Write(t, s.Dir, "config/manager/kustomization.yaml", "resources: [manager.yaml]\n")
	operationtest.Write(t, s.Dir, "config/manager/manager.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec:
  selector: {matchLabels: {app: manager}}
  template:
    metadata: {labels: {app: manager}}
    spec: {containers: [{name: manager, image: "controller:latest"}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: system}
`)
	operationtest.Write(t, s.Dir, "config/default/kustomization.yaml", "namespace: sample-system\nresources: [../manager]\n")
	return s, told
}

func TestPrintDeployment(t *testing.T) {
	s, told := deployable(t)
	const image = "registry.example.com/sample:v1"
	if _, err := PrintDeployment(context.Background(), s, Deployment{Image: image}); err != nil {
		t.Fatal(err)
	}
	printed := operationtest.Last(t, told)
	if !strings.Contains(printed.Text, image) || strings.Contains(printed.Text, "controller:latest") {
		t.Errorf("the image is not the one that was asked for:\n%s", printed.Text)
	}
	objects, ok := printed.Value.([]*unstructured.Unstructured)
	if !ok || len(objects) != 2 || objects[0].GetKind() != "Namespace" {
		t.Errorf("not a namespace first, then what is in it: %v", printed.Value)
	}
	if warnings := operationtest.Of[report.Warning](told); len(warnings) > 0 {
		t.Errorf("warnings: %v", warnings)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, "config/manager/kustomization.yaml"))
	if err != nil || strings.Contains(string(text), image) {
		t.Errorf("the project was changed: %q, %v", text, err)
	}
}

// TestImageOfNoContainer: an image that nothing runs is refused.
func TestImageOfNoContainer(t *testing.T) {
	s, _ := deployable(t)
	operationtest.Write(t, s.Dir, "config/other/kustomization.yaml", "resources: [map.yaml]\n")
	operationtest.Write(t, s.Dir, "config/other/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
	err := operationtest.Err(PrintDeployment(context.Background(), s, Deployment{Folder: "config/other", Image: "registry.example.com/sample:v1"}))
	if refused, ok := errors.AsType[*report.Error](err); !ok || refused.Where != "config/other" {
		t.Errorf("got %v", err)
	}
}

// TestDeployNothing: a kustomization without objects is refused before a cluster is asked.
func TestDeployNothing(t *testing.T) {
	s, _ := deployable(t)
	operationtest.Write(t, s.Dir, "config/empty/kustomization.yaml", "resources: [nothing.yaml]\n")
	operationtest.Write(t, s.Dir, "config/empty/nothing.yaml", "# nothing\n")
	for name, err := range map[string]error{
		"Deploy":   operationtest.Err(Deploy(context.Background(), s, Deployment{Folder: "config/empty"})),
		"Undeploy": operationtest.Err(Undeploy(context.Background(), s, "config/empty", Removal{})),
	} {
		if told := operationtest.Mistake(t, err); told.Where != filepath.Join(s.Dir, "config", "empty") {
			t.Errorf("%s: %v", name, told)
		}
	}
}

func TestTargets(t *testing.T) {
	s, _ := deployable(t)
	err := operationtest.Err(Deploy(context.Background(), s, Deployment{To: Target{Timeout: -1}}))
	if told := operationtest.Mistake(t, err); told.Where != "--timeout" || told.ExitCode() != report.UsageCode {
		t.Errorf("the timeout is negative: %v", told)
	}
	_, err = Undeploy(context.Background(), s, "", Removal{From: Target{Kubeconfig: filepath.Join(s.Dir, "missing")}})
	if told := operationtest.Mistake(t, err); !strings.Contains(told.Where+told.Error(), "missing") {
		t.Errorf("a kubeconfig that does not exist: %v", told)
	}
}

func TestInventories(t *testing.T) {
	s, _ := deployable(t)
	operationtest.Write(t, s.Dir, "config/plain/kustomization.yaml", "resources: [../manager]\n")
	other := t.TempDir()
	operationtest.Write(t, other, "Staging 2/kustomization.yaml", "namespace: staging\n")
	objects := []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "system"}}}}
	for folder, want := range map[string]ship.Set{
		filepath.Join(s.Dir, "config", "default"): {Project: "sample", Namespace: "sample-system"},
		filepath.Join(s.Dir, "config", "plain"):   {Project: "sample", Part: "config-plain", Namespace: ship.SetNamespace(objects)},
		filepath.Join(other, "Staging 2"):         {Project: "sample", Part: "staging-2", Namespace: "staging"},
	} {
		set, err := deploymentSet(s, s.Dir, folder, objects)
		if err != nil {
			t.Fatal(err)
		}
		if set.Project != want.Project || set.Part != want.Part || set.Namespace != want.Namespace || set.DefinitionsOnly {
			t.Errorf("%s: %+v, want %+v", folder, *set, want)
		}
	}
	definitions, err := definitionsSet(s, s.Dir)
	if err != nil || !definitions.DefinitionsOnly || definitions.Part != "" || definitions.Namespace != "sample-system" {
		t.Errorf("definitions are %+v, %v: not those of the usual deployment", definitions, err)
	}
}

func TestConsent(t *testing.T) {
	asked := ""
	answer := func(is bool) func(context.Context, string, string) (bool, error) {
		return func(_ context.Context, question, flag string) (bool, error) {
			asked = question + flag
			return is, nil
		}
	}
	for _, test := range []struct {
		name  string
		yes   bool
		ask   func(context.Context, string, string) (bool, error)
		want  bool
		asked string
	}{
		{"said before", true, answer(false), true, ""},
		{"a person agrees", false, answer(true), true, "all of it?--yes"},
		{"a person does not", false, answer(false), false, "all of it?--yes"},
		{"no one there", false, nil, false, ""},
	} {
		asked = ""
		s := &operation.Session{Ask: test.ask}
		got, err := consent(s, test.yes, "--yes", keepData)(context.Background(), "all of it?")
		if got != test.want || err != nil || asked != test.asked {
			t.Errorf("%s: %v, %v after the question %q", test.name, got, err, asked)
		}
	}
	_, err := consent((&operation.Session{}), false, "--yes", refuseDeletion("slipway undeploy"))(context.Background(), "2 objects\nDelete them?")
	if told := operationtest.Mistake(t, err); told.Next != "slipway undeploy --yes" || told.Hint != "2 objects" {
		t.Errorf("a refusal: %+v", told)
	}
}

func TestFlagOf(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"get", "pods", "--context", "staging"}, "staging"},
		{[]string{"--context=staging", "get", "pods"}, "staging"},
		{[]string{"exec", "pod", "--", "kubectl", "--context", "inner"}, ""},
		{[]string{"get", "--context"}, ""},
		{[]string{"--contexts=staging"}, ""},
	} {
		if got := flagOf(test.args, "--context"); got != test.want {
			t.Errorf("flagOf(%q) = %q, want %q", test.args, got, test.want)
		}
	}
}

// TestWaysOut: what has simulated pods run for real depends on the cluster that they are in.
func TestWaysOut(t *testing.T) {
	of := ship.Simulation{Workload: "deployment/system/manager", Images: []string{"controller:latest"}}
	status := func(name string, nodes clusterctl.Nodes) *clusterctl.Status {
		s := &clusterctl.Status{Nodes: &nodes}
		s.Name = name
		return s
	}
	for _, test := range []struct {
		name string
		in   *clusterctl.Status
		want string
	}{
		{"another cluster", nil, ""},
		{"simulated by choice", status("a", clusterctl.Nodes{Simulated: 1}), "cluster start a --nodes real"},
		{"no real node can be", status("a", clusterctl.Nodes{Simulated: 1, Joins: true, Problem: "no namespaces"}), ": no namespaces"},
		{"the default cluster", status(clusters.DefaultCluster, clusterctl.Nodes{Simulated: 1, Joins: true}), "image load controller:latest`, then"},
		{"a cluster with a name", status("a", clusterctl.Nodes{Simulated: 1, Real: 1}), "image load controller:latest --cluster a`"},
	} {
		if got := runAsContainersAdvice(test.in, of); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	of.Images = nil // all are there, and the pods are older
	got := runAsContainersAdvice(status("a", clusterctl.Nodes{Simulated: 1, Real: 1}), of)
	if want := "`slipway kubectl -n system rollout restart deployment manager`"; !strings.Contains(got, want) || strings.Contains(got, "image load") {
		t.Errorf("with the images there: %q, want %q", got, want)
	}
}
