package chart

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/template"
)

// keepsNames reports whether names stay as the kustomization builds them in a release of the chart's name. Where it has
// no prefix, or one that does not end in "-", no name of a release gives its names: but the operator's code may have
// them in it.
func (g *generator) keepsNames() bool { return g.model.Beginning() == "" }

// prefixMark is what names begin with.
func (g *generator) prefixMark() template.Mark {
	if g.keepsNames() {
		return template.Mark{Text: model.PrefixMark, Action: `include "` + g.Name + `.prefix" .`, Default: g.model.Prefix}
	}
	return template.Mark{Text: model.PrefixMark, Action: `include "` + g.Name + `.fullname" .`, Tail: "-"}
}

// prefixHelper is the template for the beginning of names, if it is not fullname alone. Any other release than that of
// the chart's name has its own name there, so that it can be in the cluster besides.
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

// shortened is a name as the template fullname shortens it.
func shortened(name string, length int) string {
	return strings.TrimSuffix(name[:min(length, len(name))], "-")
}

// named is the expression of a name in the release.
func (g *generator) named(name string) string {
	mark := g.prefixMark()
	return fmt.Sprintf(`printf "%%s%s%s" (%s)`, mark.Tail, name, mark.Action)
}

// naming says how a Service of a name is called in a release.
func (g *generator) naming() string {
	if g.keepsNames() {
		return fmt.Sprintf("which has this name only in a release called %s", g.Name)
	}
	return "which the chart names after the release"
}
