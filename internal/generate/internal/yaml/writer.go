package yaml

const (
	step  = 2  // spaces of one level
	width = 80 // the column after which text folds
)

// Writer writes one document. Its zero value is not usable, see [NewWriter]. A
// value is written for the document, for each item of a sequence and after each
// key; anything else is a mistake of the caller and makes a malformed document.
type Writer struct {
	out    []byte
	column int // in runes
	indent int // -1 outside of everything
	frames []frame

	// blank is set when the last thing written separates by itself, lead when
	// nothing but indentation and dashes stands on the line so far. Together they
	// decide where nested collections may begin on the same line.
	blank, lead bool

	unreadable []Place
}

// frame is an open map or sequence.
type frame struct {
	seq     bool
	key     string // the one written last
	items   int    // begun so far
	begun   bool   // has an entry
	indent  int    // of what is around it
	inMap   bool   // is the value of a key
	complex bool   // the key being written needs a question mark
}

// NewWriter returns a writer for an empty document.
func NewWriter() *Writer {
	return &Writer{indent: -1, blank: true, lead: true}
}

// Preamble writes lines before the document, as they are.
func (w *Writer) Preamble(text string) { w.out = append(w.out, text...) }

// Bytes ends the document and returns it.
func (w *Writer) Bytes() []byte {
	w.newline()
	return w.out
}

// BeginMap begins a map.
func (w *Writer) BeginMap() { w.begin(false) }

// EndMap ends the map begun last.
func (w *Writer) EndMap() { w.end("{", "}") }

// BeginSeq begins a sequence.
func (w *Writer) BeginSeq() { w.begin(true) }

// EndSeq ends the sequence begun last.
func (w *Writer) EndSeq() { w.end("[", "]") }

// Key writes a key of the map begun last.
func (w *Writer) Key(key string) {
	f := w.entry()
	w.newline()
	f.key = key
	s := analyze(key)
	if s.escapes && w.read(key) != key {
		w.note() // a key cannot have several lines
	}
	if f.complex = s.breaks || len(key) > 128; f.complex {
		w.mark("?", true, true)
		w.scalar(key, s, styleOf(key, s), false)
		w.newline()
		w.mark(":", true, true)
		return
	}
	w.scalar(key, s, styleOf(key, s), true)
	w.put(':')
	w.blank, w.lead = false, false
}

func (w *Writer) begin(seq bool) {
	inMap := len(w.frames) > 0 && !w.top().seq
	if len(w.frames) > 0 && w.top().seq {
		w.item()
	}
	w.frames = append(w.frames, frame{seq: seq, indent: w.indent, inMap: inMap})
}

func (w *Writer) top() *frame { return &w.frames[len(w.frames)-1] }

// entry is called before each entry of the collection begun last; with the first
// one, the collection turns out not to be empty.
func (w *Writer) entry() *frame {
	f := w.top()
	if f.begun {
		return f
	}
	f.begun = true
	switch {
	case w.indent < 0:
		w.indent = 0
	case f.seq && f.inMap && !w.lead: // stands as deep as its key
	default:
		w.indent += step
	}
	return f
}

// item begins an item of the sequence begun last.
func (w *Writer) item() {
	w.entry().items++
	w.newline()
	w.mark("-", true, true)
}

func (w *Writer) end(open, closing string) {
	f := w.top()
	if !f.begun {
		w.mark(open, true, false)
		w.out = append(w.out, closing...)
		w.column++
		w.blank, w.lead = false, false
	}
	w.indent = f.indent
	w.frames = w.frames[:len(w.frames)-1]
}

// beforeScalar prepares for a scalar as item, value or document.
func (w *Writer) beforeScalar() {
	if len(w.frames) > 0 && w.top().seq {
		w.item()
	}
}

// newline goes to the indentation of the current level, on a new line unless the
// line holds nothing yet that would be in the way.
func (w *Writer) newline() {
	w.reserve(longLine)
	indent := max(w.indent, 0)
	if !w.lead || w.column > indent || w.column == indent && !w.blank {
		w.lineBreak()
	}
	if missing := indent - w.column; missing > 0 {
		w.spaces(missing)
	}
	w.blank, w.lead = true, true
}

// mark writes an indicator. Those of block style keep the line a leading one.
func (w *Writer) mark(text string, separate, block bool) {
	if separate && !w.blank {
		w.put(' ')
	}
	w.out = append(w.out, text...)
	w.column += len(text)
	w.blank = false
	w.lead = w.lead && block
}

func (w *Writer) put(b byte) {
	w.out = append(w.out, b)
	w.column++
}

func (w *Writer) spaces(n int) {
	const some = "                                        "
	w.column += n
	for ; n > len(some); n -= len(some) {
		w.out = append(w.out, some...)
	}
	w.out = append(w.out, some[:n]...)
}

// longLine is more than most lines have, in bytes.
const longLine = 1 << 10

// reserve makes room for n more bytes as append would, which clears all that it gets: most of a large document's room
// is then touched twice, and its end in vain.
func (w *Writer) reserve(n int) {
	if cap(w.out)-len(w.out) >= n {
		return
	}
	w.out = append(make([]byte, 0, max(2*cap(w.out), len(w.out)+n)), w.out...)
}

func (w *Writer) lineBreak() {
	w.out = append(w.out, '\n')
	w.column = 0
}
