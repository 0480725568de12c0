package yaml

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// style is how a text is written.
type style int

const (
	plain style = iota
	single
	double
	literal
)

// String writes a text.
func (w *Writer) String(text string) {
	w.beforeScalar()
	text = strings.ToValidUTF8(text, "\ufffd")
	s := analyze(text)
	if s.escapes {
		text = w.read(text)
		s = analyze(text)
	}
	w.scalar(text, s, styleOf(text, s), false)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.word(strconv.FormatBool(b)) }

// Int writes an integer.
func (w *Writer) Int(i int64) { w.word(strconv.FormatInt(i, 10)) }

// Null writes null.
func (w *Writer) Null() { w.word("null") }

// word writes what needs no quotes.
func (w *Writer) word(text string) {
	w.beforeScalar()
	w.plain(text, false)
}

// Number writes a number given in JSON's form: integers of 64 bits as they are,
// others in the shortest form that is the same float64.
func (w *Writer) Number(json string) {
	if i, err := strconv.ParseInt(json, 10, 64); err == nil {
		w.word(strconv.FormatInt(i, 10))
		return
	}
	if u, err := strconv.ParseUint(json, 10, 64); err == nil {
		w.word(strconv.FormatUint(u, 10))
		return
	}
	f, err := strconv.ParseFloat(json, 64)
	if err != nil {
		w.String(json) // beyond any float
		return
	}
	w.word(strconv.FormatFloat(f, 'g', -1, 64))
}

// styleOf is the style wanted for text before its content and its place are
// considered.
func styleOf(text string, s shape) style {
	switch {
	case strings.Contains(text, "\n"):
		return literal
	case isAmbiguous(text):
		return double
	}
	return plain
}

// scalar writes text in the wanted style or the next one that can hold it. In a
// key on one line nothing may break.
func (w *Writer) scalar(text string, s shape, wanted style, key bool) {
	if key && s.breaks {
		wanted = double
	}
	if wanted == plain && (!s.plain || key && text == "") {
		wanted = single
	}
	if wanted == single && !s.single || wanted == literal && (!s.literal || key) {
		wanted = double
	}
	around := w.indent
	w.indent = max(w.indent, 0) + step
	if around < 0 {
		w.indent = step
	}
	switch wanted {
	case plain:
		w.plain(text, !key)
	case single:
		w.single(text, !key)
	case double:
		w.double(text, !key)
	case literal:
		w.literal(text)
	}
	w.indent = around
}

func (w *Writer) plain(text string, fold bool) {
	if !w.blank {
		w.put(' ')
	}
	if !fold || w.column+len(text) <= width {
		w.out = append(w.out, text...)
		w.column += utf8.RuneCountInString(text)
	} else {
		w.words(text)
	}
	w.blank, w.lead = false, false
}

// words writes text that holds no line breaks, folding it.
func (w *Writer) words(text string) {
	spaces := false
	for i := 0; i < len(text); {
		if text[i] != ' ' {
			n := strings.IndexByte(text[i:], ' ')
			if n < 0 {
				n = len(text) - i
			}
			w.run(text[i : i+n])
			i += n
			spaces = false
			continue
		}
		if !spaces && w.column > width && i+1 < len(text) && text[i+1] != ' ' {
			w.lead = false
			w.newline()
		} else {
			w.put(' ')
		}
		spaces = true
		i++
	}
}

func (w *Writer) run(text string) {
	w.out = append(w.out, text...)
	w.column += utf8.RuneCountInString(text)
	w.lead = false
}

// single writes 'text', where only quotes are doubled. Line breaks other than
// the line feed stay what they are.
func (w *Writer) single(text string, fold bool) {
	w.mark("'", true, false)
	spaces, breaks := false, false
	for i, r := range text {
		switch {
		case r == ' ':
			if fold && !spaces && w.column > width && i > 0 && i < len(text)-1 && text[i+1] != ' ' {
				w.newline()
			} else {
				w.put(' ')
			}
			spaces = true
		case isBreak(r):
			w.out = utf8.AppendRune(w.out, r)
			w.column = 0
			w.lead, breaks = true, true
		default:
			if breaks {
				w.newline()
			}
			if r == '\'' {
				w.put('\'')
			}
			w.out = utf8.AppendRune(w.out, r)
			w.column++
			w.lead, spaces, breaks = false, false, false
		}
	}
	w.mark("'", false, false)
}

// double writes "text" with everything escaped that needs it.
func (w *Writer) double(text string, fold bool) {
	w.mark(`"`, true, false)
	spaces := false
	for i, r := range text {
		switch {
		case r == '"' || r == '\\' || isBreak(r) || !isPrintable(r):
			w.escape(r)
			spaces = false
		case r == ' ':
			if fold && !spaces && w.column > width && i > 0 && i < len(text)-1 {
				w.newline()
				if text[i+1] == ' ' {
					w.put('\\')
				}
			} else {
				w.put(' ')
			}
			spaces = true
		default:
			w.out = utf8.AppendRune(w.out, r)
			w.column++
			spaces = false
		}
	}
	w.mark(`"`, false, false)
}

// escapes are the short forms.
var escapes = map[rune]byte{
	0x00: '0', 0x07: 'a', 0x08: 'b', '\t': 't', '\n': 'n', 0x0b: 'v', 0x0c: 'f', '\r': 'r', 0x1b: 'e',
	'"': '"', '\\': '\\', 0x85: 'N', 0xa0: '_', 0x2028: 'L', 0x2029: 'P',
}

func (w *Writer) escape(r rune) {
	w.put('\\')
	if short, ok := escapes[r]; ok {
		w.put(short)
		return
	}
	letter, digits := byte('U'), 8
	switch {
	case r <= 0xff:
		letter, digits = 'x', 2
	case r <= 0xffff:
		letter, digits = 'u', 4
	}
	w.put(letter)
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		w.put("0123456789ABCDEF"[r>>shift&0xf])
	}
}

// literal writes a block in which every line stands as it is.
func (w *Writer) literal(text string) {
	w.mark("|", true, false)
	first, _ := utf8.DecodeRuneInString(text)
	if first == ' ' || isBreak(first) {
		w.mark(strconv.Itoa(step), false, false)
	}
	w.mark(chomp(text), false, false)
	w.lineBreak()
	w.blank, w.lead = true, true
	atStart := true
	for len(text) > 0 {
		end := strings.IndexFunc(text, isBreak)
		if end != 0 && atStart {
			w.newline()
		}
		if end < 0 {
			w.run(text)
			return
		}
		if end > 0 {
			w.run(text[:end])
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		w.out = append(w.out, text[end:end+size]...)
		w.column = 0
		w.lead, atStart = true, true
		text = text[end+size:]
	}
}

// chomp tells a reader what to do about the breaks at the end of a block: there
// is none, or more than the one that is taken for granted.
func chomp(text string) string {
	last, size := utf8.DecodeLastRuneInString(text)
	if !isBreak(last) {
		return "-"
	}
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-size])
	if len(text) == size || isBreak(before) {
		return "+"
	}
	return ""
}
