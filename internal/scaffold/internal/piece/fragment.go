// Package piece holds the kinds of text that a project's files share: lines at insertion points,
// imports, items of kustomizations, declarations, markers. Each has the three methods that a plan asks for:
// ID reports pieces apart, Insert adds the text where it is missing, and Remove removes it as it was inserted.
//
//	piece.Fragment{Marker: "scheme", Code: "utilruntime.Must(batchv1.AddToScheme(scheme))\n", Key: "batchv1.AddToScheme("}
//	piece.Item{List: "resources", Name: "../crd", First: true}
//	piece.Import{Path: "context"}
//
// All work on the text of a file and leave the rest of it byte for byte, independent of its author. A piece that has
// no place in a file is refused with the line and the text to insert by hand. Taking a piece
// that the user has changed leaves it, and reports its line.
package piece

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// A Fragment is code that belongs at an insertion point of a file.
type Fragment struct {
	Marker string // what follows +kubebuilder:scaffold:
	Code   string // lines without the marker's indentation, ending in a newline
	// Key is a piece of the fragment that no other fragment has; a file that holds
	// it, outside of comments, has the fragment already.
	Key string
	// Module is the path of the project's module, for an import: imports of the
	// project form a group of their own.
	Module string
}

// markerLine matches a comment line that is an insertion point. Those of slipway alone are in files whose form is not
// kubebuilder's: what its commands would insert does not build there.
var markerLine = lazy.Regexp(`^[ \t]*(?://|#)[ \t]*\+(?:kubebuilder|slipway):scaffold:([A-Za-z-]+)[ \t]*\r?$`)

// markerAt is the index of the line of an insertion point, or -1.
func markerAt(lines []string, name string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		m := markerLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		return m != nil && m[1] == name
	})
}

// ID distinguishes the piece from others of its file.
func (f Fragment) ID() string { return f.Marker + " " + f.Key }

// Insert inserts the fragment at its marker.
func (f Fragment) Insert(file string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if f.present(lines) || f.wired(src) {
		return src, nil
	}
	at := markerAt(lines, f.Marker)
	if at < 0 || f.Marker != importsMarker && wiring.Unreachable(src, at+1) {
		return f.putUnmarked(file, src, lines)
	}
	if f.lacksLogger(src) {
		return nil, f.refuse(file, lines)
	}
	indent := lines[at][:strings.IndexAny(lines[at], "/#")]
	code := f.forScheme(f.markedScheme(src)).indented(indent, lineEnd(lines[at]))
	if importPath, ok := importSpec(f.Code); ok {
		var group bool
		if at, group = importPosition(lines, at, importPath, f.Module); group {
			code = lineEnd(lines[at]) + code
		}
	}
	return []byte(strings.Join(slices.Insert(lines, at, code), "")), nil
}

// present reports whether the file has the fragment, in code and not in a comment.
func (f Fragment) present(lines []string) bool { return slices.ContainsFunc(lines, f.on) }

// on reports whether the fragment's key is on a line of code.
func (f Fragment) on(line string) bool {
	line = strings.TrimSpace(line)
	return !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") && containsToken(line, f.Key)
}

// Remove removes the fragment's lines if they are as they were inserted, but for their
// indentation.
func (f Fragment) Remove(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	code := strings.SplitAfter(strings.TrimSuffix(f.Code, "\n"), "\n")
	for i := range len(lines) - len(code) + 1 {
		if slices.EqualFunc(lines[i:i+len(code)], code, alike) {
			return f.without(src, lines, i, i+len(code)), 0
		}
	}
	return f.takeWired(src, slices.IndexFunc(lines, f.on)+1)
}

// logged matches a line that logs an error, as main files of other tools do: its words
// differ from version to version.
var logged = lazy.Regexp(`^\w+\.Error\(err, "[^"]*"(, "[^"]*")*\)$`)

// alike reports whether two lines are the same but for indentation and such words.
func alike(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || logged().MatchString(a) && logged().MatchString(b)
}

// without removes lines from a file, and an empty line above them if inserting them
// would bring that back.
func (f Fragment) without(src []byte, lines []string, from, to int) []byte {
	removed := []byte(strings.Join(slices.Delete(slices.Clone(lines), from, to), ""))
	if from == 0 || strings.TrimSpace(lines[from-1]) != "" {
		return removed
	}
	closer := []byte(strings.Join(slices.Delete(slices.Clone(lines), from-1, to), ""))
	if again, err := f.Insert("", closer); err == nil && bytes.Equal(again, src) {
		return closer
	}
	return removed
}

