// Package yamlsize measures what a text of YAML becomes when each alias is replaced by what it stands for: a few
// hundred bytes whose aliases stand for lists of aliases, or for one long text, can become all memory and more. So can
// some thousand levels of nesting, which are indented each time that they are written.
//
//	if err := yamlsize.Check(document); err != nil { … } // before it becomes JSON, which has no aliases
package yamlsize

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Deepest is how deep maps and lists may be nested, far above what the schemas of the largest definitions need.
const Deepest = 500

// A DepthError is a text of YAML that is nested deeper than [Deepest].
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: nested deeper than %d levels", e.Line, Deepest)
}

// Most is how many bytes aliases and indentation may add, far above what they save people in writing.
const Most = 4 << 20

// ErrGrowth is that aliases, or indentation, add more.
var ErrGrowth = errors.New("its YAML aliases or its nesting expand to too much")

// Check refuses a document whose aliases add too much or that is nested too deep, with a [DepthError], and what may be
// either and is no YAML: another parser might make something of it.
func Check(document []byte) error {
	if (bytes.IndexByte(document, '&') < 0 || bytes.IndexByte(document, '*') < 0) && !mayBeDeep(document) {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return err
	}
	_, err := newWalk(&measure{}, maxNesting).size(&root, 0)
	return err
}

// maxNesting is how deep texts in texts are looked into: a patch in a transformer in a kustomization is two.
const maxNesting = 8

// nodeSize is about what a node takes beside its text.
const nodeSize = 64

// maxSize is more than the size of any document that is read.
const maxSize = 4 << 30

// Growth is how many bytes are added to a text of YAML when each alias is replaced by what it stands for, and when what
// is nested deep is indented. A text that is no YAML adds nothing: kustomize says what is wrong with it. Texts in the
// text, such as patches, count as well. One that is nested too deep is a [DepthError].
func Growth(text []byte) (int, error) { return (&measure{}).text(text, 0) }

// Nesting refuses a text that is nested too deep, as [Growth] does, without a look at its aliases.
func Nesting(text []byte) error {
	if !mayBeDeep(text) {
		return nil
	}
	_, err := Growth(text)
	return err
}

// measure adds up what aliases stand for.
type measure struct {
	total int
}

// text measures every document, divided as kustomize does it: a mistake in one hides none of the others. What divides
// for kustomize may be part of a value for others, which then is a mistake here, so that they are measured as well.
func (m *measure) text(text []byte, nesting int) (int, error) {
	if nesting > maxNesting || !suspicious(text) && !mayBeDeep(text) {
		return m.total, nil
	}
	divided, before := *m, 0 // lines
	documents, mistaken := pieces(text)
	for _, piece := range documents {
		mistake, err := divided.stream(piece, nesting, before)
		if err != nil {
			return divided.total, err
		}
		mistaken = mistaken || mistake
		before += bytes.Count(piece, []byte("\n")) + 2
	}
	if mistaken || isUTF16(text) {
		if _, err := m.stream(text, nesting, 0); err != nil {
			return m.total, err
		}
	}
	m.total = max(m.total, divided.total)
	return m.total, nil
}

// pieces are the documents of a text, without the lines that divide them. It is a mistake if such a line has more.
func pieces(text []byte) (all [][]byte, mistake bool) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	for {
		at := bytes.Index(text, []byte("\n---"))
		if at < 0 {
			return append(all, text), mistake
		}
		line, rest, found := bytes.Cut(text[at+len("\n---"):], []byte("\n"))
		if !found {
			return append(all, text), mistake
		}
		line = bytes.TrimSpace(line)
		mistake = mistake || len(line) > 0 && line[0] != '#'
		all, text = append(all, text[:at]), rest
	}
}

// stream measures the documents of a text, in front of which are some lines, up to a mistake.
func (m *measure) stream(text []byte, nesting, before int) (mistake bool, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return !errors.Is(err, io.EOF), nil
		}
		_, err := newWalk(m, nesting).size(&document, 0)
		if deep, is := errors.AsType[*DepthError](err); is {
			return false, &DepthError{before + deep.Line}
		}
		if err != nil {
			return false, err
		}
	}
}

// walk measures a document.
type walk struct {
	*measure
	nesting int
	sizes   map[*yaml.Node]int // of nodes that are measured; 0 of those that are being measured
	heights map[*yaml.Node]int // how many levels a node has, with its aliases replaced
}

func newWalk(m *measure, nesting int) *walk {
	return &walk{m, nesting, map[*yaml.Node]int{}, map[*yaml.Node]int{}}
}

// size is that of a node with its aliases replaced, which is below a number of levels. It looks at each node once.
func (w *walk) size(n *yaml.Node, above int) (int, error) {
	if size, known := w.sizes[n]; known {
		if size == 0 {
			return 0, ErrGrowth // one that contains itself never ends
		}
		return size, nil
	}
	w.sizes[n] = 0
	level := 0
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		level = 1
	}
	if w.heights[n] = level; above+level > Deepest {
		return 0, &DepthError{n.Line}
	}
	lines := linesOf(n)
	size := nodeSize + len(n.Value) + nodeSize*lines
	parts := n.Content
	if deep := above + level - shallow; deep > 0 && n.Style&yaml.FlowStyle != 0 {
		w.total += 2 * deep * len(parts)
	} else if deep > 0 && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 { // these are indented already
		w.total += 2 * deep * lines
	}
	if n.Kind == yaml.AliasNode {
		parts = []*yaml.Node{n.Alias}
		size = 0
	}
	for _, part := range parts {
		grown, err := w.size(part, above+level)
		if err != nil {
			return 0, err
		}
		w.heights[n] = max(w.heights[n], level+w.heights[part])
		if size += grown; size > maxSize { // no sum overflows
			return 0, ErrGrowth
		}
	}
	if above+w.heights[n] > Deepest { // an alias of what is deep elsewhere
		return 0, &DepthError{n.Line}
	}
	if n.Kind == yaml.AliasNode {
		w.total += size
	}
	if w.total > Most {
		return 0, ErrGrowth
	}
	if n.Kind == yaml.ScalarNode {
		grown, err := w.inner(n)
		if err != nil {
			return 0, err
		}
		size += grown
	}
	w.sizes[n] = size
	return size, nil
}

