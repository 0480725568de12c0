package piece

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// A PackageMarker is a marker in the doc comment of a package.
type PackageMarker string

var packageLine = lazy.Regexp(`(?m)^package `)

// ID implements plan.Piece.
func (m PackageMarker) ID() string { return string(m) }

// Insert implements plan.Piece.
func (m PackageMarker) Insert(file string, src []byte) ([]byte, error) {
	if hasMarker(src, string(m)) {
		return src, nil
	}
	at := packageLine().FindIndex(src)
	if at == nil {
		return nil, &report.Error{Class: report.BadProject, What: "there is no package clause to mark", Where: file + ":1", Hint: "nothing was changed; put this above it and run the command again:\n// " + string(m)}
	}
	return slices.Concat(src[:at[0]], commentLine(string(m), src[at[0]:]), src[at[0]:]), nil
}

// Remove implements plan.Piece.
func (m PackageMarker) Remove(src []byte) ([]byte, int) { return takeMarker(src, string(m)) }

// A TypeMarker is a marker directly above a struct type.
type TypeMarker struct{ Kind, Marker string }

// ID implements plan.Piece.
func (m TypeMarker) ID() string { return m.Kind + " " + m.Marker }

// Insert implements plan.Piece.
func (m TypeMarker) Insert(file string, src []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)((?:^//.*\n)*)^type\s+` + m.Kind + `\s+struct\b`)
	if doc := decl.FindSubmatch(src); doc != nil && hasMarker(doc[1], m.Marker) {
		return src, nil
	}
	return MarkType(m.Kind, m.Marker)(file, src)
}

// Remove implements plan.Piece.
func (m TypeMarker) Remove(src []byte) ([]byte, int) { return takeMarker(src, m.Marker) }

func markerPattern(marker string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`(?m)^//[ \t]*%s[ \t]*\r?\n`, regexp.QuoteMeta(marker)))
}

// commentLine returns the line of a marker, with the line end of the line below it.
func commentLine(marker string, below []byte) []byte {
	line, _, _ := bytes.Cut(below, []byte("\n"))
	return []byte("// " + marker + lineEnd(string(line)+"\n"))
}

func hasMarker(src []byte, marker string) bool { return markerPattern(marker).Match(src) }

func takeMarker(src []byte, marker string) ([]byte, int) {
	at := markerPattern(marker).FindIndex(src)
	if at == nil {
		return src, 0
	}
	return bytes.Join([][]byte{src[:at[0]], src[at[1]:]}, nil), 0
}

// MarkType returns an edit that inserts a marker directly above a struct type.
func MarkType(kind, marker string) func(string, []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)^type\s+` + kind + `\s+struct\b`)
	return func(file string, src []byte) ([]byte, error) {
		at := decl.FindIndex(src)
		if at == nil {
			return nil, &report.Error{
				Class: report.BadProject,
				What:  fmt.Sprintf("there is no line `type %s struct` to mark", kind), Where: file + ":1",
				Hint: "nothing was changed; put this above the type and run the command again:\n// " + marker,
			}
		}
		return slices.Concat(src[:at[0]], commentLine(marker, src[at[0]:]), src[at[0]:]), nil
	}
}