// containsToken reports whether key occurs in line as a whole: not preceded or
// followed by a letter, digit or the like that would make it another name.
func containsToken(line, key string) bool {
	for rest := line; ; {
		i := strings.Index(rest, key)
		if i < 0 {
			return false
		}
		before := i == 0 || !isNameByte(rest[i-1]) || !isNameByte(key[0])
		end := i + len(key)
		after := end == len(rest) || !isNameByte(rest[end]) || !isNameByte(key[len(key)-1])
		if before && after {
			return true
		}
		rest = rest[i+1:]
	}
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// indented returns the code with the marker's indentation and line ends.
func (f Fragment) indented(indent, end string) string {
	var b strings.Builder
	for line := range strings.Lines(f.Code) {
		if line != "\n" {
			line = indent + line
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + end)
	}
	return b.String()
}

// lineEnd is how a line ends.
func lineEnd(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// setupLog is the logger of kubebuilder's main files.
const setupLog = "setupLog"

// lacksLogger reports whether the code logs with [setupLog], and neither the file nor its function declares that.
func (f Fragment) lacksLogger(src []byte) bool {
	return strings.Contains(f.Code, setupLog+".") && gofile.Declares(src, setupLog) == "" && !wiring.DeclaresAbove(src, setupLog)
}

// refuse says where the code belongs in a file without the marker.
func (f Fragment) refuse(file string, lines []string) *report.Error {
	missing := "there is no insertion point +kubebuilder:scaffold:" + f.Marker
	if f.lacksLogger([]byte(strings.Join(lines, ""))) {
		missing = "this file declares no " + setupLog + ", which the code logs with"
	}
	return &report.Error{
		What: missing, Where: fmt.Sprintf("%s:%d", file, f.likelyLine(lines)),
		Hint: "nothing was changed; insert this near that line and run the command again:\n" + strings.TrimSuffix(f.Code, "\n"),
	}
}

// likelyPlaces match, by marker, the line at which a reader would insert the code, for when the
// marker is gone.
var likelyPlaces = map[string]func() *regexp.Regexp{
	"imports": lazy.Regexp(`^\)`),
	"scheme":  lazy.Regexp(`AddToScheme\(`),
	"builder": aroundBuilder,
	"webhook": aroundBuilder,
}

var aroundBuilder = lazy.Regexp(`AddHealthzCheck\(|mgr\.Start\(|SetupWithManager\(`)

// likelyLine is the number of the line that the code belongs at most likely, or of the last one.
func (f Fragment) likelyLine(lines []string) int {
	if near := likelyPlaces[f.Marker]; near != nil {
		if i := slices.IndexFunc(lines, near().MatchString); i >= 0 {
			return i + 1
		}
	}
	if n := len(lines); n > 1 && lines[n-1] == "" {
		return n - 1
	}
	return max(len(lines), 1)
}

// PutOnce inserts a fragment whose key other fragments of the file have as well: it is there when the
// lines above its marker are its own. A marker in a block that is switched off by comments is refused.
func (f Fragment) PutOnce(file string, src []byte) ([]byte, error) {
	if strings.Contains(string(src), f.Code+"# +kubebuilder:scaffold:"+f.Marker) {
		return src, nil
	}
	lines := strings.SplitAfter(string(src), "\n")
	at := markerAt(lines, f.Marker)
	if at < 0 {
		return nil, f.refuse(file, lines)
	}
	above := at - 1
	if above < 0 || strings.HasPrefix(strings.TrimSpace(lines[above]), "#") {
		return nil, &report.Error{
			What: "the block for this code is commented out", Where: fmt.Sprintf("%s:%d", file, at+1),
			Hint: "nothing was changed; remove the # from its lines and run the command again, which inserts:\n" + strings.TrimSuffix(f.Code, "\n"),
		}
	}
	return []byte(strings.Join(slices.Insert(lines, at, f.Code), "")), nil
}

// ByHand is the text of pieces of a Go file for who inserts them by hand: imports first, then code.
func ByHand(of []plan.Piece) string {
	var imports, code strings.Builder
	for _, p := range of {
		switch p := p.(type) {
		case UsedImport:
			imports.WriteString("import " + p.Code)
		case Import:
			imports.WriteString("import " + p.spec() + "\n")
		case Fragment:
			if p.Marker == importsMarker {
				imports.WriteString("import " + p.Code)
			} else {
				code.WriteString(p.Code)
			}
		}
	}
	return imports.String() + code.String()
}
