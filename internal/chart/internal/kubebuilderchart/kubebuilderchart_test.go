package kubebuilderchart_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/chart/internal/kubebuilderchart"
	"github.com/slipway-dev/slipway/internal/report"
)

const example = `
-- chart/Chart.yaml --
apiVersion: v2
name: op
-- chart/templates/rbac/role.yaml --
{{- if .Values.rbac.enable }}
kind: ClusterRole
metadata:
  name: op-manager-role
rules:
- verbs: ["get"]
# a comment
  resources:
  - secrets
  - pods
  text: a {{ "{{ brace }}" }} b
{{- end }}
-- chart/templates/service.yaml --
kind: Service
metadata:
  name: {{ include "op.resourceName" (dict "suffix" "webhook-service" "context" $) }}
spec:
  port: {{ .Values.webhook.port }}
  type: {{ .Values.service.type }}
-- chart/templates/pdb.yaml --
kind: PodDisruptionBudget
metadata:
  name: budget
-- chart/templates/nameless.yaml --
kind: List
-- chart/README.md --
-- config/rbac/role.yaml --
kind: ClusterRole
metadata:
  name: manager-role
rules:
- verbs: [get]
  resources:
  - pods
  text: a {{ brace }} b
-- config/webhook/service.yaml --
kind: Service
metadata:
  name: webhook-service
spec:
  port: 443
`

