package load

import (
	"bytes"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/report"
)

// source is a file of the build before it is parsed. What it holds is kept only
// as long as the file is likely to be parsed: most files of dependencies are not,
// and generated ones are large.
type source struct {
	path string
	data []byte
	// interesting is set when the file may declare a type, hold a marker or
	// define one of the methods that decide how a type is treated.
	interesting bool
	constants   bool // it is not of interest and may declare constants

	name    string       // in the package clause
	parsed  bool         // imports is set
	imports []importSpec // of a file that is not of interest
}

// readSource reads a file; it returns nil when the build constraints leave the
// file out or when it cannot be read, which it reports.
func (l *Loader) readSource(path string) *source {
	if s, known := l.remembered(path); known {
		return s
	}
	buffer := l.buffers.Get().(*bytes.Buffer)
	defer l.buffers.Put(buffer)
	if err := l.config.Inputs.ReadInto(buffer, path); err != nil {
		l.Report(unreadable(path, err))
		return nil
	}
	data := buffer.Bytes()
	h := readHeader(data)
	if !l.build.match(path, data[:h.end]) || h.name == documentation || l.build.needsCgo(data) {
		l.leaveOut(path)
		return nil
	}
	s := &source{path: path, name: h.name}
	s.scan(data[h.end:])
	s.interesting = s.interesting || h.marker || h.name == ""
	if s.interesting {
		s.data = bytes.Clone(data)
	}
	return s
}

// packageName is the name in a file's package clause, or "" for a file that does
// not belong to the build that the constraints choose.
func (l *Loader) packageName(build *constraints, inputs *inputs.Set, path string) string {
	buffer := l.buffers.Get().(*bytes.Buffer)
	defer l.buffers.Put(buffer)
	if err := inputs.ReadInto(buffer, path); err != nil {
		return "" // reading the package reports it
	}
	h := readHeader(buffer.Bytes())
	if !build.match(path, buffer.Bytes()[:h.end]) || h.name == documentation || build.needsCgo(buffer.Bytes()) {
		return ""
	}
	return h.name
}

// documentation is the package whose files belong to no build, whatever is beside them.
const documentation = "documentation"

func unreadable(path string, err error) report.Finding {
	f := report.Finding{Rule: report.RuleUnreadableFile, Position: report.Position{File: path}, Message: "cannot be read: " + err.Error(), Fatal: true}
	if errors.Is(err, fileview.ErrOutside) {
		f.Message, f.Suggestion = "cannot be read: "+fileview.ErrOutside.Error(), "put a copy of the file in the place of the link"
	}
	return f
}

// content returns what the file holds and forgets it.
func (l *Loader) content(s *source) ([]byte, error) {
	data := s.data
	s.data = nil
	if data == nil {
		return l.config.Inputs.ReadFile(s.path)
	}
	return data, nil
}

// header is what stands before and in the package clause.
type header struct {
	name   string
	end    int  // offset after the clause; the whole file when there is none
	marker bool // a comment before the clause may be a marker
}

func readHeader(data []byte) header {
	h := header{end: len(data)}
	rest, found := bytes.CutPrefix(h.skip(data), []byte("package"))
	if !found {
		return h
	}
	rest = h.skip(rest)
	n := 0
	for n < len(rest) && isIdent(rest[n]) {
		n++
	}
	h.name = string(rest[:n])
	h.end = len(data) - len(rest) + n
	return h
}

// skip passes over space and comments, of which one without an end has all the rest.
func (h *header) skip(rest []byte) []byte {
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n;\ufeff")
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			h.marker = h.marker || isMarkerLine(line)
		case bytes.HasPrefix(rest, []byte("/*")):
			_, rest, _ = bytes.Cut(rest, []byte("*/"))
		default:
			return rest
		}
	}
}

func isIdent(b byte) bool {
	return b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func isMarkerLine(line []byte) bool {
	rest := bytes.TrimLeft(line[2:], " \t")
	return len(rest) > 0 && rest[0] == '+'
}

// scan looks where declarations and markers begin, which is enough to tell whether
// the file can matter: a file that is parsed in vain costs time only. The part
// of the first line after the package clause is not the start of a line, so
// anything but a comment there makes the file interesting.
func (s *source) scan(data []byte) {
	line, data, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSpace(line)
	s.interesting = len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) || isMarkedAnywhere(line)
	for rest := data; len(rest) > 0 && !s.interesting; {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		s.declaration(line)
	}
	s.scanAfter(data, "*/")
	s.scanAfter(data, ";")
	s.interesting = s.interesting || isMarkedAnywhere(data)
}

// scanAfter looks at what stands after each mark that a declaration may follow on the same line.
func (s *source) scanAfter(data []byte, mark string) {
	for found := true; found && !s.interesting; {
		_, data, found = bytes.Cut(data, []byte(mark))
		s.declaration(data)
	}
}

// declaration looks at the word that a text begins with.
func (s *source) declaration(text []byte) {
	text = bytes.TrimLeft(text, " \t")
	if len(text) < 3 {
		return
	}
	switch text[0] {
	case 't':
		s.interesting = s.interesting || hasWord(text, "type")
	case 'c':
		s.constants = s.constants || hasWord(text, "const")
	case 'f':
		s.interesting = s.interesting || hasWord(text, "func") && mayBeOfInterest(text[len("func"):])
	}
}

// isMarkedAnywhere reports whether there is a plus sign at the beginning of a comment, or of what looks like one.
func isMarkedAnywhere(data []byte) bool {
	for {
		before, after, found := bytes.Cut(data, []byte("+"))
		if !found {
			return false
		}
		if bytes.HasSuffix(bytes.TrimRight(before, " \t"), []byte("//")) {
			return true
		}
		data = after
	}
}

func hasWord(line []byte, word string) bool {
	return bytes.HasPrefix(line, []byte(word)) && (len(line) == len(word) || !isIdent(line[len(word)]))
}

// methodsOfInterest are the methods whose presence changes how a type is
// serialised or copied. Others are not guaranteed to be known to the resolver.
var methodsOfInterest = [...]string{"MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText", "DeepCopy", "DeepCopyInto"}

// mayBeOfInterest reports whether a declaration may be one of a method of interest, from what follows the word func. It
// may if the line ends before the name, or if there are comments in it.
func mayBeOfInterest(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.Trim(line, " \t\r")
	if len(line) > 0 && line[0] != '(' && line[0] != '/' {
		return false // a function
	}
	end := endOfReceiver(line)
	if end < 0 || bytes.Contains(line[:end], []byte("//")) || bytes.Contains(line, []byte("/*")) {
		return true
	}
	name := bytes.TrimLeft(line[end:], " \t")
	return slices.ContainsFunc(methodsOfInterest[:], func(method string) bool { return hasWord(name, method) })
}

// endOfReceiver is where the parenthesis that a line begins with has been closed, or -1.
func endOfReceiver(line []byte) int {
	depth := 0
	for i, b := range line {
		switch b {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
