package ship

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

var policySeed = flag.Uint64("policy-seed", 1, "seed of the objects that definitions and policies judge")

const (
	byDefinition = "rules.example.com"
	byPolicy     = "policies.example.com"
)

// TestPoliciesJudgeAsDefinitions: what a policy that was made of a kind's rules lets pass and refuses is what the
// definition with these rules does, for new objects and for changes, also of objects that are older than the rules.
func TestPoliciesJudgeAsDefinitions(t *testing.T) {
	c, _ := connect(t)
	definition, policies, leftOut := policyOf(t)
	both := definition + "\n---\n" + strings.ReplaceAll(definition, byDefinition, byPolicy)
	before, after := objects(t, both), objects(t, definition)
	for _, d := range before {
		withoutRules(d.Object, func(string) bool { return true })
	}
	withoutRules(after[0].Object, func(rule string) bool { return slices.Contains(leftOut, rule) })
	remove(t, c, both+"\n---\n"+policies)
	if err := c.Apply(t.Context(), before, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*policySeed, 0))
	const olds = 60
	for i := range olds {
		spec := randomSpec(random)
		for _, group := range []string{byDefinition, byPolicy} {
			if _, err := boats(c, group).Create(t.Context(), judged(group, i, spec), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Apply(t.Context(), append(after, objects(t, policies)...), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitJudges(t, c)
	refused := 0
	for i := range 500 {
		spec, old := randomSpec(random), i%(2*olds)
		wants := judge(t, c, byDefinition, old, olds, spec)
		got := judge(t, c, byPolicy, old, olds, spec)
		if (wants == nil) != (got == nil) {
			t.Errorf("seed %d, object %d, %v:\nthe definition says %v\nthe policy says %v", *policySeed, old, spec, wants, got)
		}
		if wants != nil {
			refused++
		}
	}
	if refused < 50 || refused > 450 {
		t.Errorf("%d of 500 are refused, which compares little", refused)
	}
}

// policyOf makes the definition of a kind with rules and the policies of its rules, those in the other group; leftOut
// are rules that the policies do not have.
func policyOf(t *testing.T) (definition, policies string, leftOut []string) {
	t.Helper()
	root := t.TempDir()
	plan, err := scaffold.Init(fileview.Disk(root), scaffold.Project{Name: "op", Domain: "example.com", Repo: "example.com/op"})
	if err == nil {
		err = plan.Apply(report.Discard)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(root, "api"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "api", "types.go"), readFile(t, "testdata/policies.go.txt"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	result, err := generate.Run(t.Context(), generate.Options{Dir: root, Paths: []string{"./api"}, Uses: []generate.Use{
		{Name: "crd", Output: generate.Output{Config: "crd"}},
		{Name: "vap", Output: generate.Output{Config: "vap"}},
	}})
	if err != nil || result.Failed() {
		t.Fatal(err, result.Findings)
	}
	leftOut = reported(t, result.Findings)
	if diff := gocmp.Diff([]string{
		"self == oldSelf || !has(self.set)", "has(self.na__dash__me) || true", "self * 2.0 < 9.0", "self > timestamp('2020-01-01T00:00:00Z')",
	}, leftOut); diff != "" {
		t.Errorf("other rules are left out (-want +got):\n%s", diff)
	}
	definition = string(readFile(t, filepath.Join(root, "crd", byDefinition+"_boats.yaml")))
	policies = string(readFile(t, filepath.Join(root, "vap", "policies.yaml")))
	_, policies, _ = strings.Cut(policies, "---\n")
	return strings.TrimPrefix(definition, "---\n"), strings.ReplaceAll(policies, byDefinition, byPolicy), leftOut
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// reported are the rules at whose markers findings are.
func reported(t *testing.T, findings []report.Finding) []string {
	t.Helper()
	lines := strings.Split(string(readFile(t, "testdata/policies.go.txt")), "\n")
	var rules []string
	for _, f := range findings {
		_, rule, _ := strings.Cut(lines[f.Line-1], `rule="`)
		rule, _, _ = strings.Cut(rule, `"`)
		rules = append(rules, rule)
	}
	return rules
}

// withoutRules takes rules out of a definition.
func withoutRules(value any, out func(rule string) bool) {
	switch v := value.(type) {
	case map[string]any:
		if rules, ok := v["x-kubernetes-validations"].([]any); ok {
			v["x-kubernetes-validations"] = slices.DeleteFunc(rules, func(rule any) bool { return out(rule.(map[string]any)["rule"].(string)) })
		}
		for _, inner := range v {
			withoutRules(inner, out)
		}
	case []any:
		for _, inner := range v {
			withoutRules(inner, out)
		}
	}
}

func boats(c *Cluster, group string) dynamic.ResourceInterface {
	return c.quiet.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "boats"}).Namespace("default")
}

func judged(group string, i int, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": runtimeCopy(spec)}}
	o.SetAPIVersion(group + "/v1")
	o.SetKind("Boat")
	o.SetName(fmt.Sprintf("boat-%d", i))
	return o
}

func runtimeCopy(spec map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: spec}).DeepCopy().Object
}

// judge asks for a change of an object that is there, or for a new one beyond the first olds.
func judge(t *testing.T, c *Cluster, group string, i, olds int, spec map[string]any) error {
	t.Helper()
	dry := []string{metav1.DryRunAll}
	client, object := boats(c, group), judged(group, i, spec)
	if i >= olds {
		_, err := client.Create(t.Context(), object, metav1.CreateOptions{DryRun: dry})
		return verdict(t, err)
	}
	was, err := client.Get(t.Context(), object.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if i%3 == 0 { // only one field changes
		for _, field := range []string{"min", "ports", "labels"} {
			if value, there := spec[field]; there {
				was.Object["spec"].(map[string]any)[field] = value
				break
			}
		}
	} else {
		was.Object["spec"] = object.Object["spec"]
	}
	_, err = client.Update(t.Context(), was, metav1.UpdateOptions{DryRun: dry})
	return verdict(t, err)
}

// verdict is the refusal of an object; everything else is no verdict.
func verdict(t *testing.T, err error) error {
	t.Helper()
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	return err
}

// awaitJudges waits until both refuse what is wrong.
func awaitJudges(t *testing.T, c *Cluster) {
	t.Helper()
	wrong := map[string]any{"min": int64(5), "max": int64(1)}
	err := wait.PollUntilContextCancel(t.Context(), 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return judge(t, c, byDefinition, 1000, 0, wrong) != nil && judge(t, c, byPolicy, 1000, 0, wrong) != nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
