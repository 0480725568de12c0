package scaffold

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
)

// applyMarker has typed apply configurations generated for the types of a package, and
// clientMarker says for which of them.
const (
	applyMarker  = "+kubebuilder:ac:generate=true"
	clientMarker = "+genclient"
)

// ssa reports whether the kind has apply configurations: this call asks for them or an
// earlier one did.
func (a *apiPlan) ssa() bool {
	return a.options.SSA || a.recorded != nil && a.recorded.API != nil && a.recorded.API.SSA
}

// applyImport is where the kind's apply configurations are generated: below the types, in
// folders called like the last two of theirs.
func (a *apiPlan) applyImport() string {
	types := a.project.ImportPath(a.resource)
	return path.Join(types, "applyconfiguration", path.Base(path.Dir(types)), path.Base(types))
}

// planApplyMarkers asks for apply configurations of the kind.
func (a *apiPlan) planApplyMarkers() error {
	if err := a.put(a.project.GroupVersionFile(a.resource), these(packageMarker(applyMarker))); err != nil {
		return err
	}
	if err := a.put(a.project.TypesFile(a.resource), these(typeMarker{a.resource.Kind, clientMarker})); err != nil {
		return err
	}
	if there, err := a.exists("Makefile"); err != nil || !there {
		return err
	}
	return a.put("Makefile", these(makefileGenerator{"applyconfiguration"}))
}

// A packageMarker is a marker in the doc of a package.
type packageMarker string

var packageLine = regexp.MustCompile(`(?m)^package `)

func (m packageMarker) id() string { return string(m) }

func (m packageMarker) put(file string, src []byte) ([]byte, error) {
	if hasMarker(src, string(m)) {
		return src, nil
	}
	at := packageLine.FindIndex(src)
	if at == nil {
		return nil, &report.Error{What: "there is no package clause to mark", Where: file + ":1", Hint: "nothing was changed; put this above it and run the command again:\n// " + string(m)}
	}
	return slices.Concat(src[:at[0]], []byte("// "+string(m)+"\n"), src[at[0]:]), nil
}

func (m packageMarker) take(src []byte) ([]byte, int) { return takeMarker(src, string(m)) }

// A typeMarker is a marker above a struct type.
type typeMarker struct{ kind, marker string }

func (m typeMarker) id() string { return m.kind + " " + m.marker }

func (m typeMarker) put(file string, src []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)((?:^//.*\n)*)^type\s+` + m.kind + `\s+struct\b`)
	if doc := decl.FindSubmatch(src); doc != nil && hasMarker(doc[1], m.marker) {
		return src, nil
	}
	return markType(m.kind, m.marker)(file, src)
}

func (m typeMarker) take(src []byte) ([]byte, int) { return takeMarker(src, m.marker) }

func markerPattern(marker string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`(?m)^//[ \t]*%s[ \t]*\n`, regexp.QuoteMeta(marker)))
}

// hasMarker reports whether a marker stands on a line of its own.
func hasMarker(src []byte, marker string) bool { return markerPattern(marker).Match(src) }

// takeMarker removes the first line with a marker.
func takeMarker(src []byte, marker string) ([]byte, int) {
	at := markerPattern(marker).FindIndex(src)
	if at == nil {
		return src, 0
	}
	return bytes.Join([][]byte{src[:at[0]], src[at[1]:]}, nil), 0
}

// A makefileGenerator is one more generator of the call that makes DeepCopy methods, in a
// Makefile that calls controller-gen itself.
type makefileGenerator struct{ name string }

var deepCopyCall = regexp.MustCompile(`(?m)^(\t.*(?:CONTROLLER_GEN|controller-gen).*\s)object(:\S+)?`)

func (g makefileGenerator) id() string { return g.name }

func (g makefileGenerator) put(_ string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte(g.name)) {
		return src, nil
	}
	return deepCopyCall.ReplaceAll(src, []byte("${0} "+g.name+"${2}")), nil
}

func (g makefileGenerator) take(src []byte) ([]byte, int) {
	return regexp.MustCompile(` `+g.name+`(:\S+)?`).ReplaceAll(src, nil), 0
}
