package yaml

import "slices"

// Memo remembers what was written for values that come again, so that the second
// time it is copied. It serves a series of documents, written one after the other;
// a nil Memo remembers nothing.
//
//	memo := yaml.NewMemo[*Schema]()
//	for … {
//		w.Key("schema")
//		memo.Write(w, s, func() { … })
//		content := memo.End(w)
//	}
type Memo[K comparable] struct {
	ended [][]byte // documents
	known map[occurrence[K]]fragment
}

// occurrence is a value at a depth, on which line breaks depend.
type occurrence[K comparable] struct {
	key    K
	indent int
}

// fragment is a part of a document, and what the writer knew after it.
type fragment struct {
	document   int
	start, end int
	column     int
	blank      bool
	lead       bool
}

// NewMemo returns a memo that remembers nothing yet.
func NewMemo[K comparable]() *Memo[K] {
	return &Memo[K]{known: make(map[occurrence[K]]fragment)}
}

// Write writes the map that is the value of a key. Maps that write writes for
// the same K must be the same.
func (m *Memo[K]) Write(w *Writer, key K, write func()) {
	if m == nil || w.lead {
		write()
		return
	}
	here := occurrence[K]{key, w.indent}
	if f, ok := m.known[here]; ok {
		from := w.out
		if f.document < len(m.ended) {
			from = m.ended[f.document]
		}
		w.reserve(f.end - f.start)
		w.out = append(w.out, from[f.start:f.end]...)
		w.column, w.blank, w.lead = f.column, f.blank, f.lead
		return
	}
	start := len(w.out)
	write()
	m.known[here] = fragment{document: len(m.ended), start: start, end: len(w.out), column: w.column, blank: w.blank, lead: w.lead}
}

// End ends the document and returns it. The writer is as new, with as much room: copying the document would touch twice
// as much memory, and room that is not used is never touched.
func (m *Memo[K]) End(w *Writer) []byte {
	content := slices.Clip(w.Bytes())
	m.ended = append(m.ended, content)
	out := make([]byte, 0, cap(w.out))
	*w = *NewWriter()
	w.out = out
	return content
}
