package yaml

import (
	"strconv"
	"strings"
)

// The library encodes a document as JSON and reads that as YAML before it writes it. What its reader refuses, or takes
// for something else, is therefore no different here.

// Place is where a value stands in a document: the keys and the indexes of items on the way to it.
type Place []string

// Unreadable are the places of texts with characters that no YAML reader takes, as far as they were written. A document
// with such a place must not be used.
func (w *Writer) Unreadable() []Place { return w.unreadable }

// Refusal and Remedy are what to report about a text with such a character.
const (
	Refusal = "a text has a control character, which readers of YAML refuse"
	Remedy  = "delete the character; in a pattern between backticks, write it as \\x7f or \\x{fffe}"
)

// Readable reports whether readers of YAML take all characters of a text.
func Readable(text string) bool { return strings.IndexFunc(text, isRefused) < 0 }

// isRefused reports whether the library's reader refuses a character. Those below the space are escaped in JSON.
func isRefused(r rune) bool {
	return r >= 0x7f && r <= 0x9f && r != nextLine || r >= 0xfffe && r <= 0xffff
}

// nextLine is a line break to readers of YAML that JSON does not escape.
const nextLine = 0x85

// read is a text as the library reads it between double quotes: line breaks are folded.
func (w *Writer) read(text string) string {
	if !Readable(text) {
		w.note()
	}
	lines := strings.Split(text, string(rune(nextLine)))
	if len(lines) == 1 {
		return text
	}
	var out strings.Builder
	breaks := 0 // since the last line with a text
	for i, line := range lines {
		last := i == len(lines)-1
		if i > 0 {
			if endsDocument(line, last) {
				w.note()
			}
			line = strings.TrimLeft(line, " ")
			breaks++
		}
		if !last {
			line = strings.TrimRight(line, " ")
		}
		if i > 0 && (line != "" || last) {
			fold(&out, breaks)
			breaks = 0
		}
		out.WriteString(line)
	}
	return out.String()
}

// endsDocument reports whether a line between the quotes begins as one that ends a document, which the reader refuses.
func endsDocument(line string, last bool) bool {
	rest, ok := strings.CutPrefix(line, "---")
	if !ok {
		rest, ok = strings.CutPrefix(line, "...")
	}
	return ok && (strings.HasPrefix(rest, " ") || rest == "" && !last)
}

// fold writes what a number of line breaks is read as.
func fold(out *strings.Builder, breaks int) {
	if breaks == 1 {
		out.WriteByte(' ')
		return
	}
	out.WriteString(strings.Repeat("\n", breaks-1))
}

// note notes the present place.
func (w *Writer) note() {
	var place Place
	for _, f := range w.frames {
		if f.seq {
			place = append(place, strconv.Itoa(f.items-1))
			continue
		}
		place = append(place, f.key)
	}
	w.unreadable = append(w.unreadable, place)
}
