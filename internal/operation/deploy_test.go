package operation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// deployable is a project that generates nothing and deploys a namespace and a manager.
func deployable(t *testing.T) (*Session, *events) {
	t.Helper()
	s, told := begin(t, t.TempDir())
	write(t, s.Dir, "PROJECT", projectFile)
	write(t, s.Dir, "go.mod", "module example.com/sample\n\ngo 1.26\n")
	write(t, s.Dir, "main.go", "package main\n\nfunc main() {}\n")
	write(t, s.Dir, "config/manager/kustomization.yaml", "resources: [manager.yaml]\n")
	write(t, s.Dir, "config/manager/manager.yaml", `apiVersion: apps/v1
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
	write(t, s.Dir, "config/default/kustomization.yaml", "namespace: sample-system\nresources: [../manager]\n")
	return s, told
}

func TestPrintDeployment(t *testing.T) {
	s, told := deployable(t)
	const image = "registry.example.com/sample:v1"
	if err := s.PrintDeployment(context.Background(), Deployment{Image: image}); err != nil {
		t.Fatal(err)
	}
	printed := last(t, told)
	if !strings.Contains(printed.Text, image) || strings.Contains(printed.Text, "controller:latest") {
		t.Errorf("the image is not the one that was asked for:\n%s", printed.Text)
	}
	objects, ok := printed.Value.([]*unstructured.Unstructured)
	if !ok || len(objects) != 2 || objects[0].GetKind() != "Namespace" {
		t.Errorf("not a namespace first, then what is in it: %v", printed.Value)
	}
	if warnings := of[report.Warning](told); len(warnings) > 0 {
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
	write(t, s.Dir, "config/other/kustomization.yaml", "resources: [map.yaml]\n")
	write(t, s.Dir, "config/other/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
	err := s.PrintDeployment(context.Background(), Deployment{Folder: "config/other", Image: "registry.example.com/sample:v1"})
	if refused, ok := errors.AsType[*report.Error](err); !ok || refused.Where != "config/other" {
		t.Errorf("got %v", err)
	}
}

// TestDeployNothing: a kustomization without objects is refused before a cluster is asked.
func TestDeployNothing(t *testing.T) {
	s, _ := deployable(t)
	write(t, s.Dir, "config/empty/kustomization.yaml", "resources: [nothing.yaml]\n")
	write(t, s.Dir, "config/empty/nothing.yaml", "# nothing\n")
	for name, err := range map[string]error{
		"Deploy":   s.Deploy(context.Background(), Deployment{Folder: "config/empty"}),
		"Undeploy": s.Undeploy(context.Background(), "config/empty", Removal{}),
	} {
		if told := mistake(t, err); told.Where != filepath.Join(s.Dir, "config", "empty") {
			t.Errorf("%s: %v", name, told)
		}
	}
}

func TestTargets(t *testing.T) {
	s, _ := deployable(t)
	err := s.Deploy(context.Background(), Deployment{To: Target{Timeout: -1}})
	if told := mistake(t, err); told.Where != "--timeout" || told.ExitCode() != mistaken {
		t.Errorf("the timeout is negative: %v", told)
	}
	err = s.Undeploy(context.Background(), "", Removal{From: Target{Kubeconfig: filepath.Join(s.Dir, "missing")}})
	if told := mistake(t, err); !strings.Contains(told.Where+told.Error(), "missing") {
		t.Errorf("a kubeconfig that does not exist: %v", told)
	}
}

func TestInventories(t *testing.T) {
	s, _ := deployable(t)
	write(t, s.Dir, "config/plain/kustomization.yaml", "resources: [../manager]\n")
	other := t.TempDir()
	write(t, other, "Staging 2/kustomization.yaml", "namespace: staging\n")
	objects := []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "system"}}}}
	for folder, want := range map[string]ship.Set{
		filepath.Join(s.Dir, "config", "default"): {Project: "sample", Namespace: "sample-system"},
		filepath.Join(s.Dir, "config", "plain"):   {Project: "sample", Part: "config-plain", Namespace: ship.SetNamespace(objects)},
		filepath.Join(other, "Staging 2"):         {Project: "sample", Part: "staging-2", Namespace: "staging"},
	} {
		set, err := s.deploymentSet(s.Dir, folder, objects)
		if err != nil {
			t.Fatal(err)
		}
		if set.Project != want.Project || set.Part != want.Part || set.Namespace != want.Namespace || set.DefinitionsOnly {
			t.Errorf("%s: %+v, want %+v", folder, *set, want)
		}
	}
	definitions, err := s.definitionsSet(s.Dir)
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
		s := &Session{Ask: test.ask}
		got, err := s.consent(test.yes, "--yes", keepData)(context.Background(), "all of it?")
		if got != test.want || err != nil || asked != test.asked {
			t.Errorf("%s: %v, %v after the question %q", test.name, got, err, asked)
		}
	}
	_, err := (&Session{}).consent(false, "--yes", refuseDeletion("slipway undeploy"))(context.Background(), "2 objects\nDelete them?")
	if told := mistake(t, err); told.Next != "slipway undeploy --yes" || told.Hint != "2 objects" {
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
		{"the default cluster", status(DefaultCluster, clusterctl.Nodes{Simulated: 1, Joins: true}), "image load controller:latest`, then"},
		{"a cluster with a name", status("a", clusterctl.Nodes{Simulated: 1, Real: 1}), "image load controller:latest --cluster a`"},
	} {
		if got := wayOut(test.in, of); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	of.Images = nil // all are there, and the pods are older
	got := wayOut(status("a", clusterctl.Nodes{Simulated: 1, Real: 1}), of)
	if want := "`slipway kubectl -n system rollout restart deployment manager`"; !strings.Contains(got, want) || strings.Contains(got, "image load") {
		t.Errorf("with the images there: %q, want %q", got, want)
	}
}