// linesOf is how many lines begin in a text.
func linesOf(n *yaml.Node) (lines int) {
	if n.Kind != yaml.ScalarNode {
		return 0
	}
	for _, end := range []string{"\n", "\u0085", "\u2028", "\u2029"} {
		lines += strings.Count(n.Value, end)
	}
	return lines
}

// inner is what the aliases of a text in the text add. A mistake is in the line in which that begins.
func (w *walk) inner(n *yaml.Node) (int, error) {
	before, text := w.total, []byte(n.Value)
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() == "!!binary" {
		if decoded, err := base64.StdEncoding.DecodeString(n.Value); err == nil {
			text = decoded
		}
	}
	_, err := w.text(text, w.nesting+1)
	if _, deep := errors.AsType[*DepthError](err); deep {
		return 0, &DepthError{n.Line}
	}
	return w.total - before, err
}

// shallow is how deep any file of a project may be. What is in brackets or quotes below that is written in lines of its
// own, each with its indentation, so that this counts as growth.
const shallow = 50

// mayBeDeep reports whether a text may be nested too deep, or grow by its nesting. Each level needs a bracket that
// opens, or in blocks half a column: a list may begin in the column of its key. Each item in brackets needs one of
// these or a comma, and each line of a text in quotes a backslash, an empty line or another end than usual.
func mayBeDeep(text []byte) bool {
	if isUTF16(text) {
		return true
	}
	columns, run, empty := 0, 0, true
	items := bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n"))
	for _, b := range text {
		switch b {
		case ' ', '\t':
			run++
		case '-', '?', ':':
			run, empty = run+1, false
		case '\n':
			if empty {
				items++
			}
			run, empty = 0, true
		case '\\', 0x85, 0xa8, 0xa9: // the last bytes of other ends of lines
			items++
			run, empty = 0, false
		case '\r':
			run = 0
		default:
			run, empty = 0, false
		}
		columns = max(columns, run)
	}
	exceed := func(brackets int) bool {
		levels := brackets + 2*columns + 2
		return levels > Deepest || 2*(levels-shallow)*(brackets+items) > Most
	}
	return exceed(bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{"))) && exceed(opening(text))
}

// opening is how many brackets of a text may begin a list or map.
func opening(text []byte) (brackets int) {
	var s scan
	for _, b := range text {
		if (b == '[' || b == '{') && s.opens() {
			brackets++
		}
		s.pass(b)
	}
	return brackets
}

// scan is what is in front of a byte of a text.
type scan struct {
	begun    bool // there is more than spaces in the line
	space    bool // the last byte is one
	last     byte // that is none
	escaped  bool // that one, in quotes: it may stand for the end of a line in a text in the text
	backward bool // the last byte is a backslash
	named    bool // the last word has the sign of an anchor or a tag
}

// opens reports whether a bracket may begin a list or map here, and not be a part of a plain text.
func (s *scan) opens() bool {
	return !s.begun || s.named || s.escaped || s.last >= 0x80 || strings.IndexByte(":-?,[{\"'", s.last) >= 0
}

// pass goes on to the next byte.
func (s *scan) pass(b byte) {
	switch b {
	case '\n', '\r':
		*s = scan{}
		return
	case ' ', '\t':
		s.space = true
		return
	}
	s.named = s.named && !s.space || b == '&' || b == '!'
	s.escaped, s.backward = s.backward, b == '\\' && !s.backward
	s.begun, s.space, s.last = true, false, b
}

// isUTF16 reports whether a text, or one of its documents, may be in UTF-16, whose mark no other text has a byte of.
func isUTF16(text []byte) bool {
	return bytes.IndexByte(text, 0xfe) >= 0 || bytes.IndexByte(text, 0xff) >= 0
}

// suspicious reports whether there may be aliases in a text, or in a text in it: an anchor and an alias, as they are or
// as characters that quotes, or a line that goes on in the next one, or the tag !!binary hide, whose name a directive
// may change.
func suspicious(text []byte) bool {
	if isUTF16(text) {
		return true
	}
	for _, hidden := range []string{`\x`, `\u`, `\U`, "\\\n", "\\\r", "\\\u0085", "\\\u2028", "\\\u2029", "!!", "!<", "%TAG"} {
		if bytes.Contains(text, []byte(hidden)) {
			return true
		}
	}
	return names(text, '&') && names(text, '*')
}

// names reports whether a sign is followed by a name somewhere.
func names(text []byte, sign byte) bool {
	for {
		at := bytes.IndexByte(text, sign)
		if at < 0 || at+1 == len(text) {
			return false
		}
		if text = text[at+1:]; isName(text[0]) {
			return true
		}
	}
}

// isName reports whether a byte may begin the name of an anchor: a letter, a digit, _ or -, or part of a longer
// character.
func isName(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-' || b >= 0x80
}
