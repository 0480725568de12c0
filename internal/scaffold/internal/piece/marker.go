package piece

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// A PackageMarker is a marker in the doc of a package.
type PackageMarker string

var packageLine = lazy.Regexp(`(?m)^package `)

// ID reports the piece from others of its file.
func (m PackageMarker) ID() string { return string(m) }

// Insert adds the text where it is missing.
func (m PackageMarker) Insert(file string, src []byte) ([]byte, error) {
	if hasMarker(src, string(m)) {
		return src, nil
	}
	at := packageLine().FindIndex(src)
	if at == nil {
		return nil, &report.Error{What: "there is no package clause to mark", Where: file + ":1", Hint: "nothing was changed; put this above it and run the command again:\n// " + string(m)}
	}
	return slices.Concat(src[:at[0]], commentLine(string(m), src[at[0]:]), src[at[0]:]), nil
}

// Remove removes the text.
func (m PackageMarker) Remove(src []byte) ([]byte, int) { return takeMarker(src, string(m)) }

// A TypeMarker is a marker above a struct type.
type TypeMarker struct{ Kind, Marker string }

// ID reports the piece from others of its file.
func (m TypeMarker) ID() string { return m.Kind + " " + m.Marker }

// Insert adds the text where it is missing.
func (m TypeMarker) Insert(file string, src []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)((?:^//.*\n)*)^type\s+` + m.Kind + `\s+struct\b`)
	if doc := decl.FindSubmatch(src); doc != nil && hasMarker(doc[1], m.Marker) {
		return src, nil
	}
	return MarkType(m.Kind, m.Marker)(file, src)
}

// Remove removes the text.
func (m TypeMarker) Remove(src []byte) ([]byte, int) { return takeMarker(src, m.Marker) }

func markerPattern(marker string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`(?m)^//[ \t]*%s[ \t]*\r?\n`, regexp.QuoteMeta(marker)))
}

// commentLine is the line of a marker, which ends as the line below it does.
func commentLine(marker string, below []byte) []byte {
	line, _, _ := bytes.Cut(below, []byte("\n"))
	return []byte("// " + marker + lineEnd(string(line)+"\n"))
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

// MarkType returns an edit that puts a marker line directly above a struct type.
func MarkType(kind, marker string) func(string, []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)^type\s+` + kind + `\s+struct\b`)
	return func(file string, src []byte) ([]byte, error) {
		at := decl.FindIndex(src)
		if at == nil {
			return nil, &report.Error{
				What: fmt.Sprintf("there is no line `type %s struct` to mark", kind), Where: file + ":1",
				Hint: "nothing was changed; put this above the type and run the command again:\n// " + marker,
			}
		}
		return slices.Concat(src[:at[0]], commentLine(marker, src[at[0]:]), src[at[0]:]), nil
	}
}