// unpack writes an archive's files into a folder of the test's.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, archive string) *kubebuilderchart.Chart {
	t.Helper()
	root := unpack(t, archive)
	c, err := kubebuilderchart.Read(filepath.Join(root, "chart"), filepath.Join(root, "config"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEdits: templates of the project's objects are the plug-in's, and lines that follow from nothing are the user's.
func TestEdits(t *testing.T) {
	c := read(t, example)
	if diff := cmp.Diff([]string{"templates/rbac/role.yaml", "templates/service.yaml"}, c.Templates()); diff != "" {
		t.Errorf("the plug-in's templates: %s", diff)
	}
	if diff := cmp.Diff([]string{"README.md", "templates/nameless.yaml", "templates/pdb.yaml"}, c.Own()); diff != "" {
		t.Errorf("the user's files: %s", diff)
	}
	want := []kubebuilderchart.Edit{
		{File: "templates/rbac/role.yaml", Line: 9, Lines: []string{"  - secrets"}},
		{File: "templates/service.yaml", Line: 6, Lines: []string{"  type: {{ .Values.service.type }}"}},
	}
	if diff := cmp.Diff(want, c.Edits()); diff != "" {
		t.Errorf("edits: %s", diff)
	}
	c.Learn("- secrets\n")
	if edits := c.Edits(); len(edits) != 1 {
		t.Errorf("a line that the project has counts as the user's: %v", edits)
	}
}

// TestPluginLines: lines that the plug-in's templates have in each project, and the version of another generator, are
// no edits.
func TestPluginLines(t *testing.T) {
	c := read(t, `
-- chart/Chart.yaml --
name: ship
-- chart/templates/crd.yaml --
kind: CustomResourceDefinition
metadata:
  annotations:
    {{- range $key, $value := .Values.controllerManager.pod.labels }}
    {{ $key }}: {{ $value }}
    {{- end }}
    controller-gen.kubebuilder.io/version: v0.20.1
    {{ $key }}: mine
  name: frigates.example.com
-- config/crd.yaml --
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.23.0
  name: frigates.example.com
`)
	want := []kubebuilderchart.Edit{{File: "templates/crd.yaml", Line: 8, Lines: []string{"    {{ $key }}: mine"}}}
	if diff := cmp.Diff(want, c.Edits()); diff != "" {
		t.Error(diff)
	}
}

// TestUnixLines: line ends that version control changed are no edits.
func TestUnixLines(t *testing.T) {
	if diff := cmp.Diff(read(t, example).Edits(), read(t, strings.ReplaceAll(example, "\n", "\r\n")).Edits()); diff != "" {
		t.Error(diff)
	}
}

// TestLinks: what a link leads to is not read, and the link is no template of the plug-in's.
func TestLinks(t *testing.T) {
	root := unpack(t, example)
	link := filepath.Join(root, "chart", "templates", "link.yaml")
	if err := os.Symlink(filepath.Join(root, "config", "rbac", "role.yaml"), link); err != nil {
		t.Skip(err)
	}
	c, err := kubebuilderchart.Read(filepath.Join(root, "chart"), filepath.Join(root, "config"))
	if err != nil || c.Text("templates/link.yaml") != "" || len(c.Templates()) != 2 {
		t.Errorf("%v: %q, %v", err, c.Text("templates/link.yaml"), c.Templates())
	}

	through := filepath.Join(root, "through")
	if err := os.Symlink(filepath.Join(root, "chart"), through); err != nil {
		t.Fatal(err)
	}
	if c, err := kubebuilderchart.Read(through, filepath.Join(root, "config")); err != nil || len(c.Templates()) != 2 {
		t.Errorf("a folder that is a link is read: %v", err)
	}
	if err := os.Symlink(filepath.Join(root, "config", "rbac", "role.yaml"), filepath.Join(root, "chart", kubebuilderchart.ValuesFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := kubebuilderchart.Read(through, filepath.Join(root, "config")); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("values that are a link give %v", err)
	}
}

const helpers = `
-- chart/Chart.yaml --
name: op
-- chart/templates/_helpers.tpl --
{{- define "op.fullname" -}}
{{- if .Values.x }}a{{ end }}
{{- end }}
{{/* for ours */}}
{{- define "op.resourceName" -}}
{{- with .context }}{{ include "op.name" . }}{{ end }}
{{- end }}
{{- define "op.name" -}}op{{- end }}
{{- define "op.chart" -}}unused{{- end }}
{{- define "ours" -}}{{ include "op.resourceName" . }}{{- end }}
{{- define "open" -}}
`

// TestHelpers: the user's named templates stay, and those that they need; ours go before the plug-in's.
func TestHelpers(t *testing.T) {
	text, notes := read(t, helpers).Helpers(`{{- define "op.fullname" -}}made{{- end }}`, nil)
	for _, want := range []string{`define "ours"`, `define "op.resourceName"`, `{{/* for ours */}}`, `define "op.name"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, gone := range []string{`define "op.fullname"`, "op.chart", `define "open"`} {
		if strings.Contains(text, gone) {
			t.Errorf("%s in %s", gone, text)
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "_helpers.tpl:1: op.fullname") || !strings.Contains(notes[1], "_helpers.tpl:9: op.chart") {
		t.Errorf("notes: %q", notes)
	}
}

// TestChartFile: what the user's has besides stays, with its comments.
func TestChartFile(t *testing.T) {
	c := read(t, `
-- chart/Chart.yaml --
apiVersion: v2
name: op
description: Ours, over
  two lines
version: 9.9.9
# Who to ask.
maintainers:
  # the first
  - name: Ann
icon: https://example.com/icon.png
annotations:
  kubebuilder.io/generated-by: kubebuilder
  ours: "1"
`)
	got, err := c.ChartFile("apiVersion: v2\nname: op\ndescription: Made.\nversion: \"9.9.9\"\n")
	want := "apiVersion: v2\nname: op\ndescription: Ours, over\n  two lines\nversion: \"9.9.9\"\nmaintainers:\n  # the first\n  - name: Ann\nannotations:\n    ours: \"1\"\n"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}

// TestOtherLineEnds: YAML counts lines by ends that split none here, and their numbers lead nowhere.
func TestOtherLineEnds(t *testing.T) {
	for _, end := range []string{"\r", "\u0085", "\u2028", "\u2029"} {
		c := read(t, "-- config/a.yaml --\n-- chart/Chart.yaml --\napiVersion: v2"+end+"name: op"+end+"keywords: [a]"+end+"home: b\n")
		if made, err := c.ChartFile("name: op\n"); err == nil {
			t.Errorf("%q: %q", end, made)
		}
	}
}

// TestManyHelpers: helpers that need each other, last first, are followed once each.
func TestManyHelpers(t *testing.T) {
	const many = 20000
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "{{define \"h%d\"}}{{include \"h%d\" .}}{{end}}\n", i, i+1)
	}
	text.WriteString("{{define \"op.name\"}}{{include \"op.chart\" .}}{{end}}\n{{define \"op.chart\"}}op{{end}}\n{{define \"op.labels\"}}a{{end}}\n")
	c := read(t, "-- config/a.yaml --\n-- chart/Chart.yaml --\nname: op\n-- chart/templates/_helpers.tpl --\n"+text.String())
	kept, notes := c.Helpers("", []string{`{{include "op.name" .}}`})
	if n := strings.Count(kept, "define"); n != many+2 || len(notes) != 1 || !strings.Contains(notes[0], fmt.Sprintf("tpl:%d: op.labels", many+3)) {
		t.Errorf("%d helpers stay, and the notes are %q", n, notes)
	}
}

// TestLargeChart: what has too much text to be a chart is not read to its end.
func TestLargeChart(t *testing.T) {
	root := unpack(t, "-- config/a.yaml --\n-- chart/Chart.yaml --\nname: op\n-- chart/a --\n-- chart/b --\n")
	for _, name := range []string{"a", "b"} { // holes
		if err := os.Truncate(filepath.Join(root, "chart", name), 40<<20); err != nil {
			t.Fatal(err)
		}
	}
	_, err := kubebuilderchart.Read(filepath.Join(root, "chart"), filepath.Join(root, "config"))
	if _, refused := errors.AsType[*report.Error](err); !refused {
		t.Errorf("the error is %v", err)
	}
}

// FuzzRead: no chart has reading it fail in a way of its own, nor take long.
func FuzzRead(f *testing.F) {
	f.Add(example)
	f.Add(helpers)
	f.Fuzz(func(t *testing.T, text string) {
		root := unpack(t, "-- config/a.yaml --\nname: a\n")
		for _, name := range []string{kubebuilderchart.ChartFile, kubebuilderchart.ValuesFile, "a.yaml", "_helpers.tpl"} {
			dir := filepath.Join(root, "chart")
			if strings.HasSuffix(name, "a.yaml") || strings.HasSuffix(name, ".tpl") {
				dir = filepath.Join(dir, "templates")
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, err := kubebuilderchart.Read(filepath.Join(root, "chart"), filepath.Join(root, "config"))
		if err != nil {
			t.Fatal(err)
		}
		c.Edits()
		c.Own()
		if kept, _ := c.Helpers("", []string{text}); len(kept) > 2*len(text)+2 {
			t.Errorf("helpers of %d bytes of %d", len(kept), len(text))
		}
		if made, err := c.ChartFile("name: a\n"); err == nil && !strings.Contains(made, "name: a\n") {
			t.Errorf("Chart.yaml is %q", made)
		}
	})
}
