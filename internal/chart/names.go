package chart

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/template"
)

// keepsNames reports whether a release of the chart's name keeps the kustomization's names. Otherwise names follow the
// release. Without a prefix that ends in "-", no release would have the kustomization's names, which the operator's
// code may contain.
func (g *generator) keepsNames() bool { return g.model.Beginning() == "" }

// prefixMark returns the action that begins names.
func (g *generator) prefixMark() template.Mark {
	if g.keepsNames() {
		return template.Mark{Text: model.PrefixMark, Action: `include "` + g.Name + `.prefix" .`, Default: g.model.Prefix}
	}
	return template.Mark{Text: model.PrefixMark, Action: `include "` + g.Name + `.fullname" .`, Tail: "-"}
}

// prefixHelper returns the named template for the beginning of names, if that is not fullname alone. In a release of
// another name, names begin with that, so that both releases fit into one cluster.
func (g *generator) prefixHelper() string {
	if !g.keepsNames() {
		return ""
	}
	kept := ""
	if g.model.Prefix != "" {
		kept = "{{ else }}" + template.Escape(g.model.Prefix)
	}
	return strings.NewReplacer("NAME", g.Name, "SHORT", shortened(g.Name, prefixLength(g.model)), "KEPT", kept).Replace(prefixHelper)
}

const prefixHelper = `
{{/* NAME.prefix is what stands before the names of all objects: with the fullname NAME they are as in the kustomization. */}}
{{- define "NAME.prefix" -}}
{{- $full := include "NAME.fullname" . }}
{{- if ne $full "SHORT" }}{{ $full }}-KEPT{{ end }}
{{- end }}
`

// shortened returns a name as the template fullname shortens it.
func shortened(name string, length int) string {
	return strings.TrimSuffix(name[:min(length, len(name))], "-")
}

// named returns the expression of a name in the release.
func (g *generator) named(name string) string {
	mark := g.prefixMark()
	return fmt.Sprintf(`printf "%%s%s%s" (%s)`, mark.Tail, name, mark.Action)
}

// naming explains the name of a Service in a release.
func (g *generator) naming() string {
	if g.keepsNames() {
		return fmt.Sprintf("which has this name only in a release called %s", g.Name)
	}
	return "which the chart names after the release"
}
