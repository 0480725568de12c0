package load

import (
	"bytes"

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
	constants   bool // may declare constants

	name    string       // in the package clause
	parsed  bool         // imports is set
	imports []importSpec // of a file that is not of interest
}

// readSource reads a file; it returns nil when the build constraints leave the
// file out or when it cannot be read, which it reports.
func (l *Loader) readSource(path string) *source {
	buffer := l.buffers.Get().(*bytes.Buffer)
	defer l.buffers.Put(buffer)
	if err := l.config.Inputs.ReadInto(buffer, path); err != nil {
		l.Report(unreadable(path, err))
		return nil
	}
	data := buffer.Bytes()
	h := readHeader(data)
	if !l.build.match(path, data[:h.end]) || h.name == documentation || l.build.needsCgo(data) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leftOut[path] = true
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
	return report.Finding{Position: report.Position{File: path}, Message: "cannot be read: " + err.Error(), Fatal: true}
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
	rest := data
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n;\ufeff")
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			h.marker = h.marker || isMarkerLine(line)
			rest = after
		case bytes.HasPrefix(rest, []byte("/*")):
			_, after, closed := bytes.Cut(rest, []byte("*/"))
			if !closed {
				return h
			}
			rest = after
		case bytes.HasPrefix(rest, []byte("package")):
			rest = bytes.TrimLeft(rest[len("package"):], " \t")
			n := 0
			for n < len(rest) && isIdent(rest[n]) {
				n++
			}
			h.name = string(rest[:n])
			h.end = len(data) - len(rest) + n
			return h
		default:
			return h
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

// scan looks at the first word of each line, which is enough to tell whether
// the file can matter: a file that is parsed in vain costs time only. The part
// of the first line after the package clause is not the start of a line, so
// anything but a comment there makes the file interesting.
func (s *source) scan(data []byte) {
	line, data, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSpace(line)
	s.interesting = len(line) > 0 && (!bytes.HasPrefix(line, []byte("//")) || isMarkerLine(line))
	for len(data) > 0 {
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimLeft(line, " \t")
		if len(line) < 3 {
			continue
		}
		switch line[0] {
		case '/':
			s.interesting = s.interesting || line[1] == '/' && isMarkerLine(line)
		case 't':
			s.interesting = s.interesting || hasWord(line, "type")
		case 'c':
			s.constants = s.constants || hasWord(line, "const")
		case 'f':
			s.interesting = s.interesting || hasWord(line, "func") && isMethodOfInterest(line)
		}
		if s.interesting && s.constants {
			return
		}
	}
}

func hasWord(line []byte, word string) bool {
	return bytes.HasPrefix(line, []byte(word)) && (len(line) == len(word) || !isIdent(line[len(word)]))
}

// methodsOfInterest are the methods whose presence changes how a type is
// serialised or copied. Others are not guaranteed to be known to the resolver.
var methodsOfInterest = [...]string{"MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText", "DeepCopy", "DeepCopyInto"}

func isMethodOfInterest(line []byte) bool {
	_, rest, found := bytes.Cut(line, []byte(")"))
	if !found {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t")
	for _, name := range methodsOfInterest {
		if hasWord(rest, name) {
			return true
		}
	}
	return false
}
