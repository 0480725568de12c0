package chart

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
)

// ignored is the text of .helmignore: files that are no part of a packaged chart.
const ignored = `.DS_Store
.git/
.gitignore
.idea/
.vscode/
*.bak
*.orig
*.swp
*.tmp
*~
`

func (g *generator) chart() string {
	return fmt.Sprintf(`apiVersion: v2
name: %s
description: The operator %s and its kinds.
type: application
# The version of the chart, and that of the operator in it.
version: %q
appVersion: %q
`, g.Name, g.Name, g.Version, g.AppVersion)
}

const longestService = 63

// prefixLength is the longest beginning of names, in characters, with which the names of all Services are valid.
func prefixLength(m *model.Model) int {
	longest := len("-")
	for _, d := range m.Documents {
		if d.Of("", "Service") {
			longest = max(longest, len(d.Name)+len("-"))
		}
	}
	return max(longestService-longest, len("release"))
}

// helpers returns the named templates of the chart. Account is the name of the manager's service account, without
// prefix.
func (g *generator) helpers(account string) string {
	length := fmt.Sprint(prefixLength(g.model))
	return strings.NewReplacer("NAME", g.Name, "LENGTH", length, "PREFIX\n", g.prefixHelper(), "ACCOUNT", g.named(account)).Replace(helpers)
}

const helpers = `{{/* NAME.fullname is what the names of all objects begin with, short enough for the longest of them. */}}
{{- define "NAME.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $full := printf "%s-%s" .Release.Name $name }}
{{- if contains $name .Release.Name }}
{{- $full = .Release.Name }}
{{- end }}
{{- .Values.fullnameOverride | default $full | trunc LENGTH | trimSuffix "-" }}
{{- end }}
PREFIX

{{/* NAME.labels are the labels that every object has besides its own. */}}
{{- define "NAME.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- if .Chart.AppVersion }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* NAME.image is the manager's image. */}}
{{- define "NAME.image" -}}
{{- with .Values.manager.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- end }}

{{/* NAME.serviceAccountName is the manager's service account. */}}
{{- define "NAME.serviceAccountName" -}}
{{- if .Values.serviceAccount.enabled }}
{{- .Values.serviceAccount.name | default (ACCOUNT) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}
`

// notes returns NOTES.txt, which Helm prints after an installation.
func (g *generator) notes() string {
	text := `{{ .Chart.Name }} is installed as release {{ .Release.Name }} in namespace {{ .Release.Namespace }}.

Is it running?
  kubectl --namespace {{ .Release.Namespace }} get pods --selector app.kubernetes.io/instance={{ .Release.Name }}
`
	for _, d := range g.model.Documents {
		if d.Of("apiextensions.k8s.io", "CustomResourceDefinition") {
			return text + `
Which kinds does it install?
  kubectl api-resources
{{- if .Values.crd.keep }}

Its kinds, and all objects of them, stay when the release is uninstalled.
{{- end }}
`
		}
	}
	return text
}

// Mark is the file that makes a folder a chart.
const Mark = "Chart.yaml"

// ReadOptions returns the options of a chart from its Chart.yaml, or the zero value if that is damaged.
func ReadOptions(text []byte) Options {
	var o struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal(text, &o); err != nil {
		return Options{} // the caller's options count then
	}
	return Options(o)
}

// NamesSet reports whether a values.yaml sets the beginning of names.
func NamesSet(text []byte) bool {
	var values struct{ NameOverride, FullnameOverride string }
	return yaml.Unmarshal(text, &values) == nil && values.NameOverride+values.FullnameOverride != ""
}
