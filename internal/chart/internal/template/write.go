package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// Document returns an object that is rendered if a condition holds, as a document of its own.
func Document(object *tree.Map, when tree.Condition, marks Marks) string {
	w := &writer{marks: marks, of: when}
	write := func(int) { w.fields(object.Fields, 0) }
	w.guarded([]part{{when: when, write: write}}, 0)
	if w.open {
		w.out, w.quoting = nil, true
		w.guarded([]part{{when: when, write: write}}, 0)
	}
	return string(w.out)
}

type writer struct {
	out   []byte
	marks Marks
	of    tree.Condition // the document's condition
	known tree.Condition // the condition that holds at this place

	// Helm trims the end of documents, and with it the last line end of a final block. Such blocks are quoted.
	open    bool // the last unconditional text may be such a block
	quoting bool
}

// emit writes text that is no directive.
func (w *writer) emit(text string) {
	w.out = append(w.out, text...)
	if w.known.Given(w.of).Always() {
		w.open = false
	}
}

// A part is written if a condition holds.
type part struct {
	when  tree.Condition
	write func(indent int)
}

// guarded writes parts. Adjacent parts with the same condition share an if, and those with the opposite one its else.
func (w *writer) guarded(parts []part, indent int) {
	known := w.known
	defer func() { w.known = known }()
	for i := 0; i < len(parts); {
		when := parts[i].when.Given(known)
		if when.Always() {
			parts[i].write(indent)
			i++
			continue
		}
		w.directive(indent, "if "+when.String())
		i = w.run(parts, i, when, known, indent)
		if i < len(parts) && isContrary(parts[i].when.Given(known), when) {
			w.directive(indent, "else")
			i = w.run(parts, i, parts[i].when.Given(known), known, indent)
		}
		w.directive(indent, "end")
	}
}

// run writes the parts from the i-th that have a condition, and returns the index of the next.
func (w *writer) run(parts []part, i int, when, known tree.Condition, indent int) int {
	w.known = tree.All(known, when)
	for i < len(parts) && parts[i].when.Given(known).Is(when) {
		parts[i].write(indent)
		i++
	}
	w.known = known
	return i
}

func isContrary(a, b tree.Condition) bool { return !a.Always() && a.Is(b.Not()) }

// directive writes an action that leaves no line behind.
func (w *writer) directive(indent int, action string) {
	w.out = fmt.Appendf(w.out, "%s{{- %s }}\n", spaces(indent), action)
}

func spaces(n int) string { return strings.Repeat(" ", n) }

func (w *writer) fields(fields []tree.Field, indent int) {
	parts := make([]part, len(fields))
	for i, f := range fields {
		parts[i] = part{f.Needed(), func(indent int) { w.field(f, indent) }}
	}
	w.guarded(parts, indent)
}

func (w *writer) field(f tree.Field, indent int) {
	if yaml, ok := f.Value.(tree.YAML); ok && f.Key == "" {
		w.directive(indent, fmt.Sprintf("%s | nindent %d", yaml, indent))
		return
	}
	w.emit(spaces(indent) + w.marks.key(f.Key) + ":")
	w.value(f.Value, indent)
}

// value writes what follows a key.
func (w *writer) value(n tree.Node, indent int) {
	switch n := n.(type) {
	case *tree.Map:
		if len(n.Fields) == 0 {
			w.emit(" {}\n")
			return
		}
		w.emit("\n")
		w.fields(n.Fields, indent+2)
	case *tree.List:
		if len(n.Items) == 0 {
			w.emit(" []\n")
			return
		}
		w.emit("\n")
		w.items(n.Items, indent)
	case tree.YAML:
		w.emit("\n")
		w.directive(indent+2, fmt.Sprintf("%s | nindent %d", n, indent+2))
	default:
		line := w.line(n, indent+2)
		w.emit(" " + line + "\n")
		w.open = w.open || strings.HasPrefix(line, "|\n")
	}
}

func (w *writer) line(n tree.Node, indent int) string {
	if action, ok := n.(tree.Action); ok {
		return string(action)
	}
	s, _ := n.(tree.Scalar)
	if text, ok := s.Value.(string); ok && w.quoting && strings.HasSuffix(text, "\n") {
		return w.marks.actions(quoted(text))
	}
	return w.marks.scalar(s.Value, spaces(indent))
}

func (w *writer) items(items []tree.Item, indent int) {
	parts := make([]part, len(items))
	for i, item := range items {
		parts[i] = part{item.Needed(), func(indent int) { w.item(item, indent) }}
	}
	w.guarded(parts, indent)
}

func (w *writer) item(item tree.Item, indent int) {
	if yaml, ok := item.Value.(tree.YAML); ok && item.Spliced {
		w.directive(indent, fmt.Sprintf("%s | nindent %d", yaml, indent))
		return
	}
	w.emit(spaces(indent) + "-")
	m, ok := item.Value.(*tree.Map)
	if !ok {
		w.value(item.Value, indent)
		return
	}
	fields, ok := w.beginning(m.Fields)
	if !ok {
		w.value(m, indent)
		return
	}
	w.emit(" ") // the first field is beside the dash
	at := len(w.out)
	w.fields(fields, indent+2)
	w.out = slices.Delete(w.out, at, at+indent+2)
}

// beginning returns the fields with an unconditional one first: the first if it is, else the item's name, else the next
// one that is. It returns false if there is none.
func (w *writer) beginning(fields []tree.Field) ([]tree.Field, bool) {
	always := func(f tree.Field) bool { return f.Key != "" && f.Needed().Given(w.known).Always() }
	at := slices.IndexFunc(fields, always)
	if at < 0 {
		return nil, false
	}
	if name := slices.IndexFunc(fields, func(f tree.Field) bool { return f.Key == "name" && always(f) }); at > 0 && name >= 0 {
		at = name
	}
	first := fields[at]
	return slices.Insert(slices.Delete(slices.Clone(fields), at, at+1), 0, first), true
}
