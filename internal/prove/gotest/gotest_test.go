package gotest_test

import (
	"errors"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/gotest"
)

var update = flag.Bool("update", false, "write the golden file")

var project = gotest.Project{
	Package: "controller", CRDs: "../../config/crd/bases", Roles: "../../config/rbac", Manager: "../../cmd",
	Arguments: []string{"--leader-elect=false"}, Environment: []string{"MODE=a=b"},
	Kinds: prove.Kinds{
		schema.GroupKind{Group: "web.example.com", Kind: "Site"}: {Resource: "sites", Version: "v1", Namespaced: true},
		schema.GroupKind{Kind: "ConfigMap"}:                      {Resource: "configmaps", Version: "v1", Namespaced: true},
		schema.GroupKind{Group: "apps", Kind: "Deployment"}:      {Resource: "deployments", Version: "v1", Namespaced: true},
	},
}

func site(fields map[string]any) map[string]any {
	object := map[string]any{"apiVersion": "web.example.com/v1", "kind": "Site", "metadata": map[string]any{"name": "blog"}}
	for name, value := range fields {
		object[name] = value
	}
	return object
}

var scenario = prove.Scenario{Steps: []prove.Step{
	{Name: "hostile\n\x1b[31m*/ `name`", Apply: site(map[string]any{"spec": map[string]any{"text": "a`b\nc"}})},
	{Patch: site(map[string]any{"spec": map[string]any{"replicas": 3.0}})},
	{Delete: site(nil)},
}}

// at is a write in the second step.
var at = prove.Point{Step: 1, Verb: "update", Group: "apps", Resource: "deployments", Namespace: "default", Name: "blog", Nth: 2}

func finding(kind prove.Kind, differences ...prove.Difference) prove.Finding {
	return prove.Finding{Plans: []prove.Plan{{Kind: kind, Point: at}}, Symptom: prove.Symptom{Oracle: prove.Diverged, Step: 1, Differences: differences}}
}

// TestRender: the test of a finding is Go, also where names and objects are hostile, and looks at all that is the same
// in each run.
func TestRender(t *testing.T) {
	text, err := gotest.Render(finding(prove.Stale,
		prove.Difference{Object: "ConfigMap default/blog", Want: "(exists)"},
		prove.Difference{Object: "ConfigMap default/old", Got: "(exists)"},
		prove.Difference{Object: "Deployment default/blog", Field: "spec.replicas", Want: "3", Got: "2"},
		prove.Difference{Object: "Deployment default/blog", Field: "status.conditions[Ready].status", Want: "True", Got: "False"},
		prove.Difference{Object: "Deployment default/blog", Field: "metadata.labels.[example.com/a]", Want: "b"},
		prove.Difference{Object: "Deployment default/blog", Field: "spec.list[0]", Want: "a"},
		prove.Difference{Object: "Deployment default/blog", Field: "status.at", Want: "(time)"},
		prove.Difference{Object: "Pod default/blog-*0", Want: "(exists)"},
	), scenario, project)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "stale.golden")
	if *update {
		if err := os.WriteFile(golden, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestKinds: each kind of fault becomes its failure on clustertest, or the error names the kind.
func TestKinds(t *testing.T) {
	wants := map[prove.Kind]string{
		prove.Lost:         "clustertest.Fault{Kind: clustertest.Lost, Verb: \"update\", Group: \"apps\", Resource: \"deployments\", Namespace: \"default\", Name: \"blog\", Skip: 1}",
		prove.KilledBefore: "operator.Kill(t)\n\tstart()",
		prove.KilledAfter:  "clustertest.KilledAfter",
		prove.Conflict:     "clustertest.Refused, Status: 409",
		prove.Overtaken:    "failure.Release(t)",
		prove.Failure:      "clustertest.Refused, Status: 500, Lasts: true",
		prove.Timeout:      "clustertest.Refused, Status: 504",
		prove.Throttled:    "clustertest.Refused, Status: 429, RetryAfter: 1 * time.Second",
		prove.TooMany:      "clustertest.Refused, Status: 429, Verb",
		prove.ReadFailure:  "clustertest.Refused, Status: 500",
		prove.Restarted:    "operator = start()",
		prove.Stale:        "touch(",
		prove.Without:      "expect(",
	}
	for _, sort := range prove.Sorts() {
		text, err := gotest.Render(finding(sort.Kind, prove.Difference{Object: "ConfigMap default/blog", Want: "(exists)"}), scenario, project)
		want, ok := wants[sort.Kind]
		if !ok {
			if !errors.Is(err, gotest.ErrUnwritable) || !strings.Contains(err.Error(), string(sort.Kind)) {
				t.Errorf("%s: %v", sort.Kind, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", sort.Kind, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors); err != nil {
			t.Errorf("%s: %v", sort.Kind, err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: there is no %q in\n%s", sort.Kind, want, text)
		}
	}
}

// TestUnwritable: what a test cannot show is refused.
func TestUnwritable(t *testing.T) {
	restless := finding(prove.Lost)
	restless.Symptom.Oracle = prove.Restless
	pair := finding(prove.Lost)
	pair.Plans[0].Then = prove.Failure
	for name, f := range map[string]prove.Finding{
		"the symptom never-at-rest": restless,
		"two failures":              pair,
		"differences in what the cluster draws at random": finding(prove.Lost, prove.Difference{Object: "Pod default/blog-*0", Want: "(exists)"}),
	} {
		if _, err := gotest.Render(f, scenario, project); !errors.Is(err, gotest.ErrUnwritable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v; want %q", err, name)
		}
	}
}
