package scaffold

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A fragment is code that belongs at an insertion point of a file.
type fragment struct {
	marker string // what follows +kubebuilder:scaffold:
	code   string // lines without the marker's indentation, ending in a newline
	// key is a piece of the fragment that no other fragment has; a file that holds
	// it, outside of comments, has the fragment already.
	key string
	// module is the path of the project's module, for an import: imports of the
	// project form a group of their own.
	module string
	// near finds the line at which a reader would insert the code, for when the
	// marker is gone.
	near *regexp.Regexp
}

// markerLine matches a comment line that is an insertion point.
var markerLine = regexp.MustCompile(`^[ \t]*(?://|#)[ \t]*\+kubebuilder:scaffold:([A-Za-z-]+)[ \t]*\r?$`)

// insert returns an edit (see Plan.edit) that puts fragments at their markers. A
// fragment that is there already is left out; a marker that is not there is refused
// with the text to insert by hand.
func insert(fragments ...fragment) func(string, []byte) ([]byte, error) {
	return inserted(fragments...).put
}

// inserted are fragments as pieces of a file.
func inserted(fragments ...fragment) pieces {
	all := make([]piece, len(fragments))
	for i, f := range fragments {
		all[i] = f
	}
	return these(all...)
}

func (f fragment) id() string { return f.marker + " " + f.key }

// put inserts the fragment at its marker.
func (f fragment) put(path string, src []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	if f.present(lines) {
		return src, nil
	}
	at := slices.IndexFunc(lines, func(line string) bool {
		m := markerLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		return m != nil && m[1] == f.marker
	})
	if at < 0 {
		return nil, f.refuse(path, lines)
	}
	indent := lines[at][:strings.IndexAny(lines[at], "/#")]
	code := f.indented(indent, lineEnd(lines[at]))
	if importPath, ok := importSpec(f.code); ok {
		var group bool
		if at, group = importPosition(lines, at, importPath, f.module); group {
			code = lineEnd(lines[at]) + code
		}
	}
	return []byte(strings.Join(slices.Insert(lines, at, code), "")), nil
}

// present reports whether the file has the fragment, in code and not in a comment.
func (f fragment) present(lines []string) bool { return slices.ContainsFunc(lines, f.on) }

// on reports whether the fragment's key is on a line of code.
func (f fragment) on(line string) bool {
	line = strings.TrimSpace(line)
	return !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") && containsToken(line, f.key)
}

// take removes the fragment's lines if they are as they were inserted, but for their
// indentation.
func (f fragment) take(src []byte) ([]byte, int) {
	lines := strings.SplitAfter(string(src), "\n")
	code := strings.SplitAfter(strings.TrimSuffix(f.code, "\n"), "\n")
	for i := range len(lines) - len(code) + 1 {
		if slices.EqualFunc(lines[i:i+len(code)], code, alike) {
			return f.without(src, lines, i, i+len(code)), 0
		}
	}
	return src, slices.IndexFunc(lines, f.on) + 1
}

// logged matches a line that logs an error, as main files of other tools do: its words
// differ from version to version.
var logged = regexp.MustCompile(`^setupLog\.Error\(err, "[^"]*"(, "[^"]*")*\)$`)

// alike reports whether two lines are the same but for indentation and such words.
func alike(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || logged.MatchString(a) && logged.MatchString(b)
}

// without removes lines from a file, and an empty line above them if inserting them
// would bring that back.
func (f fragment) without(src []byte, lines []string, from, to int) []byte {
	removed := []byte(strings.Join(slices.Delete(slices.Clone(lines), from, to), ""))
	if from == 0 || strings.TrimSpace(lines[from-1]) != "" {
		return removed
	}
	closer := []byte(strings.Join(slices.Delete(slices.Clone(lines), from-1, to), ""))
	if again, err := f.put("", closer); err == nil && bytes.Equal(again, src) {
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
func (f fragment) indented(indent, end string) string {
	var b strings.Builder
	for line := range strings.Lines(f.code) {
		if line != "\n" {
			line = indent + line
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + end)
	}
	return b.String()
}

// importSpec returns the path of a fragment that is one import.
func importSpec(code string) (string, bool) {
	fields := strings.Fields(code)
	if strings.Count(code, "\n") != 1 || len(fields) == 0 || len(fields) > 2 {
		return "", false
	}
	path, err := strconv.Unquote(fields[len(fields)-1])
	return path, err == nil
}

// importPosition keeps the project's imports above the marker sorted by path, as
// gofmt does. It reports whether they begin a group there.
func importPosition(lines []string, marker int, path, module string) (at int, begin bool) {
	at = marker
	for at > 0 {
		above, ok := importSpec(strings.TrimSpace(lines[at-1]) + "\n")
		if !ok {
			return at, false
		}
		if above != module && !strings.HasPrefix(above, module+"/") {
			return at, at == marker
		}
		if above <= path {
			return at, false
		}
		at--
	}
	return at, false
}

// lineEnd is how a line ends.
func lineEnd(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// refuse says where the code belongs in a file without the marker.
func (f fragment) refuse(path string, lines []string) *report.Error {
	return &report.Error{
		What:  fmt.Sprintf("there is no insertion point +kubebuilder:scaffold:%s", f.marker),
		Where: fmt.Sprintf("%s:%d", path, f.likelyLine(lines)),
		Hint:  "nothing was changed; insert this about there and run the command again:\n" + strings.TrimSuffix(f.code, "\n"),
	}
}

// likelyLine is the number of the line that near matches, or of the last one.
func (f fragment) likelyLine(lines []string) int {
	if f.near != nil {
		if i := slices.IndexFunc(lines, f.near.MatchString); i >= 0 {
			return i + 1
		}
	}
	if n := len(lines); n > 1 && lines[n-1] == "" {
		return n - 1
	}
	return max(len(lines), 1)
}

// keepFormat formats Go code after an insertion if it was formatted before; a file
// that its owner formats otherwise is left as it is.
func keepFormat(before, after []byte) []byte {
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return after
	}
	if formatted, err := format.Source(after); err == nil {
		return formatted
	}
	return after
}
