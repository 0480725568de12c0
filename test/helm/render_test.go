package helm

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// chart makes the project's chart, and has Helm read it.
func (p project) chart() *chart.Chart {
	p.Helper()
	p.call("helm")
	return p.load()
}

// load has Helm read the chart that was made.
func (p project) load() *chart.Chart {
	p.Helper()
	c, err := loader.LoadDir(p.path("dist/chart"))
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// values are the values that set what a line says, such as metrics.enabled=false.
func values(lines ...string) map[string]any {
	all := map[string]any{}
	for _, line := range lines {
		path, value, _ := strings.Cut(line, "=")
		at := all
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			if at[key] == nil {
				at[key] = map[string]any{}
			}
			at = at[key].(map[string]any)
		}
		at[keys[len(keys)-1]] = map[string]any{"true": true, "false": false}[value]
	}
	return all
}

// quiet is a configuration of Helm's that logs nothing.
func quiet() *action.Configuration {
	return action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil)))
}

// render is `helm template`.
func (p project) render(c *chart.Chart, r releaseAt, set map[string]any) string {
	p.Helper()
	install := action.NewInstall(quiet())
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, r.name, r.namespace
	result, err := install.Run(c, set)
	if err != nil {
		p.Fatalf("helm template with %v: %v", set, err)
	}
	return result.(*release.Release).Manifest
}

// lint is `helm lint --strict`; a chart without an icon is all right.
func (p project) lint(set map[string]any) {
	p.Helper()
	for _, m := range lint.RunAll(p.path("dist/chart"), set, "default").Messages {
		if m.Severity > support.InfoSev || !strings.Contains(m.Err.Error(), "icon is recommended") {
			p.Errorf("helm lint with %v: %v", set, m)
		}
	}
}

// same fails unless chart and kustomization give the same objects.
func same(t *testing.T, what string, kustomized, rendered map[string]object) {
	t.Helper()
	if diff := cmp.Diff(kustomized, rendered); diff != "" {
		t.Errorf("%s: kustomize (-) and the chart (+) differ:\n%s", what, diff)
	}
}
