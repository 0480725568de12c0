package piece

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// Markers whose fragments have a place in Go code without the marker too.
const (
	importsMarker = "imports"
	schemeMarker  = "scheme"
	builderMarker = "builder"
)

// registers matches the call of a fragment that registers types.
var registers = lazy.Regexp(`\b(\w+)\.AddToScheme\((\w+(?:\.\w+)*)\)`)

// registered returns the name of the package whose types the fragment registers, or "".
func (f Fragment) registered() string {
	if m := registers().FindStringSubmatch(f.Code); m != nil && f.Marker == schemeMarker {
		return m[1]
	}
	return ""
}

// wired reports whether Go code has the fragment in another form.
func (f Fragment) wired(src []byte) bool {
	pkg := f.registered()
	return pkg != "" && wiring.Registers(src, pkg)
}

// markedScheme returns the name of the scheme around the marker; "" if the fragment registers no types.
func (f Fragment) markedScheme(src []byte) string {
	if f.registered() == "" {
		return ""
	}
	return wiring.MarkedScheme(src)
}

// forScheme returns the fragment with another name for the scheme; "" leaves it as it is.
func (f Fragment) forScheme(scheme string) Fragment {
	if scheme != "" && f.registered() != "" {
		f.Code = registers().ReplaceAllLiteralString(f.Code, f.registered()+".AddToScheme("+scheme+")")
	}
	return f
}

// putUnmarked inserts the fragment where the code shows its place, in a file without the marker.
func (f Fragment) putUnmarked(file string, src []byte, lines []string) ([]byte, error) {
	var place wiring.Place
	var ok bool
	switch f.Marker {
	case importsMarker:
		name, path, _ := strings.Cut(strings.TrimSpace(f.Code), " ")
		if path == "" {
			name, path = "", name
		}
		return Import{Name: name, Path: strings.Trim(path, `"`)}.Insert(file, src)
	case schemeMarker:
		place, ok = wiring.SchemePlace(src)
	case builderMarker:
		place, ok = wiring.SetUpPlace(src)
	}
	if !ok || f.lacksLogger(src) {
		return nil, f.refuse(file, lines)
	}
	code := f.forScheme(place.Scheme).indented(place.Indent, lineEnd(lines[max(place.Line-1, 0)]))
	return []byte(strings.Join(slices.Insert(lines, place.Line, code), "")), nil
}

// removeWired removes the fragment in a form that authors and other tools write. If that fails it returns line, which
// is what [Fragment.Remove] found.
func (f Fragment) removeWired(src []byte, line int) ([]byte, int) {
	out, at := src, 0
	switch {
	case f.Marker == importsMarker && f.Key != "":
		out, at = wiring.TakeImport(src, strings.Trim(f.Key, `"`))
	case f.registered() != "":
		out, at = wiring.TakeRegistration(src, f.registered())
	case f.Marker == builderMarker || f.Marker == "webhook":
		out, at = wiring.TakeSetUp(src, f.Key)
	}
	if at > 0 || len(out) == len(src) {
		return src, max(at, line)
	}
	return out, 0
}
