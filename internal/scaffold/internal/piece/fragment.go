// Package piece has the kinds of text that verbs insert into shared files: lines at insertion points, imports, items of
// kustomizations, declarations, markers. Each implements plan.Piece.
//
//	piece.Fragment{Marker: "scheme", Code: "utilruntime.Must(batchv1.AddToScheme(scheme))\n", Key: "batchv1.AddToScheme("}
//	piece.Item{List: "resources", Name: "../crd", First: true}
//	piece.Import{Path: "context"}
//
// All work on the text of a file of any author, and leave the rest of it byte for byte. If a file has no place for a
// piece, Insert returns an error with the line and the text to insert by hand. Remove leaves a piece that the user
// changed, and returns its line.
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

// A Fragment is code at an insertion point of a file.
type Fragment struct {
	Marker string // what follows +kubebuilder:scaffold:
	Code   string // lines without the marker's indentation, each ending in a newline
	// Key is text that only this fragment has. A file that contains it has the fragment already: in a comment if the
	// code is one, else outside of comments.
	Key string
	// Module is the project's module path, for an import: imports of the project form a group of their own.
	Module string
}

// markerLine matches an insertion point. Markers of slipway's own are in files of another form than kubebuilder's: what
// its commands would insert there does not build.
var markerLine = lazy.Regexp(`^[ \t]*(?://|#)[ \t]*\+(?:kubebuilder|slipway):scaffold:([A-Za-z-]+)[ \t]*\r?$`)

// markerAt returns the index of an insertion point's line, or -1.
func markerAt(lines []string, name string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		m := markerLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		return m != nil && m[1] == name
	})
}

// ID implements plan.Piece.
func (f Fragment) ID() string { return f.Marker + " " + f.Key }

// Insert inserts the fragment at its marker or, without one, where the code shows its place.
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

func (f Fragment) present(lines []string) bool { return slices.ContainsFunc(lines, f.on) }

// on reports whether a line of code, or of comments for a fragment of comments, contains the fragment's key.
func (f Fragment) on(line string) bool {
	return isComment(line) == isComment(f.Code) && containsToken(line, f.Key)
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#")
}

// Remove removes the fragment's lines. They may differ in indentation and in what they log, or have one of the forms
// that package wiring recognizes.
func (f Fragment) Remove(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	code := strings.SplitAfter(strings.TrimSuffix(f.Code, "\n"), "\n")
	for i := range len(lines) - len(code) + 1 {
		if slices.EqualFunc(lines[i:i+len(code)], code, equalButForLogText) {
			return f.without(src, lines, i, i+len(code)), 0
		}
	}
	return f.removeWired(src, slices.IndexFunc(lines, f.on)+1)
}

// logged matches a line that logs an error, as kubebuilder's main files do. Its wording differs between versions.
var logged = lazy.Regexp(`^\w+\.Error\(err, "[^"]*"(, "[^"]*")*\)$`)

// equalButForLogText reports whether two lines are equal but for indentation and logged text.
func equalButForLogText(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || logged().MatchString(a) && logged().MatchString(b)
}

// without removes lines. It also removes the empty line above them if inserting the fragment would add it again.
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

// containsToken reports whether line contains key as a whole token, not as a part of a longer name.
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

func lineEnd(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// setupLog is the logger of kubebuilder's main files.
const setupLog = "setupLog"

// lacksLogger reports whether the code logs with [setupLog] and the file does not declare it where the code would see
// it.
func (f Fragment) lacksLogger(src []byte) bool {
	return strings.Contains(f.Code, setupLog+".") && gofile.Declares(src, setupLog) == "" && !wiring.DeclaresAbove(src, setupLog)
}

// refuse returns the error for a file without a place for the code.
func (f Fragment) refuse(file string, lines []string) *report.Error {
	missing := "there is no insertion point +kubebuilder:scaffold:" + f.Marker
	if f.lacksLogger([]byte(strings.Join(lines, ""))) {
		missing = "this file declares no " + setupLog + ", which the code logs with"
	}
	return &report.Error{
		Class: report.BadProject,
		What:  missing, Where: fmt.Sprintf("%s:%d", file, f.likelyLine(lines)),
		Hint: "nothing was changed; insert this near that line and run the command again:\n" + strings.TrimSuffix(f.Code, "\n"),
	}
}

// likelyPlaces match, by marker, the line that a reader would insert the code at if the marker is gone.
var likelyPlaces = map[string]func() *regexp.Regexp{
	"imports": lazy.Regexp(`^\)`),
	"scheme":  lazy.Regexp(`AddToScheme\(`),
	"builder": aroundBuilder,
	"webhook": aroundBuilder,
}

var aroundBuilder = lazy.Regexp(`AddHealthzCheck\(|mgr\.Start\(|SetupWithManager\(`)

// likelyLine returns the number of that line, or of the file's last one.
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

// PutOnce inserts a fragment whose key other fragments in the file share. It counts as present if its lines stand
// directly above the marker. PutOnce refuses a marker in a commented block.
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
			Class: report.BadProject,
			What:  "the block for this code is commented out", Where: fmt.Sprintf("%s:%d", file, at+1),
			Hint: "nothing was changed; remove the # from its lines and run the command again, which inserts:\n" + strings.TrimSuffix(f.Code, "\n"),
		}
	}
	return []byte(strings.Join(slices.Insert(lines, at, f.Code), "")), nil
}

// ByHand returns the text of the pieces for users who insert them by hand: imports first, then code.
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
