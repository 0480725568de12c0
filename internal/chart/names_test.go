package chart_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	gotemplate "text/template"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart"
)

// store is a chart whose Service, and account, has a name that YAML reads as a number.
const store = `apiVersion: v1
kind: Service
metadata: {name: 1e3, namespace: theirs}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: 1e3, namespace: theirs}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: theirs}
spec: {template: {spec: {serviceAccountName: 1e3, containers: [{name: manager, image: store:v1}]}}}
`

// release is what names in a chart follow from.
type release struct{ name, fullnameOverride string }

// rendered is a template of a chart called store, in a release.
func rendered(t *testing.T, files []chart.File, name string, r release) string {
	t.Helper()
	all := gotemplate.New("")
	nindent := func(n int, s string) string { return strings.ReplaceAll("\n"+s, "\n", "\n"+strings.Repeat(" ", n)) }
	all.Funcs(gotemplate.FuncMap{
		"has":        func(any, []any) bool { return true },
		"list":       func(items ...any) []any { return items },
		"contains":   func(part, whole string) bool { return strings.Contains(whole, part) },
		"default":    func(other, s string) string { return map[bool]string{true: other, false: s}[s == ""] },
		"include":    func(name string, data any) (string, error) { return executed(all, name, data) },
		"nindent":    nindent,
		"quote":      func(s string) string { return `"` + s + `"` },
		"replace":    func(old, with, s string) string { return strings.ReplaceAll(s, old, with) },
		"toYaml":     func(any) string { return "" },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
	})
	for _, f := range files {
		if strings.HasPrefix(f.Path, "templates/") {
			gotemplate.Must(all.New(f.Path).Parse(string(f.Content)))
		}
	}
	text, err := executed(all, name, map[string]any{
		"Release": map[string]any{"Name": r.name, "Namespace": "theirs", "Service": "Helm"},
		"Chart":   map[string]any{"Name": "store", "Version": "0.1.0", "AppVersion": "v1"},
		"Values": map[string]any{
			"nameOverride": "", "fullnameOverride": r.fullnameOverride,
			"serviceAccount": map[string]any{"enabled": true, "name": "", "annotations": nil},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func executed(all *gotemplate.Template, name string, data any) (string, error) {
	var out bytes.Buffer
	err := all.ExecuteTemplate(&out, name, data)
	return out.String(), err
}

// TestNames: in a release of the chart's name, names are those that the kustomization gives, also without a prefix or
// with one that no release can have. Any other release has its own name in them.
func TestNames(t *testing.T) {
	for _, test := range []struct{ prefix, release, override, want string }{
		{"", "store", "", "1e3"},
		{"", "store-2", "", "store-2-1e3"},
		{"", "other", "", "other-store-1e3"},
		{"", "other", "store", "1e3"},
		{"", "store", "mine", "mine-1e3"},
		{"1", "store", "", "11e3"},
		{"1", "other", "", "other-store-1e3"},
		{"store-", "store", "", "store-1e3"},
		{"store-", "other", "", "other-store-1e3"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"kustomization.yaml": "namePrefix: '" + test.prefix + "'\nresources: [objects.yaml]\n", "objects.yaml": store} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		made, err := chart.Generate(t.Context(), chart.Source{Folder: dir}, chart.Options{Name: "store", Version: "0.1.0", AppVersion: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"templates/extra/1e3.yaml", "templates/rbac/1e3.yaml"} {
			var object struct{ Metadata struct{ Name any } }
			text := rendered(t, made.Files, file, release{test.release, test.override})
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if object.Metadata.Name != test.want {
				t.Errorf("%+v: %s is called %v", test, file, object.Metadata.Name)
			}
		}
	}
}
