package certmanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// TestAlerts: Prometheus' own promtool takes the scaffolded rules and what a dashboard asks for, and each alert fires
// where it should. It needs no cluster.
func TestAlerts(t *testing.T) {
	dir := t.TempDir()
	promtool := findPromtool(t, dir)
	p := project{dir: filepath.Join(dir, "op"), slipway: filepath.Join(dir, "slipway"), prefix: "cronjob-", namespace: "cronjob-system"}
	output(t, command(t, "../..", nil, "go", "build", "-o", p.slipway, "./cmd/slipway"))
	if err := os.CopyFS(p.dir, os.DirFS("../../examples/cronjob")); err != nil {
		t.Fatal(err)
	}
	p.run(t, "edit", "--certs", "cert-manager", "--enable", "prometheus,alerts,dashboard")
	rules, dashboard := alertsOf(t, p.run(t, "kustomize", "build", "config/default"))
	tests, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer("JOB", p.prefix+"controller-manager-metrics-service", "NAMESPACE", p.namespace)
	for name, content := range map[string]any{"rules.yaml": rules, "dashboard.yaml": recorded(t, dashboard)} {
		writeYAML(t, filepath.Join(dir, name), content)
		t.Log(output(t, command(t, dir, nil, promtool, "check", "rules", name)))
	}
	if err := os.WriteFile(filepath.Join(dir, "tests.yaml"), []byte(names.Replace(string(tests))), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Log(output(t, command(t, dir, nil, promtool, "test", "rules", "tests.yaml")))
}

// findPromtool unpacks Debian's promtool. Without Debian's packages the test is skipped.
func findPromtool(t *testing.T, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), unpackLimit)
	defer cancel()
	packages := filepath.Join(dir, "packages")
	if err := os.Mkdir(packages, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unpackPackages(ctx, packages, filepath.Join(packages, "root"), "prometheus"); err != nil {
		t.Skipf("no promtool: %v", err)
	}
	return filepath.Join(packages, "root", "usr", "bin", "promtool")
}

// alertsOf are the specification of the PrometheusRule among objects, and the dashboard.
func alertsOf(t *testing.T, objects string) (rules map[string]any, dashboard string) {
	t.Helper()
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(objects), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case o.GetKind() == "PrometheusRule":
			rules, _, _ = unstructured.NestedMap(o.Object, "spec")
		case o.GetLabels()["grafana_dashboard"] != "":
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			for _, text := range data {
				dashboard = text
			}
		}
	}
	if rules == nil || dashboard == "" {
		t.Fatalf("no rules or no dashboard in\n%s", objects)
	}
	return rules, dashboard
}

// recorded are the expressions of a dashboard, as rules that promtool can check.
func recorded(t *testing.T, dashboard string) map[string]any {
	t.Helper()
	var all struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(dashboard), &all); err != nil {
		t.Fatal(err)
	}
	var rules []any
	for _, panel := range all.Panels {
		for _, target := range panel.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$namespace", "n", "$job", "j").Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s has a variable that Grafana must replace, and the test does not", expr)
			}
			rules = append(rules, map[string]any{"record": fmt.Sprintf("panel%d", len(rules)), "expr": expr})
		}
	}
	if len(rules) == 0 {
		t.Error("the dashboard asks for nothing")
	}
	return map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}
}

func writeYAML(t *testing.T, name string, value any) {
	t.Helper()
	text, err := sigsyaml.Marshal(value)
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
